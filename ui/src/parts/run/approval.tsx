/** A question to a person, and what was answered: approve, approve with another input, or reject with a reason. */

import { useRef, useState } from "preact/hooks";
import { decide, type Verdict as Answer } from "../../api/calls";
import { useDoing } from "../../state/requests";
import type { Json } from "../../log/events";
import type { Approval } from "../../log/fold/state";
import { Difference } from "../text/diff";
import { Input } from "../text/input";
import { revealed } from "../text/words";
import { Failure } from "../../frame/failure";

type Asked = Pick<Approval, "id" | "kind" | "tool" | "input">;

export function ApprovalCard({ approval, isPast }: { approval: Approval; isPast: boolean }) {
  if (approval.state !== "pending") return <Verdict approval={approval} />;
  return (
    <div class="approval" role="group" aria-label={titleOf(approval)} data-approval={approval.id}>
      <p class="asks">{wording(approval)}</p>
      <Input input={approval.input} />
      {isPast ? <p class="faint">No decision yet.</p> : <Decide approval={approval} />}
    </div>
  );
}

/** The name of the card, for tests and screen readers. */
export const titleOf = ({ tool }: Pick<Asked, "tool">): string => `Approval ${revealed(tool)}`;

/** What the person is asked. */
export function wording({ kind, tool, input }: Asked): string {
  if (kind === "unknown_outcome")
    return `A worker died while it called ${revealed(tool)}. Whether it took effect is unknown. Call it again?`;
  if (kind === "question") return revealed(question(input) ?? `The agent asks: ${tool}`);
  return `The agent wants to call ${revealed(tool)}. May it?`;
}

const question = (input: Json): string | undefined =>
  typeof input === "object" && input !== null && !Array.isArray(input) && typeof input["question"] === "string"
    ? input["question"]
    : undefined;

/** A decision that may do harm twice is asked for once more. */
const isDangerous = ({ kind }: Asked): boolean => kind === "unknown_outcome";

type Mode = "asked" | "confirming" | "editing" | "rejecting";

type Deciding = { approval: Asked; done?: (isDecided: boolean) => Promise<void> };

/**
 * `done` is called after an attempt to decide; with false if the server refused it. `data-key`: the inbox presses it.
 */
export function Decide({ approval, done }: Deciding) {
  const [mode, setMode] = useState<Mode>("asked");
  const { isBusy, failure, start } = useDoing();
  const place = useRef<HTMLDivElement>(null);
  const answer = (given: Answer) =>
    start(() =>
      decide(approval.id, given).then(
        () => done?.(true),
        async (error) => {
          await done?.(false).catch(() => undefined);
          throw error;
        },
      ),
    );
  const back = () => {
    setMode("asked");
    place.current?.closest<HTMLElement>("[role=group]")?.focus(); // the form that has the focus goes away
  };
  return (
    <div class="decide" ref={place}>
      {mode === "asked" && (
        <div class="buttons">
          <button
            type="button"
            class="primary"
            data-key="a"
            disabled={isBusy}
            onClick={() => (isDangerous(approval) ? setMode("confirming") : answer({ decision: "approve" }))}
          >
            Approve
          </button>
          {approval.kind === "tool" && (
            <button type="button" data-key="e" disabled={isBusy} onClick={() => setMode("editing")}>
              Edit input
            </button>
          )}
          <button type="button" data-key="r" disabled={isBusy} onClick={() => setMode("rejecting")}>
            Reject
          </button>
        </div>
      )}
      {mode === "confirming" && (
        <Confirming tool={approval.tool} isBusy={isBusy} answer={answer} back={back} />
      )}
      {mode === "editing" && (
        <Editing input={approval.input} isBusy={isBusy} answer={answer} back={back} />
      )}
      {mode === "rejecting" && <Rejecting isBusy={isBusy} answer={answer} back={back} />}
      <Failure text={failure} />
    </div>
  );
}

type Form = { isBusy: boolean; answer: (given: Answer) => void; back: () => void };

/** The focus is on the way back, and the key that approves is another one: two quick presses approve nothing. */
function Confirming({ tool, isBusy, answer, back }: Form & { tool: string }) {
  return (
    <div class="confirming" role="group" aria-label="Confirm" onKeyDown={(event) => event.key === "Escape" && back()}>
      <p>
        If the first call of <code>{revealed(tool)}</code> took effect, it happens twice. This cannot be undone.
      </p>
      <div class="buttons">
        <button
          type="button"
          class="danger"
          data-key="y"
          disabled={isBusy}
          onClick={() => answer({ decision: "approve" })}
        >
          Yes, call it again
        </button>
        <button type="button" ref={focus} onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

function Editing({ input, isBusy, answer, back }: Form & { input: Json }) {
  const [text, setText] = useState(revealed(JSON.stringify(input ?? {}, null, 2)));
  const edited = parsed(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (edited !== undefined) answer({ decision: "approve", input: edited });
      }}
    >
      <label>
        Input as JSON
        <textarea
          class="mono"
          rows={Math.min(14, text.split("\n").length + 1)}
          value={text}
          spellcheck={false}
          ref={focus}
          aria-invalid={edited === undefined}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && back()}
        />
      </label>
      {edited === undefined ? (
        <p class="failure">This is not a JSON object yet.</p>
      ) : (
        <Difference before={input ?? {}} after={edited} />
      )}
      <div class="buttons">
        <button class="primary" disabled={isBusy || edited === undefined}>
          Approve with this input
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </form>
  );
}

function Rejecting({ isBusy, answer, back }: Form) {
  const [reason, setReason] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        answer({ decision: "reject", ...(reason.trim() && { reason: reason.trim() }) });
      }}
    >
      <label>
        Reason
        <input
          value={reason}
          placeholder="Sent to the agent; may be empty"
          ref={focus}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && back()}
        />
      </label>
      <div class="buttons">
        <button class="danger" disabled={isBusy}>
          Confirm rejection
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </form>
  );
}

const focus = (element: HTMLElement | null) => element?.focus();

function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const VERDICT: Record<Exclude<Approval["state"], "pending">, string> = {
  approved: "Approved",
  rejected: "Rejected",
  expired: "Expired without a decision, which counts as a rejection",
  void: "The run ended before a decision",
};

function Verdict({ approval }: { approval: Approval }) {
  if (approval.state === "pending") return null;
  const edited = approval.edited === undefined ? "" : " with another input";
  return (
    <>
      <p class="verdict" data-verdict={approval.state}>
        {VERDICT[approval.state]}
        {edited}
        {approval.by && ` by ${approval.by}`}
        {approval.reason && `: ${approval.reason}`}
      </p>
      {approval.edited !== undefined && <Difference before={approval.input} after={approval.edited} />}
    </>
  );
}
