/** Finds a source in what the tools of a run gave back: results of a search usually name the document and quote it. */

import type { Json } from "../events";
import type { RunState } from "../fold/state";

export type Known = { title: string | undefined; rest: { [name: string]: Json } };

const IDS = ["id", "doc_id", "source", "url"];
const TITLES = ["title", "name"];

export function found(state: RunState, source: string): Known | undefined {
  for (const item of state.items) {
    const hit = item.kind === "call" ? inside(item.output, source) : undefined;
    if (hit !== undefined) return hit;
  }
  return undefined;
}

function inside(value: Json | undefined, source: string): Known | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value) && IDS.some((name) => value[name] === source)) return known(value);
  for (const each of Object.values(value)) {
    const hit = inside(each, source);
    if (hit !== undefined) return hit;
  }
  return undefined;
}

function known(value: { [name: string]: Json }): Known {
  const title = TITLES.map((name) => value[name]).find((each) => typeof each === "string");
  const rest = Object.entries(value).filter(([name]) => !IDS.includes(name) && !TITLES.includes(name));
  return { title, rest: Object.fromEntries(rest) };
}
