/** A channel or a DM: its messages, what its agents do, who is in it, and a thread of replies beside it. */

import { useEffect, useState } from "preact/hooks";
import { conversation, type Place } from "../../../api/channels";
import type { Agent, Channel, Dm } from "../../../api/wire";
import { useBottom } from "../../../state/bottom";
import { Failure } from "../../../frame/failure";
import { Loading, Missing } from "../../../frame/states";
import { nameTab } from "../../../frame/tab-title";
import { useDoing, useReading } from "../../../state/requests";
import { allOf, messagesOf, typingIn, type ChannelState } from "../feed/feed";
import { load, loadUpTo, useChannelState } from "../feed/live";
import { Members } from "./members";
import { dmName } from "../places";
import { ChannelSettings } from "./settings";
import { Thread } from "./thread";
import { endedBadly, timeline } from "../feed/timeline";
import { TimelineItem } from "./timeline-item";
import { look, read, unread } from "../feed/unread";
import { Typing, useWork, Waiting } from "./work";
import { Writing } from "./writing";

const EVERY = 10_000;

type Placed = {
  place: Place;
  agents: Agent[];
  me: string | undefined;
  /** The lists at the side have changed. */
  changed: () => Promise<void>;
  /** The message that the address names: it is shown and marked. */
  target: string | undefined;
};

export function PlaceView(given: Placed) {
  const { place } = given;
  const here = useReading(() => conversation(place), [place.kind, place.id], EVERY);
  if (here.isMissing)
    return (
      <main class="main">
        <Missing
          what={place.kind === "channels" ? "channel" : "direct message"}
          to={{ view: "channels" }}
          name="All channels"
        />
      </main>
    );
  if (here.value === undefined)
    return (
      <main class="main">
        <h1 class="unseen">Channel</h1>
        {here.failure === undefined ? <Loading /> : <Failure text={here.failure} again={here.again} />}
      </main>
    );
  const changed = async () => void (await Promise.all([here.again(), given.changed()]));
  return <Open {...given} {...here.value} changed={changed} />;
}

function Open({ place, channel, dm, agents, me, changed, target }: Placed & { channel?: Channel; dm?: Dm }) {
  const state = useChannelState(place);
  const [threadOf, setThread] = useState<string>();
  const [isSettingUp, setSettingUp] = useState(false);
  const work = useWork(place, typingIn(state, place.id));
  const readId = useReadPosition(place, state);
  const lost = useTarget(place, state, target, setThread);
  const bottom = useBottom([place.id]);
  const name = channel ? `# ${channel.name}` : dm ? dmName(dm) : "";
  useEffect(() => nameTab(name), [name]);
  const owner = channel ? channel.ownerId : (me ?? "");
  const rights = { me, isOwner: owner === me };
  const messages = messagesOf(state, place.id);
  const hasEarlier = state.hasEarlier.get(place.id);
  const items = timeline({
    messages,
    runs: endedBadly(work.runs, state.messages, null, hasEarlier ? messages[0]?.createdAt : ""),
    readId,
    me,
  });
  return (
    <>
      <main class="main place">
        <header class="place-head">
          <div>
            <h1>{name}</h1>
            <p class="faint">{channel?.topic || (channel ? `${channel.kind} channel` : "direct message")}</p>
          </div>
          {channel && (
            <button type="button" class="quiet" onClick={() => setSettingUp(true)}>
              {rights.isOwner ? "Settings" : "Members"}
            </button>
          )}
        </header>
        <div class="scroll" ref={bottom}>
          <div class="messages" role="log" aria-label="Messages">
            {hasEarlier && <Earlier place={place} before={allOf(state, place.id)[0]?.id} />}
            {lost && <p class="notice">The message that the address names was not found here.</p>}
            {items.map((item) => (
              <TimelineItem
                key={item.key}
                item={item}
                rights={rights}
                isTarget={item.key === target}
                replies={item.kind === "message" ? messagesOf(state, place.id, item.key).length : 0}
                openThread={() => setThread(item.key)}
              />
            ))}
            {hasEarlier === undefined ? <Loading /> : items.length === 0 && <Empty channel={channel} />}
          </div>
        </div>
        <Waiting runs={work.waiting} owner={owner} isMine={rights.isOwner} />
        <Typing working={work.typing} />
        <Writing place={place} placeholder={`Say something in ${name}`} />
      </main>
      {threadOf === undefined ? (
        channel && <Members channel={channel} agents={agents} isMine={rights.isOwner} changed={changed} />
      ) : (
        <Thread
          state={state}
          place={place}
          parentId={threadOf}
          work={work}
          rights={rights}
          owner={owner}
          close={() => setThread(undefined)}
        />
      )}
      {channel && isSettingUp && (
        <ChannelSettings
          channel={channel}
          agents={agents}
          isMine={rights.isOwner}
          changed={changed}
          close={() => setSettingUp(false)}
        />
      )}
    </>
  );
}

const Empty = ({ channel }: { channel: Channel | undefined }) => (
  <p class="faint pad">
    No messages yet.
    {channel && !channel.members.some(({ kind }) => kind === "agent") && " No agent is in this channel: add one first."}
  </p>
);

function Earlier({ place, before }: { place: Place; before: string | undefined }) {
  const { isBusy, failure, start } = useDoing();
  return (
    <>
      <button type="button" class="quiet" disabled={isBusy} onClick={() => start(() => load(place, before))}>
        Earlier messages
      </button>
      <Failure text={failure} />
    </>
  );
}

/** The read position when the place was opened; undefined until it is known. Messages on screen since then are read. */
function useReadPosition(place: Place, state: ChannelState): string | null | undefined {
  const [readId, setReadId] = useState<string | null>();
  const newest = allOf(state, place.id).at(-1)?.id;
  useEffect(() => {
    void look()
      .then(() => setReadId(unread.get().get(place.id)?.readId ?? null))
      .catch(() => undefined);
  }, [place.id]);
  useEffect(() => {
    if (readId === undefined || newest === undefined) return;
    const store = () => document.visibilityState === "visible" && void read(place, newest).catch(() => undefined);
    store();
    document.addEventListener("visibilitychange", store);
    return () => document.removeEventListener("visibilitychange", store);
  }, [readId, newest]);
  return readId;
}

/** Brings the message that the address names on screen; true if there is none. */
function useTarget(
  place: Place,
  state: ChannelState,
  target: string | undefined,
  openThread: (id: string) => void,
): boolean {
  const [isLost, setLost] = useState(false);
  const isLoaded = state.hasEarlier.has(place.id);
  const wanted = target === undefined ? undefined : state.messages.get(target);
  useEffect(() => {
    setLost(false);
    if (target === undefined || !isLoaded) return;
    void loadUpTo(place, target)
      .then((isFound) => setLost(!isFound))
      .catch(() => setLost(true));
  }, [target, isLoaded]);
  useEffect(() => {
    if (wanted?.parentMessageId) openThread(wanted.parentMessageId);
    const show = () => document.querySelector(`[data-message="${CSS.escape(wanted?.id ?? "")}"]`);
    if (wanted) requestAnimationFrame(() => show()?.scrollIntoView({ block: "center" }));
  }, [wanted?.id]);
  return isLost;
}
