/**
 * A conversation: the turns of a thread along one branch, each a folded log. Messages from another
 * tab or over the API are shown too.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../../api/calls";
import type { Feedback } from "../../api/wire";
import { useDoing, useReading, type Reading } from "../../state/requests";
import { JumpToNewest, useBottom } from "../../state/bottom";
import { useCell } from "../../state/cell";
import { nameTab } from "../../frame/tab-title";
import { choicesTo, isCurrent, way, type Choices, type Place } from "../../log/derived/branches";
import { isOver } from "../../log/events";
import { useLog } from "../../log/follow/logs";
import { go, type Found } from "../../state/route";
import { Composer, type Send } from "./composer";
import { ShareButton } from "./share";
import { ChatOptions } from "./options";
import { useMessageInView } from "./message-in-view";
import { titles } from "./titles";
import { TurnCard } from "./turn";
import { Failure } from "../../frame/failure";
import { Loading, Missing } from "../../frame/states";

const LOOK_EVERY = 2500;

/** `found`: the message that the address names. */
export function Chat({ id, found, changed }: { id: string; found: Found | undefined; changed: () => void }) {
  const { value: turns, failure, isMissing, again } = useReading(() => api.turns(id), [id]);
  const [choices, setChoices] = useState<Choices>({});
  const { isBusy, failure: refused, start } = useDoing();
  useNewest(id, turns?.at(-1)?.runId, again);

  const places = way(turns ?? [], choices);
  const refresh = async () => {
    await again();
    changed();
  };
  const files = useReading(() => api.messageFiles(id), [id, turns?.at(-1)?.runId]).value;
  const judged = useFeedback(id, (turns ?? []).map((turn) => turn.runId));
  const say: Send = (text, sent, clear) =>
    start(async () => {
      const to = isCurrent(places) ? id : await forkAfter(id, places);
      await api.say(to, text, sent);
      clear();
      if (to !== id) go({ view: "chats", id: to });
      await refresh();
    });
  const steer: Send = (text, sent, clear) =>
    start(async () => {
      await api.say(id, text, sent, "steer");
      clear();
      await refresh();
    });
  const edit = async (runId: string, text: string) => {
    await api.edit(id, runId, text, refresh);
    setChoices({});
  };
  const last = places.at(-1)?.turn.runId;
  const bottom = useBottom([id], found === undefined);
  useEffect(() => void (found && setChoices(choicesTo(turns ?? [], found.run))), [found?.run, turns === undefined]);
  useMessageInView(bottom, found, places.some(({ turn }) => turn.runId === found?.run));
  const title = useCell(titles).get(id) ?? turns?.[0]?.question;
  useEffect(() => nameTab(title), [title]);

  if (isMissing) return <Missing what="chat" to={{ view: "chats" }} name="New chat" />;
  return (
    <div class="chat">
      <header class="chat-head">
        <h1>
          <span class="unseen">Chat: </span>
          {title ?? "New chat"}
        </h1>
        {last && <ShareButton threadId={id} />}
        {turns && <ChatOptions threadId={id} title={title ?? ""} changed={changed} />}
      </header>
      <div class="scroll" ref={bottom}>
        <div class="column" role="log" aria-label="Conversation" aria-busy={turns === undefined}>
          <Failure text={failure} again={again} />
          {turns === undefined && failure === undefined && <Loading />}
          {places.map((place, index) => (
            <TurnCard
              key={place.turn.runId}
              place={place}
              files={files ?? {}}
              feedback={judged.value?.[place.turn.runId]}
              judged={judged.again}
              edit={edit}
              isOldBranch={place.turn.isSuperseded}
              found={place.turn.runId === found?.run ? found.part : undefined}
              choose={(runId) => setChoices({ ...choices, [places[index - 1]?.turn.runId ?? ""]: runId })}
            />
          ))}
        </div>
      </div>
      <JumpToNewest box={bottom} />
      {!isCurrent(places) && (
        <p class="notice" role="status">
          An edit replaced this branch. A message here continues it in a new chat.
          <button type="button" class="small" onClick={() => setChoices({})}>
            Back to the current branch
          </button>
        </p>
      )}
      {last ? (
        <Writing
          draft={id}
          runId={last}
          say={say}
          steer={isCurrent(places) ? steer : undefined}
          isBusy={isBusy}
          failure={refused}
        />
      ) : (
        <Composer
          send={say}
          isBusy={isBusy}
          failure={refused}
          placeholder="Say something"
          hasFocus
          takesFiles
          draft={id}
        />
      )}
    </div>
  );
}

type Saying = { say: Send; steer: Send | undefined; isBusy: boolean; failure: string | undefined };

/** The composer knows of the last run: while it continues, it can be stopped, and a message can reach it. */
function Writing({ draft, runId, say, steer, isBusy, failure }: Saying & { draft: string; runId: string }) {
  const log = useLog(runId);
  const stopping = useDoing();
  const isGoing = log.seq > 0 && !isOver(log.timeline.now.status);
  const stop = isGoing ? () => stopping.start(() => api.cancel(runId)) : undefined;
  return (
    <Composer
      send={say}
      isBusy={isBusy}
      failure={failure ?? stopping.failure}
      placeholder={isGoing ? "Say what is next" : "Say something"}
      stop={stop}
      steer={isGoing ? steer : undefined}
      hasFocus
      takesFiles
      draft={draft}
    />
  );
}

/** The id of a new chat that continues a superseded branch. */
const forkAfter = async (id: string, places: readonly Place[]): Promise<string> =>
  (await api.forkThread(id, places.at(-1)?.turn.runId ?? "")).thread_id;

/** The feedback on the turns, by run. It stays on screen while it is read again for other turns. */
function useFeedback(id: string, runIds: string[]): Reading<Record<string, Feedback>> {
  const turns = useRef(runIds);
  turns.current = runIds;
  const found = useReading(() => api.chatFeedback(id, turns.current), [id]);
  useEffect(() => void (runIds.length && found.again()), [runIds.join()]);
  return found;
}

/** Poll for runs that are not on screen. */
function useNewest(id: string, newest: string | undefined, again: () => Promise<void>): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== "visible") return;
      void api
        .newestRun(id)
        .then((found) => (found === undefined || found === newest ? undefined : again()))
        .catch(() => undefined);
    }, LOOK_EVERY);
    return () => clearInterval(timer);
  }, [id, newest, again]);
}
