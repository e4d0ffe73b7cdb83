/** Failures by day and by code. Pure. */

import type { Figures } from "../../api/wire";
import type { Series } from "./chart";

const COLOURS = ["red", "amber", "blue"] as const;
const OTHERS = "other codes";

/** The codes with the most failures, each with its number on every day, and one row for all other codes. */
export function byCode(days: readonly Pick<Figures, "errors">[]): Series[] {
  const sums = new Map<string, number>();
  for (const { errors } of days)
    for (const [code, count] of Object.entries(errors)) sums.set(code, (sums.get(code) ?? 0) + count);
  const codes = [...sums.keys()].sort((one, other) => sums.get(other)! - sums.get(one)! || (one < other ? -1 : 1));
  const shown = codes.slice(0, COLOURS.length);
  const rows: Series[] = shown.map((code, place) => ({
    name: code,
    colour: COLOURS[place]!,
    values: days.map(({ errors }) => errors[code] ?? 0),
  }));
  if (codes.length === shown.length) return rows;
  const isOther = ([code]: [string, number]) => !shown.includes(code);
  const others = ({ errors }: Pick<Figures, "errors">) =>
    Object.entries(errors).filter(isOther).reduce((sum, [, count]) => sum + count, 0);
  return [...rows, { name: OTHERS, colour: "accent", values: days.map(others) }];
}
