/** The approvals that wait for a decision, oldest first. The whole page shows how many there are. */

import { approvals } from "../api/calls";
import type { ApprovalRow } from "../api/wire";
import { keyGiven } from "../api/key";
import { Cell } from "../cell";

const EVERY = 3000;

export const waiting = new Cell<ApprovalRow[] | undefined>(undefined);

/** Decided in this tab: an answer that was asked for before the decision must not bring it back. */
const decided = new Set<string>();
let asked = 0;
let shown = 0;

export async function look(): Promise<void> {
  const mine = ++asked;
  const found = (await approvals()).reverse().filter((row) => !decided.has(row.approval_id));
  if (mine < shown) return; // a later answer came first
  shown = mine;
  if (JSON.stringify(found) !== JSON.stringify(waiting.get())) waiting.set(found);
}

/** Take an approval off the list that this tab has decided. */
export function remove(id: string): void {
  decided.add(id);
  waiting.set(waiting.get()?.filter((row) => row.approval_id !== id));
}

/** Look now and then, while the tab is visible. */
export function keepLooking(): void {
  const now = () => document.visibilityState === "visible" && void look().catch(() => undefined);
  now();
  setInterval(now, EVERY);
  document.addEventListener("visibilitychange", now);
  keyGiven.watch(now);
}
