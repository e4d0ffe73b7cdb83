/**
 * The message field: Enter sends, Shift and Enter begins a line. Text and files stay until they are sent, also if
 * something else, such as an example, is sent meanwhile.
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import { AttachButton, AttachedFiles, useAttached } from "../../parts/files/attaching";
import { Failure } from "../../frame/failure";
import { Cells, useCell } from "../../state/cell";

/** `clear` is to be called when the server has the message, also if the composer is gone by then. */
export type Send = (text: string, files: string[], clear: () => void) => void;

type Composing = {
  send: Send;
  isBusy: boolean;
  failure: string | undefined;
  placeholder: string;
  stop?: (() => void) | undefined;
  /** Give the message to the run that is under way. `send` lets it wait for the end of that run. */
  steer?: Send | undefined;
  hasFocus?: boolean;
  /** Whether a message may have files. */
  takesFiles?: boolean;
  /** The name under which what was not sent yet is kept, while the page is open. */
  draft: string;
};

const drafts = new Cells("");

const TALLEST = 240;

export function Composer({
  send,
  isBusy,
  failure,
  placeholder,
  stop,
  steer,
  hasFocus = false,
  takesFiles = false,
  draft,
}: Composing) {
  const cell = drafts.of(draft);
  const text = useCell(cell);
  const attached = useAttached(draft);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(TALLEST, element.scrollHeight)}px`;
  }, [text]);
  useLayoutEffect(() => {
    if (hasFocus && matchMedia("(pointer: fine)").matches) area.current?.focus();
  }, []);

  const isReady = (text.trim() !== "" || attached.files.length > 0) && !isBusy && !attached.isBusy;
  const submit = (deliver = send) => {
    if (!isReady) return;
    const files = attached.files.map((file) => file.file_id);
    deliver(text.trim(), files, () => {
      if (cell.get() === text) cell.set("");
      attached.clear(files);
    });
  };
  /** Take the files of a paste or a drop, if there are any. Text is left to the browser. */
  const take = (event: Event, found: FileList | undefined) => {
    if (!takesFiles || !found?.length) return;
    event.preventDefault();
    attached.add([...found]);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => takesFiles && event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer?.files)}
    >
      <Failure text={failure ?? attached.failure} />
      <AttachedFiles attached={attached} />
      <div class="box">
        {takesFiles && <AttachButton add={attached.add} />}
        <textarea
          ref={area}
          rows={1}
          aria-label="Message"
          placeholder={placeholder}
          value={text}
          onInput={(event) => cell.set(event.currentTarget.value)}
          onPaste={(event) => take(event, event.clipboardData?.files)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            submit();
          }}
        />
        {stop && (
          <button type="button" class="stop" onClick={stop}>
            Stop
          </button>
        )}
        {steer && (
          <button
            type="button"
            disabled={!isReady}
            title="The agent reads the message before its next step"
            onClick={() => submit(steer)}
          >
            Tell now
          </button>
        )}
        <button class="primary" disabled={!isReady}>
          Send
        </button>
      </div>
    </form>
  );
}
