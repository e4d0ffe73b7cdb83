/** The message that led to an item: its beginning, and all of it on demand. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { wait } from "../../api/calls";
import { Failure } from "../../frame/failure";
import { useDoing } from "../../state/requests";

const LINES = 5;

/** `question`: the message, or its beginning if `isCut`. */
export function LedHere({ id, question, isCut }: { id: string; question: string; isCut: boolean }) {
  const [whole, setWhole] = useState<string>();
  const doing = useDoing();
  const box = useRef<HTMLQuoteElement>(null);
  useLayoutEffect(() => void (whole !== undefined && box.current?.focus()), [whole]); // the button is gone
  const lines = question.split("\n");
  const isLong = isCut || lines.length > LINES;
  const start = lines.length > LINES ? `${lines.slice(0, LINES).join("\n")}…` : question;
  const showAll = async () => setWhole(isCut ? ((await wait(id)).question ?? question) : question);
  return (
    <>
      <blockquote
        ref={box}
        class="led"
        aria-label="The message that led here"
        tabIndex={whole === undefined ? undefined : 0}
      >
        {whole ?? start}
      </blockquote>
      {isLong && whole === undefined && (
        <button type="button" class="quiet small" disabled={doing.isBusy} onClick={() => doing.start(showAll)}>
          Show the whole message
        </button>
      )}
      <Failure text={doing.failure} />
    </>
  );
}
