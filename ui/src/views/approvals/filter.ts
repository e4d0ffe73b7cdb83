/** Which items of the inbox are shown: those of an agent, of a tool, or of an age. Pure. */

import type { WaitRow } from "../../api/wire";
import type { Query } from "../../state/query";

const HOUR = 3_600_000;

export const AGES = { "last hour": HOUR, "last day": 24 * HOUR, "older than a day": -24 * HOUR } as const;
export type Age = keyof typeof AGES;
export type Filter = { agent?: string | undefined; tool?: string | undefined; age?: Age | undefined };

/** The filter that the address names. */
export const filterOf = ({ agent, tool, age }: Query): Filter => ({
  agent,
  tool,
  age: age !== undefined && Object.hasOwn(AGES, age) ? (age as Age) : undefined,
});

export function fits(row: WaitRow, { agent, tool, age }: Filter, now = Date.now()): boolean {
  if (agent !== undefined && row.agent !== agent) return false;
  if (tool !== undefined && row.name !== tool) return false;
  if (age === undefined) return true;
  const ms = now - Date.parse(row.created_at);
  const limit = AGES[age];
  return limit < 0 ? ms > -limit : ms <= limit;
}

/** What there is to choose from: the agents and tools of the rows, and what is chosen. */
export function choices(rows: readonly WaitRow[], chosen: Filter): { agents: string[]; tools: string[] } {
  const sorted = (names: (string | null | undefined)[]) =>
    [...new Set(names.filter((name): name is string => Boolean(name)))].sort();
  return {
    agents: sorted([...rows.map((row) => row.agent), chosen.agent]),
    tools: sorted([...rows.map((row) => row.name), chosen.tool]),
  };
}
