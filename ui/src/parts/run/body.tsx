/** What a run did, from its folded log: the same in a chat, in the inspector, and at any seq of the past. */

import { useState } from "preact/hooks";
import { run } from "../../api/calls";
import { statusOf } from "../../log/derived/row";
import { isOver, type Json } from "../../log/events";
import type { Item, RunState } from "../../log/fold/state";
import { FileList } from "../files/list";
import { useReading } from "../../state/requests";
import { href } from "../../state/route";
import { CodeBlock } from "../text/code";
import { Markdown } from "../text/markdown";
import { duration, short, shown } from "../text/words";
import { ApprovalCard } from "./approval";
import { CallCard } from "./call";
import { Sources } from "./sources";
import { Trouble } from "./trouble";
import { WaitCard } from "./wait";

const MOST = 200; // items that are drawn, unless the user asks for more

/** `isPast`: it cannot be decided on. */
type Shape = { state: RunState; isPast?: boolean; retry?: (() => void) | undefined };

export function RunBody({ state, isPast = false, retry }: Shape) {
  const [most, setMost] = useState(MOST);
  const last = state.items.findLast((item) => item.kind !== "resumed");
  const shown = state.items.slice(-most);
  const left = state.items.length - shown.length;
  return (
    <div class="run-body">
      {state.copied && (
        <p class="mark">
          Forked from <a href={href({ view: "runs", id: state.copied.run_id })}>another run</a> at event{" "}
          {state.copied.seq}.
        </p>
      )}
      {state.parent && (
        <p class="mark">
          A child of <a href={href({ view: "runs", id: state.parent })}>run {short(state.parent)}</a>.
        </p>
      )}
      {left > 0 && (
        <button type="button" class="quiet" onClick={() => setMost(most + 10 * MOST)}>
          {left.toLocaleString()} earlier
        </button>
      )}
      {shown.map((item) => (
        <Shown key={item.key} item={item} isLast={item === last} state={state} isPast={isPast} />
      ))}
      <FileList files={state.files ?? []} />
      <Outputs outputs={state.outputs} />
      <Pulse state={state} isPast={isPast} />
      <Sources state={state} />
      <Trouble state={state} retry={isPast ? undefined : retry} />
    </div>
  );
}

type Drawn = { item: Item; isLast: boolean; state: RunState; isPast: boolean };

function Shown({ item, isLast, state, isPast }: Drawn) {
  const isOpen = isLast && !isOver(state.status);
  switch (item.kind) {
    case "text":
      return (
        <div class={isOpen ? "answer writing" : "answer"} data-testid="answer">
          <Markdown text={item.text} />
        </div>
      );
    case "thinking":
      return (
        <details class="thinking">
          <summary>{isOpen ? "Thinking…" : "Thinking"}</summary>
          <Markdown text={item.text} />
        </details>
      );
    case "call":
      return <CallCard call={item} isPast={isPast} isOver={isOver(state.status)} />;
    case "wait":
      return <WaitCard wait={item.wait} isPast={isPast || isOver(state.status)} />;
    case "question":
      return <ApprovalCard approval={item.approval} isPast={isPast} />;
    case "message":
      return <Meanwhile text={item.text} isTaken={item.isTaken} isOver={isOver(state.status)} />;
    case "step":
      return <StepLine name={item.name} done={item.done} error={item.error} ms={item.ms} />;
    case "resumed":
      if (item.why === "decision") return null;
      return (
        <p class="mark">
          {item.why === "crash" ? "Its worker was lost" : "Its worker was stopped"}; resumed as attempt {item.attempt}.
        </p>
      );
  }
}

function Meanwhile({ text, isTaken, isOver }: { text: string; isTaken: boolean; isOver: boolean }) {
  return (
    <blockquote class="meanwhile" aria-label="Message to this run">
      <Markdown text={text} />
      <p class="mark">{isTaken ? "Read by the agent." : isOver ? "Answered by the next run." : "Not read yet."}</p>
    </blockquote>
  );
}

function StepLine({
  name,
  done,
  error,
  ms,
}: {
  name: string;
  done: boolean;
  error: string | undefined;
  ms: number | undefined;
}) {
  return (
    <p class="step">
      <span class="dot" data-is={error ? "failed" : done ? "finished" : "started"} aria-hidden="true" />
      <span>{name}</span>
      <span class="faint">{error ?? (done ? duration(ms ?? 0) : "running")}</span>
    </p>
  );
}

function Outputs({ outputs }: { outputs: { [name: string]: Json } }) {
  if (Object.keys(outputs).length === 0) return null;
  return <CodeBlock code={shown(outputs)} language="outputs" label="Copy outputs" />;
}

/** Shows that the run works while there is no other sign of it. Before the first event nothing is known. */
function Pulse({ state, isPast }: { state: RunState; isPast: boolean }) {
  const last = state.items.findLast((item) => item.kind !== "resumed");
  if (isPast || state.seq === 0) return null;
  if (state.status === "queued") return <Queued state={state} />;
  if (state.status !== "running" || last?.kind === "text" || (last?.kind === "call" && last.state === "started"))
    return null;
  return <Dots text="Working" />;
}

/** A run leaves the queue when a worker takes it, also if it says nothing for a while. */
function Queued({ state }: { state: RunState }) {
  const { value: row } = useReading(() => run(state.runId), [state.runId], 1500);
  const status = statusOf(state, row);
  if (status === undefined || isOver(status)) return null; // the rest of its log is on the way
  return <Dots text={status === "queued" ? "In the queue" : "Working"} />;
}

function Dots({ text }: { text: string }) {
  return (
    <p class="pulse" role="status">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {text}
    </p>
  );
}
