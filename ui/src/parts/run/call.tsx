/** A tool call as a card: what it was given, what it says while it runs, and what came of it. */

import { useEffect, useState } from "preact/hooks";
import { filesIn } from "../files/files";
import { FileList } from "../files/list";
import type { Call } from "../../log/fold/state";
import { CodeBlock } from "../text/code";
import { Input } from "../text/input";
import { brief, duration, revealed, shown } from "../text/words";
import { ApprovalCard } from "./approval";
import { WaitCard } from "./wait";

const WORDS: Record<Call["state"], string> = {
  requested: "to be called",
  waiting: "waits for an answer",
  started: "running",
  finished: "done",
  failed: "failed",
};

export function CallCard({ call, isPast, isOver }: { call: Call; isPast: boolean; isOver: boolean }) {
  const pending = call.approvals.find((approval) => approval.state === "pending");
  return (
    <div
      class="call"
      role="group"
      aria-label={`Tool call ${revealed(call.tool)}`}
      data-call={call.callId}
      data-state={call.state}
    >
      <details open={call.state === "started" && call.streamed !== ""}>
        <summary>
          <span class="dot" data-is={call.state} aria-hidden="true" />
          <code class="tool">{revealed(call.tool)}</code>
          <span class="hint">{revealed(brief(call.input))}</span>
          <span class="faint">
            {isOver && isOpen(call) ? "not called" : WORDS[call.state]} <Time call={call} isPast={isPast || isOver} />
          </span>
        </summary>
        <div class="inside">
          <Input input={call.input} />
          {call.streamed && (
            <CodeBlock
              code={call.streamed}
              language={call.state === "started" ? "output so far" : "printed"}
              label="Copy output"
            />
          )}
          {isDone(call) && shown(call.output) !== call.streamed && (
            <CodeBlock
              code={shown(call.output) || "(nothing)"}
              language={call.error ? `failed: ${call.error}` : "result"}
              label="Copy result"
            />
          )}
        </div>
      </details>
      <FileList files={filesIn(call.output)} />
      {call.waits.map((wait) => (
        <WaitCard key={wait.id} wait={wait} isPast={isPast || isOver} isInCall />
      ))}
      {call.approvals.map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} isPast={isPast || (isOver && approval === pending)} />
      ))}
    </div>
  );
}

const isDone = (call: Call): boolean => call.state === "finished" || call.state === "failed";
const isOpen = (call: Call): boolean => call.state === "requested" || call.state === "waiting";

/** How long it took, or has taken so far. */
function Time({ call, isPast }: { call: Call; isPast: boolean }) {
  const isRunning = call.state === "started" && !isPast;
  const now = useClock(isRunning);
  if (call.ms !== undefined) return <span>· {duration(call.ms)}</span>;
  return isRunning && call.startedAt ? <span>· {duration(Math.max(0, now - call.startedAt))}</span> : null;
}

function useClock(isOn: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [isOn]);
  return now;
}
