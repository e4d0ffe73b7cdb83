/**
 * Everything that waits for a person or a client, oldest first. Outside of the inbox the page reads how many there are.
 */

import { waits } from "../../api/calls";
import { sentence } from "../../api/http";
import { countWaits, type Counted } from "../../api/overview";
import type { WaitRow } from "../../api/wire";
import { Cell } from "../../state/cell";
import { whileVisible } from "../../state/polling";
import { follow } from "../../log/follow/follow";

const EVERY = 3000;

/** The items of the inbox, while it is open. */
export const waiting = new Cell<WaitRow[] | undefined>(undefined);

/** How many there are. */
export const waitCount = new Cell<Counted>(0);

/** Why the list could not be read the last time. */
export const lookFailure = new Cell<string | undefined>(undefined);

/** Answered in this tab: a list that was asked for before the answer must not bring it back. */
const answered = new Set<string>();
let asked = 0;
let shown = 0;

export async function look(): Promise<void> {
  const mine = ++asked;
  let rows: WaitRow[];
  try {
    rows = await waits();
  } catch (error) {
    if (mine === asked) lookFailure.set(sentence(error));
    throw error;
  }
  lookFailure.set(undefined);
  const found = rows.reverse().filter((row) => !answered.has(row.wait_id));
  if (mine < shown) return; // a later answer came first
  shown = mine;
  if (JSON.stringify(found) !== JSON.stringify(waiting.get())) waiting.set(found);
  waitCount.set(found.length);
}

async function count(): Promise<void> {
  const mine = ++asked;
  const found = await countWaits();
  if (mine < shown || isOpen) return;
  shown = mine;
  waitCount.set(found);
}

/** Take a wait off the list that this tab has answered. */
export function remove(id: string): void {
  answered.add(id);
  const left = waiting.get()?.filter((row) => row.wait_id !== id);
  waiting.set(left);
  if (left) waitCount.set(left.length);
}

let isOpen = false; // the inbox
let isLive = false;

/**
 * Follow the changes, for as long as the inbox is open. Other views only show how many there are, and look now and
 * then: a browser opens six connections to a server for all its tabs, and they have logs to follow.
 */
export function followWaits(): () => void {
  isOpen = true;
  const ended = () => (isLive = false);
  const stop = follow({
    path: "/api/waits/changes",
    opened: () => (isLive = true),
    take: () => {
      void look().catch(ended);
      return false;
    },
    failed: ended,
  });
  return () => {
    ended();
    stop();
    isOpen = false;
    shown = ++asked; // the list of a request that is under way is not shown any more
    waiting.set(undefined);
    lookFailure.set(undefined);
  };
}

/** Look now and then, while the tab is visible; returns how to end it. */
export const keepLooking = (): (() => void) => whileVisible(() => (isOpen ? look() : count()), EVERY, () => !isLive);
