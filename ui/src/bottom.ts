/** Keeps a box scrolled to its end while items are added, unless the user has scrolled up. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

const NEAR = 80;

export function useBottom(inputs: readonly unknown[]): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let isAtEnd = true;
    const look = () => (isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
    const stay = new ResizeObserver(() => isAtEnd && element.scrollTo({ top: element.scrollHeight }));
    element.addEventListener("scroll", look, { passive: true });
    for (const child of element.children) stay.observe(child);
    return () => {
      element.removeEventListener("scroll", look);
      stay.disconnect();
    };
  }, inputs);
  return box;
}
