/** The actions of a run: stop it, retry it, or continue from the event at the slider in a new chat. */

import { useState } from "preact/hooks";
import { cancel, forkThread, retry, say } from "../../api/calls";
import { Failure } from "../../frame/failure";
import { isOver, type Status } from "../../log/events";
import { useDoing } from "../../state/requests";
import { go } from "../../state/route";

type Acting = { runId: string; status: Status | undefined; threadId: string | undefined; at: number };

/**
 * `status`: undefined while it is not known. `threadId`: the chat of the run; without one it cannot be continued
 * elsewhere.
 */
export function Actions({ runId, status, threadId, at }: Acting) {
  const doing = useDoing();
  const [isContinuing, setContinuing] = useState(false);
  return (
    <div class="actions">
      <div class="buttons">
        {status === undefined ? null : isOver(status) ? (
          <button
            type="button"
            class="small"
            disabled={doing.isBusy}
            onClick={() => doing.start(async () => go({ view: "runs", id: (await retry(runId)).run_id }))}
          >
            Retry
          </button>
        ) : (
          <button
            type="button"
            class="small stop"
            disabled={doing.isBusy}
            onClick={() => doing.start(() => cancel(runId))}
          >
            Stop
          </button>
        )}
        {threadId !== undefined && (
          <button type="button" class="small" aria-expanded={isContinuing} onClick={() => setContinuing(!isContinuing)}>
            Continue from here
          </button>
        )}
      </div>
      {isContinuing && threadId !== undefined && <Continuing runId={runId} threadId={threadId} at={at} />}
      <Failure text={doing.failure} />
    </div>
  );
}

/** Fork at the event of the slider, and continue with this message. */
function Continuing({ runId, threadId, at }: Omit<Acting, "status" | "threadId"> & { threadId: string }) {
  const [text, setText] = useState("Go on.");
  const { isBusy, failure, start } = useDoing();
  const send = () =>
    start(async () => {
      const { thread_id } = await forkThread(threadId, runId, at);
      await say(thread_id, text.trim());
      go({ view: "chats", id: thread_id });
    });
  return (
    <form
      class="continuing"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) send();
      }}
    >
      <label>
        What to say after event {at}
        <input value={text} ref={focus} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button class="primary small" disabled={isBusy || !text.trim()}>
        Continue
      </button>
      <Failure text={failure} />
    </form>
  );
}

const focus = (element: HTMLElement | null) => element?.focus();
