/** What agents do in a place besides talking: who types, which runs wait and for whom, and which ended badly. */

import { useEffect } from "preact/hooks";
import { conversationRuns, type Place } from "../../../api/channels";
import type { ConversationRun } from "../../../api/wire";
import { useReading } from "../../../state/requests";
import { href } from "../../../state/route";
import { short } from "../../../parts/text/words";

const EVERY = 3000;

export type Working = { runId: string; agentId: string };
export type Work = { typing: Working[]; waiting: ConversationRun[]; runs: ConversationRun[] };

/** The runs of a place. Read again whenever the feed tells of a run, and now and then while one is under way. */
export function useWork(place: Place, told: readonly Working[]): Work {
  const { value: runs = [], again } = useReading(() => conversationRuns(place), [place.kind, place.id]);
  useEffect(() => void again(), [told.map(({ runId }) => runId).join()]);
  const isUnderWay = told.length > 0 || runs.some(({ status }) => status === "running" || status === "waiting");
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => document.visibilityState === "visible" && void again(), EVERY);
    return () => clearInterval(timer);
  }, [isUnderWay, again]);
  const known = new Set(runs.filter(({ status }) => status !== "created").map(({ id }) => id));
  const typing = runs.filter(({ status }) => status === "running").map(({ id, agentId }) => ({ runId: id, agentId }));
  return {
    typing: [...typing, ...told.filter(({ runId }) => !known.has(runId))],
    waiting: runs.filter(({ status }) => status === "waiting"),
    runs,
  };
}

export function Typing({ working }: { working: readonly Working[] }) {
  const names = [...new Set(working.map(({ agentId }) => agentId))];
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

const WAITS_FOR: Record<NonNullable<ConversationRun["waitingFor"]>["kind"], string> = {
  tool: "to approve a tool call",
  unknown_outcome: "to say whether to repeat a call",
  confirmation: "to confirm",
  question: "to answer a question",
  client_tool: "to send the result of a tool",
};

/** The runs that wait. `owner` is whose runs they are, and who answers; only that person gets the links. */
export function Waiting({ runs, owner, isMine }: { runs: ConversationRun[]; owner: string; isMine: boolean }) {
  return (
    <ul class="waiting-runs" aria-label="Waiting runs">
      {runs.map(({ id, agentId, waitingFor }) => (
        <li key={id} data-run={id}>
          <span>
            <b>{agentId}</b>{" "}
            {waitingFor
              ? `waits for ${isMine ? "you" : owner} ${WAITS_FOR[waitingFor.kind]}`
              : "waits for a time, an event or another run"}
          </span>
          {isMine && waitingFor && (
            <a href={href({ view: "approvals", id: waitingFor.waitId })} class="button small primary">
              Open in inbox
            </a>
          )}
          {isMine && <RunLink id={id} />}
        </li>
      ))}
    </ul>
  );
}

/** A run that ended badly, in the place of the answer that it did not give. */
export function EndedBadly({ run, isMine }: { run: ConversationRun; isMine: boolean }) {
  const { id, agentId, status, errorCode } = run;
  return (
    <p class="ended-badly" role="note" aria-label={`Run of ${agentId}`} data-run={id}>
      {status === "failed" ? (
        <>
          <b>{agentId}</b> failed: <code>{errorCode ?? "error"}</code>
        </>
      ) : (
        <>
          <b>{agentId}</b> was stopped
        </>
      )}{" "}
      {isMine && <RunLink id={id} />}
    </p>
  );
}

const RunLink = ({ id }: { id: string }) => (
  <a href={href({ view: "runs", id })}>
    run <span class="mono">{short(id)}</span>
  </a>
);
