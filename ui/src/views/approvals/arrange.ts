/**
 * The order of the inbox. An item never changes its place because another arrives, and the selected one never vanishes.
 */

import type { WaitRow } from "../../api/wire";

/** `isGone`: it was decided elsewhere, expired, or its run ended. It stays on screen while it is selected. */
export type Item = { row: WaitRow; isGone: boolean };

export const idOf = (item: Item): string => item.row.wait_id;

/**
 * Items that were shown keep their order, new ones come last; of those that no longer wait only the selected one stays.
 */
export function arrange(before: readonly Item[], waiting: readonly WaitRow[], selected: string | undefined): Item[] {
  const now = new Map(waiting.map((row) => [row.wait_id, row]));
  const known = before.flatMap((item) => {
    const row = now.get(idOf(item));
    now.delete(idOf(item));
    if (row) return [{ row, isGone: false }];
    return idOf(item) === selected ? [{ row: item.row, isGone: true }] : [];
  });
  return [...known, ...[...now.values()].map((row) => ({ row, isGone: false }))];
}

/** The item that takes the place of this one when it leaves: the next, or at the end of the list the one before. */
export function successor(items: readonly Item[], id: string): string | undefined {
  const place = items.findIndex((item) => idOf(item) === id);
  const next = items[place + 1] ?? items[place - 1];
  return next && idOf(next);
}

/** The item that is `by` places away from the selected one; the first if none is selected. */
export function neighbour(items: readonly Item[], id: string | undefined, by: 1 | -1): string | undefined {
  const place = items.findIndex((item) => idOf(item) === id);
  const there = items[place < 0 ? 0 : Math.min(Math.max(place + by, 0), items.length - 1)];
  return there && idOf(there);
}
