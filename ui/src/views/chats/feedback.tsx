/** A person's rating of an answer: a thumb up or down, and a comment. The same thumb again removes it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { giveFeedback, takeFeedbackBack } from "../../api/calls";
import type { Feedback } from "../../api/wire";
import { Failure } from "../../frame/failure";
import { useDoing } from "../../state/requests";

export type Judging = { runId: string; feedback: Feedback | undefined; changed: () => Promise<void> };

const NAMES = { up: "Good answer", down: "Bad answer" } as const;

export function Thumbs({ runId, feedback, changed }: Judging) {
  const { isBusy, failure, start } = useDoing();
  const [isCommenting, setCommenting] = useState(false);
  const press = (value: Feedback["value"]) =>
    start(async () => {
      const isSame = feedback?.value === value;
      if (isSame) await takeFeedbackBack(runId);
      else await giveFeedback(runId, value, feedback?.comment ?? undefined);
      await changed();
      setCommenting(!isSame);
    });
  return (
    <>
      <div class="thumbs" role="group" aria-label="Feedback">
        {(["up", "down"] as const).map((value) => (
          <button
            key={value}
            type="button"
            class="quiet small thumb"
            aria-label={NAMES[value]}
            aria-pressed={feedback?.value === value}
            title={feedback?.value === value ? "Take it back" : NAMES[value]}
            disabled={isBusy}
            onClick={() => press(value)}
          >
            <Thumb value={value} />
          </button>
        ))}
        {feedback && !isCommenting && (
          <button type="button" class="quiet small" onClick={() => setCommenting(true)}>
            {feedback.comment ? "Edit comment" : "Comment"}
          </button>
        )}
      </div>
      {feedback?.comment && !isCommenting && <p class="comment">{feedback.comment}</p>}
      {feedback && isCommenting && (
        <Commenting runId={runId} feedback={feedback} changed={changed} done={() => setCommenting(false)} />
      )}
      <Failure text={failure} />
    </>
  );
}

type Writing = { runId: string; feedback: Feedback; changed: () => Promise<void>; done: () => void };

function Commenting({ runId, feedback, changed, done }: Writing) {
  const [text, setText] = useState(feedback.comment ?? "");
  const { isBusy, failure, start } = useDoing();
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => setText(feedback.comment ?? ""), [feedback.comment]);
  useEffect(() => area.current?.focus(), [feedback.value]);
  const save = () =>
    start(async () => {
      await giveFeedback(runId, feedback.value, text.trim() || undefined);
      await changed();
      done();
    });
  return (
    <form
      class="commenting"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        aria-label="Comment on the answer"
        placeholder={feedback.value === "up" ? "What was good? (optional)" : "What was wrong? (optional)"}
        rows={2}
        maxLength={4000}
        value={text}
        ref={area}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && done()}
      />
      <div class="buttons">
        <button class="primary small" disabled={isBusy}>
          Save comment
        </button>
        <button type="button" class="small" onClick={done}>
          Close
        </button>
      </div>
      <Failure text={failure} />
    </form>
  );
}

/** A hand with its thumb up; upside down for the other one. */
const Thumb = ({ value }: { value: Feedback["value"] }) => (
  <svg class={value} viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
    <path d="M3 9h3v8H3zM8 9l3.2-6.1c.9 0 1.8.7 1.8 1.8V8h3.2c.9 0 1.5.8 1.3 1.7l-1.2 5.8c-.2.9-.9 1.5-1.8 1.5H8z" />
  </svg>
);
