/**
 * Inside a run: its facts, its time as bars, every event, and a slider through the log. What stands at the slider is
 * the conversation as it was after that event, folded as in a chat. At the end of the log it follows the run.
 */

import { useEffect, useMemo, useState } from "preact/hooks";
import { forkThread, placeOf, run, thread } from "../api/calls";
import { useBottom } from "../bottom";
import { useDoing, useReading } from "../requests";
import { isOver } from "../log/events";
import { useLog } from "../log/logs";
import { waterfall } from "../log/waterfall";
import { go, href, type Route } from "../route";
import { RunBody } from "../run/body";
import { short } from "../text/words";
import { EventList } from "./events";
import { Facts } from "./facts";
import { StatusChip } from "./status";
import { Tracebacks } from "./tracebacks";
import { TimeTravel } from "./travel";
import { WaterfallChart } from "./waterfall";
import { Failure } from "../frame/failure";

export function Inspector({ id }: { id: string }) {
  const log = useLog(id);
  const { timeline } = log;
  const now = timeline.now;
  const { value: row, again } = useReading(() => run(id), [id]);
  const [seq, setSeq] = useState<number>(); // the last one, while it is not set
  const forking = useDoing();
  useEffect(() => void again(), [now.status]);

  const at = Math.min(seq ?? log.seq, log.seq);
  const state = timeline.at(at);
  const shape = useMemo(() => waterfall(timeline.events), [log.seq]);
  const threadId = row?.thread_id;
  const { value: place } = useReading(async () => (threadId ? placeOf(threadId) : undefined), [threadId]);
  const question = useQuestion(place, now.trigger);
  const bottom = useBottom([]);
  const fork = () =>
    forking.start(async () => {
      const { thread_id } = await forkThread(threadId ?? "", id, at);
      go({ view: "chats", id: thread_id });
    });

  return (
    <main class="view inspector">
      <header class="head">
        <h1>
          Run <span class="mono">{short(id)}</span>
        </h1>
        <StatusChip status={now.status} />
        {place && (
          <a class="faint" href={href(place)}>
            open its conversation
          </a>
        )}
        <label class="inline follow">
          <input
            type="checkbox"
            checked={seq === undefined}
            onChange={(event) => setSeq(event.currentTarget.checked ? undefined : log.seq)}
          />
          Follow live
        </label>
      </header>
      <Failure text={log.failure ?? forking.failure} />
      <Facts state={now} row={row} />
      <TimeTravel
        seq={at}
        last={log.seq}
        event={timeline.events[at - 1]}
        move={(to) => setSeq(to >= log.seq ? undefined : to)}
        fork={place?.view === "chats" ? fork : undefined}
        isForking={forking.isBusy}
      />
      <div class="halves">
        <div class="half">
          <WaterfallChart shape={shape} isOver={isOver(now.status)} at={timeline.events[at - 1]?.ts} choose={setSeq} />
          <section
            class="then"
            role="log"
            aria-live="off"
            aria-label={`Conversation at seq ${at}`}
            tabIndex={0}
            ref={bottom}
          >
            <div class="turn">
              {question && (
                <div class="asked">
                  <div class="question">{question}</div>
                </div>
              )}
              <RunBody state={state} isPast={at < log.seq} />
              <Tracebacks events={timeline.events.slice(0, at)} choose={setSeq} />
            </div>
          </section>
        </div>
        <EventList events={timeline.events} count={log.seq} at={at} follows={seq === undefined} choose={setSeq} />
      </div>
    </main>
  );
}

/** What the run answers, if it was asked in a chat. */
function useQuestion(place: Route | undefined, messageId: string | undefined): string | undefined {
  const threadId = place?.view === "chats" ? place.id : undefined;
  const read = async () =>
    threadId ? (await thread(threadId)).messages.find((said) => said.id === messageId)?.content : undefined;
  return useReading(read, [threadId, messageId]).value;
}
