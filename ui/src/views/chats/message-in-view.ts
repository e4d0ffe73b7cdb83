/** Brings the message that the address names to the middle of the screen, with the words of the search marked. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { markWords, unmarkWords } from "./found-words";
import type { Found } from "../../state/route";

const PARTS = { question: ".question, .meanwhile", answer: ".answer" };
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"];

/** The message stays in the middle while logs above it are read, until the user moves. */
export function useMessageInView(box: RefObject<HTMLElement | null>, found: Found | undefined, isThere: boolean): void {
  useEffect(() => {
    const element = box.current;
    if (!element || !found || !isThere) return;
    const show = () => {
      const turn = element.querySelector(`[data-run="${CSS.escape(found.run)}"]`);
      const parts = [...(turn?.querySelectorAll(PARTS[found.part]) ?? [])];
      const [first] = markWords(parts, found.words ?? "");
      const shown = first?.startContainer.parentElement ?? parts[0] ?? turn;
      shown?.scrollIntoView({ block: "center" });
    };
    const grown = new ResizeObserver(show);
    const stop = () => grown.disconnect();
    for (const child of element.children) grown.observe(child);
    for (const move of MOVES) addEventListener(move, stop, { passive: true });
    return () => {
      stop();
      for (const move of MOVES) removeEventListener(move, stop);
      unmarkWords();
    };
  }, [found?.run, found?.part, found?.words, isThere]);
}
