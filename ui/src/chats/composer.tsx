/** Where one writes: Enter sends, Shift and Enter begins a line. What could not be sent stays. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../frame/failure";

type Composing = {
  send: (text: string) => void;
  isBusy: boolean;
  failure: string | undefined;
  placeholder: string;
  stop?: (() => void) | undefined;
  hasFocus?: boolean;
};

const TALLEST = 240;

export function Composer({ send, isBusy, failure, placeholder, stop, hasFocus = false }: Composing) {
  const [text, setText] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const wasBusy = useRef(false);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(TALLEST, element.scrollHeight)}px`;
  }, [text]);
  useLayoutEffect(() => {
    if (wasBusy.current && !isBusy && !failure) setText("");
    wasBusy.current = isBusy;
  }, [isBusy, failure]);
  useLayoutEffect(() => {
    if (hasFocus && matchMedia("(pointer: fine)").matches) area.current?.focus();
  }, []);

  const submit = () => {
    if (text.trim() && !isBusy) send(text.trim());
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Failure text={failure} />
      <div class="box">
        <textarea
          ref={area}
          rows={1}
          aria-label="Message"
          placeholder={placeholder}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
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
        <button class="primary" disabled={isBusy || !text.trim()}>
          Send
        </button>
      </div>
    </form>
  );
}
