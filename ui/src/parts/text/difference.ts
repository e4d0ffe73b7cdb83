/**
 * What an edit changed in a JSON value: one entry for each place. Text of several lines is compared line by line. Pure.
 */

import type { Json } from "../../log/events";
import { isPlain } from "./words";

/** `before` or `after` is missing where the place was added or removed. */
export type Change = { path: string; before?: Json; after?: Json };
export type Line = { kind: "same" | "gone" | "new"; text: string };

const MOST_LINES = 400; // compared; longer texts are shown whole, before and after

export function changes(before: Json | undefined, after: Json | undefined, path = ""): Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const inside = childrenOf(before, after);
  if (inside === undefined) {
    return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
  }
  return inside.flatMap(([name, one, other]) => changes(one, other, path === "" ? name : `${path}.${name}`));
}

type Child = [name: string, before: Json | undefined, after: Json | undefined];

/** The fields of two objects, or the items of two lists of one length; undefined if the values are compared whole. */
function childrenOf(before: Json | undefined, after: Json | undefined): Child[] | undefined {
  if (isPlain(before) && isPlain(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.map((name) => [name, own(before, name), own(after, name)]);
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.map((one, place) => [String(place), one, after[place]]);
  }
  return undefined;
}

/** Not what every object has, such as `constructor`. */
const own = (fields: { [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** Two texts as lines that stayed, went or came: the longest common part stays. */
export function lines(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  if (old.length > MOST_LINES || now.length > MOST_LINES) {
    return [...old.map((text): Line => ({ kind: "gone", text })), ...now.map((text): Line => ({ kind: "new", text }))];
  }
  const common = lengths(old, now);
  const found: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const stays = i < old.length && j < now.length && old[i] === now[j];
    if (stays) {
      found.push({ kind: "same", text: old[i]! });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      found.push({ kind: "gone", text: old[i]! });
      i += 1;
    } else {
      found.push({ kind: "new", text: now[j]! });
      j += 1;
    }
  }
  return found;
}

/** The length of the longest common part of the rests of two lists, for every pair of places. */
function lengths(old: readonly string[], now: readonly string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      table[i]![j] =
        old[i] === now[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  return table;
}
