/** The items of a state, and how one of them is added or changed. No state is ever changed itself. Pure. */

import type { Item, RunState } from "./state";

export type Of<K extends Item["kind"]> = Extract<Item, { kind: K }>;

export const add = (state: RunState, item: Item): RunState => ({ ...state, items: [...state.items, item] });

export const without = (state: RunState, key: string): RunState =>
  state.items.some((item) => item.key === key)
    ? { ...state, items: state.items.filter((item) => item.key !== key) }
    : state;

/** The state with the last item of that kind and key changed; unchanged if no item has them. */
export function change<K extends Item["kind"]>(
  state: RunState,
  kind: K,
  key: string,
  to: (item: Of<K>) => Of<K>,
): RunState {
  const place = state.items.findLastIndex((item) => item.kind === kind && item.key === key);
  if (place < 0) return state;
  return { ...state, items: state.items.with(place, to(state.items[place] as Of<K>)) };
}

export const hasCall = (state: RunState, callId: string): boolean =>
  state.items.findLastIndex((item) => item.key === callId && item.kind === "call") >= 0;
