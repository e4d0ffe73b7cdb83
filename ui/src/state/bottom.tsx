/** Keeps a box scrolled to its end while items are added, unless the user or something else has scrolled up. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const NEAR = 80;

/** `fromEnd`: whether it is at the end at the beginning. */
export function useBottom(inputs: readonly unknown[], fromEnd = true): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let isAtEnd = fromEnd;
    const look = () => (isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
    const stay = new ResizeObserver(() => isAtEnd && element.scrollTo({ top: element.scrollHeight }));
    element.addEventListener("scroll", look, { passive: true });
    stay.observe(element); // also when other things on the page take of its room
    for (const child of element.children) stay.observe(child);
    return () => {
      element.removeEventListener("scroll", look);
      stay.disconnect();
    };
  }, inputs);
  return box;
}

/** A button that goes to the end of a box, while the end is not on screen. */
export function JumpToNewest({ box }: { box: RefObject<HTMLDivElement | null> }) {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setAway(element.scrollHeight - element.scrollTop - element.clientHeight > 2 * NEAR);
    const grown = new ResizeObserver(look);
    element.addEventListener("scroll", look, { passive: true });
    for (const child of element.children) grown.observe(child);
    return () => {
      element.removeEventListener("scroll", look);
      grown.disconnect();
    };
  }, []);
  if (!isAway) return null;
  return (
    <div class="jump">
      <button type="button" class="small" onClick={() => box.current?.scrollTo({ top: box.current.scrollHeight })}>
        ↓ Jump to newest
      </button>
    </div>
  );
}
