/**
 * The form that answers a question or a tool of the client. A value that does not fit is refused, and can be corrected.
 */

import { useMemo, useRef, useState } from "preact/hooks";
import { answerWait, failWait } from "../../api/calls";
import { Problem } from "../../api/http";
import { Failure } from "../../frame/failure";
import { useDoing } from "../../state/requests";
import type { Json, Schema, WaitKind } from "../../log/events";
import { Fields } from "./form";
import { faultOf, formOf, presets, valueOf, type Entered, type Trouble } from "./schema";

export type Asked = { id: string; kind: WaitKind; name: string; schema?: Schema | undefined };

/**
 * `done` is called after an attempt to answer; with false if the server refused it. `data-key`: the inbox presses it.
 */
export type Answering = { wait: Asked; done?: ((isAnswered: boolean) => Promise<void>) | undefined };

export function AnswerForm({ wait, done }: Answering) {
  const form = useMemo(() => formOf(wait.schema), [JSON.stringify(wait.schema)]);
  const [entered, setEntered] = useState<Entered>(() => presets(form));
  const [troubles, setTroubles] = useState<readonly Trouble[]>([]);
  const [isFailing, setFailing] = useState(false);
  const { isBusy, failure, start } = useDoing();
  const place = useRef<HTMLFormElement>(null);

  const show = (found: readonly Trouble[]) => {
    setTroubles(found);
    const first = found[0] && place.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(found[0].path)}"]`);
    if (first) first.focus();
  };
  const send = (act: () => Promise<unknown>) =>
    start(() =>
      act().then(
        () => done?.(true),
        async (error) => {
          const fault = error instanceof Problem && error.status === 422 ? faultOf(error.message, form) : undefined;
          if (fault) return show([fault]); // it is said at the field
          await done?.(false).catch(() => undefined);
          throw error;
        },
      ),
    );
  const submit = (event: Event) => {
    event.preventDefault();
    const made = valueOf(form, entered);
    if ("troubles" in made) return show(made.troubles);
    setTroubles([]);
    send(() => answerWait(wait.id, (made.value ?? null) as Json));
  };
  if (isFailing) {
    const fail = (why: string) => send(() => failWait(wait.id, why));
    return <Failing isBusy={isBusy} failure={failure} back={() => setFailing(false)} fail={fail} />;
  }
  return (
    <form
      class="answer-form"
      ref={place}
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Escape" && place.current?.closest<HTMLElement>("[role=group]")?.focus()}
      noValidate
    >
      <Fields
        field={form}
        entered={entered}
        troubles={troubles}
        enter={(path, text) => {
          setEntered((before) => ({ ...before, [path]: text }));
          setTroubles((before) => before.filter((each) => each.path !== path));
        }}
      />
      <div class="buttons">
        <button class="primary" disabled={isBusy}>
          {wait.kind === "client_tool" ? "Send result" : "Answer"}
        </button>
        {wait.kind === "client_tool" && (
          <button type="button" disabled={isBusy} onClick={() => setFailing(true)}>
            Report a failure
          </button>
        )}
      </div>
      <Failure text={failure} />
    </form>
  );
}

type Failed = { isBusy: boolean; failure: string | undefined; back: () => void; fail: (why: string) => void };

function Failing({ isBusy, failure, back, fail }: Failed) {
  const [why, setWhy] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        fail(why.trim() || "The tool failed.");
      }}
    >
      <label>
        What went wrong
        <input
          value={why}
          placeholder="Sent to the model"
          ref={(element) => element?.focus()}
          onInput={(event) => setWhy(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && back()}
        />
      </label>
      <div class="buttons">
        <button class="danger" disabled={isBusy}>
          Confirm failure
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
      <Failure text={failure} />
    </form>
  );
}
