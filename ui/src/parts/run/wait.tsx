/** What a run waits for that is not an approval, and what came of it. */

import { useEffect, useState } from "preact/hooks";
import type { Json } from "../../log/events";
import type { Wait } from "../../log/fold/state";
import { href } from "../../state/route";
import { CodeBlock } from "../text/code";
import { Input } from "../text/input";
import { brief, countdown, isPlain, revealed, short, shown } from "../text/words";
import { AnswerForm } from "../waits/answer";

/** `isPast`: it cannot be answered. `isInCall`: the card of the call says what was asked. */
type Shape = { wait: Wait; isPast: boolean; isInCall?: boolean };

export function WaitCard({ wait, isPast, isInCall = false }: Shape) {
  const isPending = wait.state === "pending";
  if (wait.kind === "child") return <Child wait={wait} isPast={isPast} />;
  if (wait.kind === "timer" || wait.kind === "event") return <Line wait={wait} isPast={isPast} />;
  if (!isPending) return <Answered wait={wait} isInCall={isInCall} />;
  return (
    <div class="approval" role="group" aria-label={titleOf(wait)} data-wait={wait.id}>
      <p class="asks">
        {question(wait)}
        {wait.expiresAt && !isPast && (
          <span class="faint">
            <TimeLeft until={wait.expiresAt} /> left
          </span>
        )}
      </p>
      {wait.input !== null && !isInCall && <Input input={wait.input} />}
      {isPast ? <p class="faint">No answer yet.</p> : <AnswerForm wait={wait} />}
    </div>
  );
}

type Asked = { kind: string; name: string; prompt?: string | null };

/** The name of the card, for tests and screen readers. */
export const titleOf = ({ kind, name, prompt }: Asked): string =>
  revealed(kind === "client_tool" ? `Client tool ${name}` : `Question ${prompt ?? name}`);

/** What the person or the client is asked. */
export const question = ({ kind, name, prompt }: Asked): string =>
  revealed(
    kind === "client_tool" ? `The agent calls the client's tool ${name}. What is its result?` : (prompt ?? name),
  );

const OUTCOMES: Record<Exclude<Wait["state"], "pending">, string> = {
  answered: "Answered",
  failed: "Failed",
  expired: "Expired without an answer",
  void: "The run ended before an answer",
};

function Answered({ wait, isInCall }: { wait: Wait; isInCall: boolean }) {
  if (wait.state === "pending") return null;
  return (
    <div class="answered" data-wait={wait.id}>
      {!isInCall && <p class="asked-before">{question(wait)}</p>}
      <p class="verdict" data-verdict={wait.state}>
        {OUTCOMES[wait.state]}
        {wait.by && wait.state !== "void" && ` by ${wait.by}`}
        {wait.reason && `: ${wait.reason}`}
        {wait.state === "answered" && isShort(wait.value) && `: ${brief(wait.value)}`}
      </p>
      {wait.state === "answered" && !isShort(wait.value) && (
        <CodeBlock code={shown(wait.value)} language="answer" label="Copy answer" />
      )}
    </div>
  );
}

const isShort = (value: Json | undefined): boolean =>
  !isPlain(value) && !Array.isArray(value) ? shown(value).length <= 80 && !shown(value).includes("\n") : false;

/** Another run: what it was asked, a link to it, and how it ended. */
function Child({ wait, isPast }: { wait: Wait; isPast: boolean }) {
  const words = wait.state === "pending" ? (isPast ? "not ended yet" : "working") : CHILD[wait.state];
  return (
    <p class="step child" data-wait={wait.id} data-state={wait.state}>
      <span class="dot" data-is={dotOf(wait, isPast)} aria-hidden="true" />
      <span>{wait.name}</span>
      {wait.child && <a href={href({ view: "runs", id: wait.child })}>run {short(wait.child)}</a>}
      <span class="faint">
        {words}
        {wait.reason && `: ${wait.reason}`}
        {wait.input !== null && ` · ${brief(wait.input)}`}
      </span>
    </p>
  );
}

const CHILD: Record<Exclude<Wait["state"], "pending">, string> = {
  answered: "done",
  failed: "failed",
  expired: "did not end in time",
  void: "no longer needed",
};

/** A time or an event. A time that is still to come counts down. */
function Line({ wait, isPast }: { wait: Wait; isPast: boolean }) {
  const isOpen = wait.state === "pending" && !isPast;
  return (
    <p class="step" data-wait={wait.id} data-state={wait.state}>
      <span class="dot" data-is={dotOf(wait, isPast)} aria-hidden="true" />
      <span>{wait.kind === "timer" ? "Sleep" : `Event ${wait.name}`}</span>
      {wait.kind === "event" && wait.input !== null && <code>{brief(wait.input)}</code>}
      <span class="faint">
        {wait.state === "pending" ? (isOpen ? "waiting" : "not yet") : LINES[wait.state]}
        {isOpen && wait.expiresAt && (
          <>
            {" · "}
            <TimeLeft until={wait.expiresAt} /> left
          </>
        )}
      </span>
    </p>
  );
}

const LINES: Record<Exclude<Wait["state"], "pending">, string> = {
  answered: "over",
  failed: "failed",
  expired: "did not come in time",
  void: "the run ended before",
};

function dotOf(wait: Wait, isPast: boolean): string {
  if (wait.state === "pending") return isPast ? "requested" : "waiting";
  return wait.state === "answered" ? "finished" : "failed";
}

/** A time that counts down. Screen readers are not told every second. */
export function TimeLeft({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time class="left" dateTime={new Date(until).toISOString()}>
      {countdown(until - now)}
    </time>
  );
}

