/**
 * Inside a run: its facts, its time as bars, every event, and a slider through the log. What stands at the slider is
 * the conversation as it was after that event, folded as in a chat. At the end of the log it follows the run.
 */

import { useEffect, useMemo, useState } from "preact/hooks";
import { feedbackOn, forkThread, placeOf, run, thread } from "../../api/calls";
import { useBottom } from "../../state/bottom";
import { useDoing, useReading } from "../../state/requests";
import { isOver } from "../../log/events";
import { useLog } from "../../log/follow/logs";
import type { RunState } from "../../log/fold/state";
import { statusOf, timesOf } from "../../log/derived/row";
import { modelSteps } from "../../log/derived/steps";
import { waterfall } from "../../log/derived/waterfall";
import { go, href, type Route } from "../../state/route";
import { RunBody } from "../../parts/run/body";
import { short } from "../../parts/text/words";
import { Actions } from "./actions";
import { EventList } from "./events";
import { Facts } from "./facts";
import { StatusChip } from "./status";
import { StepTable } from "./steps";
import { Tracebacks } from "./tracebacks";
import { TimeTravel } from "./travel";
import { WaterfallChart } from "./waterfall";
import { Failure } from "../../frame/failure";
import { Loading, Missing } from "../../frame/states";
import { Wrote } from "./wrote";

const START_EVERY = 1500;

export function Inspector({ id }: { id: string }) {
  const log = useLog(id);
  const { timeline } = log;
  const now = timeline.now;
  const { value: row, failure, isMissing, again } = useReading(() => run(id), [id]);
  const { value: feedback } = useReading(() => feedbackOn(id), [id]);
  const [seq, setSeq] = useState<number>(); // the last one, while it is not set
  const forking = useDoing();
  useEffect(() => void again(), [now.status]);
  const status = statusOf(now, row);
  useEffect(() => {
    if (isMissing || now.startedAt !== undefined || row?.started_at) return;
    const timer = setInterval(() => void again(), START_EVERY); // a run that has started may have said nothing yet
    return () => clearInterval(timer);
  }, [isMissing, now.startedAt === undefined, row?.started_at]);

  const at = Math.min(seq ?? log.seq, log.seq);
  const state = timeline.at(at);
  const shape = useMemo(() => waterfall(timeline.events, row && timesOf(row)), [log.seq, row]);
  const steps = useMemo(() => modelSteps(timeline.events), [log.seq]);
  const threadId = row?.thread_id;
  const { value: place } = useReading(async () => (threadId ? placeOf(threadId) : undefined), [threadId]);
  const question = useQuestion(place, now.trigger);
  const bottom = useBottom([]);
  const fork = () =>
    forking.start(async () => {
      const { thread_id } = await forkThread(threadId ?? "", id, at);
      go({ view: "chats", id: thread_id });
    });

  if (isMissing && log.seq === 0)
    return (
      <main class="view page">
        <Missing what="run" to={{ view: "runs" }} name="All runs" />
      </main>
    );
  return (
    <main class="view inspector">
      <header class="head">
        <h1>
          Run <span class="mono">{short(id)}</span>
        </h1>
        {status && <StatusChip status={status} />}
        {row && <Trigger state={now} runId={id} place={place} hasThread={threadId != null} />}
        <Wrote state={now} />
        <Actions
          runId={id}
          status={status}
          threadId={place?.view === "chats" && threadId ? threadId : undefined}
          at={at}
        />
        <label class="inline follow">
          <input
            type="checkbox"
            checked={seq === undefined}
            onChange={(event) => setSeq(event.currentTarget.checked ? undefined : log.seq)}
          />
          Follow live
        </label>
      </header>
      <Failure text={log.failure ?? failure} again={again} />
      <Failure text={forking.failure} />
      {log.seq === 0 && !log.failure && !failure && <Loading />}
      <Facts state={now} row={row} feedback={feedback} />
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
          <WaterfallChart
            shape={shape}
            isOver={status !== undefined && isOver(status)}
            at={timeline.events[at - 1]?.ts}
            choose={setSeq}
          />
          <StepTable runId={id} steps={steps} choose={setSeq} />
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

type Triggered = { state: RunState; runId: string; place: Route | undefined; hasThread: boolean };

/** What the run was started by, as a link to it. */
function Trigger({ state, runId, place, hasThread }: Triggered) {
  if (state.parent)
    return (
      <a class="faint" href={href({ view: "runs", id: state.parent })}>
        started by run {short(state.parent)}
      </a>
    );
  if (!hasThread) return <span class="faint">started over the API</span>;
  if (place === undefined) return null; // not known yet
  const isChat = place.view === "chats";
  const there = whereStarted(place, runId, state.trigger);
  return (
    <a class="faint" href={href(there)}>
      started by a message in a {isChat ? "chat" : place.view === "dms" ? "DM" : "channel"}
    </a>
  );
}

/** Where the message stands that a run answers. */
function whereStarted(place: Route, runId: string, messageId: string | undefined): Route {
  if (place.view === "chats") return { ...place, found: { run: runId, part: "question" } };
  return messageId ? { view: "messages", id: messageId } : place;
}

/** What the run answers, if it was asked in a chat. */
function useQuestion(place: Route | undefined, messageId: string | undefined): string | undefined {
  const threadId = place?.view === "chats" ? place.id : undefined;
  const read = async () =>
    threadId ? (await thread(threadId)).messages.find((said) => said.id === messageId)?.content : undefined;
  return useReading(read, [threadId, messageId]).value;
}
