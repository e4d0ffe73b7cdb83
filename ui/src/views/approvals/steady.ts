/** Clicks that were meant for what lay in the same place a moment ago. */

import { useLayoutEffect, useRef } from "preact/hooks";

const SETTLING_MS = 400;

/** A click handler for the capture phase: it drops clicks of a pointer right after items of the list have moved. */
export function useSteadyClicks(ids: readonly string[]): (event: MouseEvent) => void {
  const before = useRef<readonly string[]>([]);
  const movedAt = useRef(-Infinity);
  const order = ids.join(" ");
  useLayoutEffect(() => {
    const hasMoved = before.current.some((id, place) => ids[place] !== id);
    before.current = ids;
    if (hasMoved) movedAt.current = performance.now();
  }, [order]);
  return (event) => {
    const isByPointer = event.detail > 0;
    if (!isByPointer || performance.now() - movedAt.current >= SETTLING_MS) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
