/** A channel or a DM: its messages, who is typing, who is in it, and a thread of replies beside it. */

import { useEffect, useState } from "preact/hooks";
import { say, type Place } from "../api/channels";
import type { Agent, Channel, Dm } from "../api/wire";
import { useDoing } from "../requests";
import { useBottom } from "../bottom";
import { Composer } from "../chats/composer";
import { messagesOf, typingIn, type ChannelState } from "./feed";
import { add, load, useChannelState } from "./live";
import { Members } from "./members";
import { MessageCard } from "./message";
import { dmName } from "./places";

type Placed = {
  place: Place;
  channel: Channel | undefined;
  dm: Dm | undefined;
  agents: Agent[];
  again: () => Promise<void>;
  /** The message that the address names: it is shown and marked. */
  target: string | undefined;
};

export function PlaceView({ place, channel, dm, agents, again, target }: Placed) {
  const state = useChannelState(place);
  const [threadOf, setThread] = useState<string>();
  const wanted = target === undefined ? undefined : state.messages.get(target);
  useEffect(() => {
    if (wanted?.parentMessageId) setThread(wanted.parentMessageId);
    const show = () => document.querySelector(`[data-message="${CSS.escape(wanted?.id ?? "")}"]`);
    if (wanted) requestAnimationFrame(() => show()?.scrollIntoView({ block: "center" }));
  }, [wanted?.id]);
  const bottom = useBottom([place.id]);
  const name = channel ? `# ${channel.name}` : dm ? dmName(dm) : "";
  const messages = messagesOf(state, place.id);
  return (
    <>
      <main class="main place">
        <header class="place-head">
          <h1>{name}</h1>
          <p class="faint">{channel?.topic ?? (channel ? `${channel.kind} channel` : "direct message")}</p>
        </header>
        <div class="scroll" ref={bottom}>
          <div class="messages" role="log" aria-label="Messages">
            {messages.length >= 100 && <Earlier place={place} before={messages[0]?.id} />}
            {messages.map((message) => (
              <MessageCard
                key={message.id}
                message={message}
                isTarget={message.id === target}
                replies={messagesOf(state, place.id, message.id).length}
                openThread={() => setThread(message.id)}
              />
            ))}
            {messages.length === 0 && <p class="faint pad">No messages yet.</p>}
          </div>
        </div>
        <Typing agents={typingIn(state, place.id)} />
        <Writing place={place} placeholder={`Say something in ${name}`} />
      </main>
      {threadOf === undefined ? (
        channel && <Members channel={channel} agents={agents} again={again} />
      ) : (
        <Thread state={state} place={place} parentId={threadOf} close={() => setThread(undefined)} />
      )}
    </>
  );
}

function Writing({ place, parentId, placeholder }: { place: Place; parentId?: string; placeholder: string }) {
  const { isBusy, failure, start } = useDoing();
  const send = (text: string) => start(async () => add(await say(place, text, parentId)));
  return <Composer send={send} isBusy={isBusy} failure={failure} placeholder={placeholder} />;
}

function Typing({ agents }: { agents: string[] }) {
  const names = [...new Set(agents)];
  return (
    <p class="typing" role="status" aria-label="Typing">
      {names.length > 0 && (
        <>
          <span class="dots" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {names.join(", ")} {names.length === 1 ? "is" : "are"} typing
        </>
      )}
    </p>
  );
}

function Earlier({ place, before }: { place: Place; before: string | undefined }) {
  const { isBusy, start } = useDoing();
  return (
    <button type="button" class="quiet" disabled={isBusy} onClick={() => start(() => load(place, before))}>
      Earlier messages
    </button>
  );
}

function Thread({
  state,
  place,
  parentId,
  close,
}: {
  state: ChannelState;
  place: Place;
  parentId: string;
  close: () => void;
}) {
  const parent = state.messages.get(parentId);
  return (
    <aside class="beside" aria-label="Thread">
      <header>
        <h2>Thread</h2>
        <button type="button" class="quiet" aria-label="Close thread" onClick={close}>
          ✕
        </button>
      </header>
      <div class="scroll">
        <div class="messages">
          {parent && <MessageCard message={parent} />}
          {messagesOf(state, place.id, parentId).map((message) => (
            <MessageCard key={message.id} message={message} />
          ))}
        </div>
      </div>
      <Writing place={place} parentId={parentId} placeholder="Reply" />
    </aside>
  );
}
