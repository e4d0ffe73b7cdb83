/**
 * The message field: Enter sends, Shift and Enter begins a line. Text and files stay until they are sent, also if
 * something else, such as an example, is sent meanwhile.
 */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { AttachButton, AttachedFiles, useAttached } from "../../parts/files/attaching";
import { Failure } from "../../frame/failure";

type Composing = {
  send: (text: string, files: string[]) => void;
  isBusy: boolean;
  failure: string | undefined;
  placeholder: string;
  stop?: (() => void) | undefined;
  /** Give the message to the run that is under way. `send` lets it wait for the end of that run. */
  steer?: ((text: string, files: string[]) => void) | undefined;
  hasFocus?: boolean;
  /** Whether a message may have files. */
  takesFiles?: boolean;
  /** The name under which what was not sent yet is kept, while the page is open. */
  draft: string;
};

const drafts = new Map<string, string>();
/** What is being sent, by draft. */
const sent = new Map<string, { text: string; files: string[] }>();

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
  const [text, setDrafted] = useState(drafts.get(draft) ?? "");
  const setText = (written: string) => {
    drafts.set(draft, written);
    setDrafted(written);
  };
  const attached = useAttached(draft);
  const area = useRef<HTMLTextAreaElement>(null);
  const wasBusy = useRef(false);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(TALLEST, element.scrollHeight)}px`;
  }, [text]);
  useLayoutEffect(() => {
    if (wasBusy.current && !isBusy) {
      const mine = sent.get(draft);
      sent.delete(draft);
      if (mine && !failure) {
        if (text === mine.text) setText("");
        attached.remove(...mine.files);
      }
    }
    wasBusy.current = isBusy;
  }, [isBusy, failure]);
  useLayoutEffect(() => {
    if (hasFocus && matchMedia("(pointer: fine)").matches) area.current?.focus();
  }, []);

  const isReady = (text.trim() !== "" || attached.files.length > 0) && !isBusy && !attached.isBusy;
  const submit = (deliver = send) => {
    if (!isReady) return;
    const files = attached.files.map((file) => file.file_id);
    sent.set(draft, { text, files });
    deliver(text.trim(), files);
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
          onInput={(event) => setText(event.currentTarget.value)}
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
