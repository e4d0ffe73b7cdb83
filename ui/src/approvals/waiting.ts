/** The approvals that wait for somebody; the whole page shows how many there are. */

import { approvals } from "../api/calls";
import type { ApprovalRow } from "../api/wire";
import { keyGiven } from "../api/key";
import { Cell } from "../cell";

const EVERY = 3000;

export const waiting = new Cell<ApprovalRow[] | undefined>(undefined);

export async function look(): Promise<void> {
  const found = (await approvals()).approvals;
  if (JSON.stringify(found) !== JSON.stringify(waiting.get())) waiting.set(found);
}

/** Look now and then, while somebody looks at the page. */
export function keepLooking(): void {
  const now = () => document.visibilityState === "visible" && void look().catch(() => undefined);
  now();
  setInterval(now, EVERY);
  document.addEventListener("visibilitychange", now);
  keyGiven.watch(now);
}
