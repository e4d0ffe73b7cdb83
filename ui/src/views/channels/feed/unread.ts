/**
 * The read position of each channel and DM. The server stores it, so that all browsers of a person agree. The page
 * shows the unread counts; it polls, and reads again soon after a message.
 */

import { markRead, unreadRows, type Place } from "../../../api/channels";
import { Cell } from "../../../state/cell";
import { whileVisible } from "../../../state/polling";
import { placeOf } from "./feed";

export type Unread = { readId: string | null; count: number };

const EVERY = 15_000;
const SOON = 300;

export const unread = new Cell<ReadonlyMap<string, Unread>>(new Map());

let asked = 0;
let due: ReturnType<typeof setTimeout> | undefined;

export async function look(): Promise<void> {
  const mine = ++asked;
  const rows = await unreadRows();
  if (mine !== asked) return;
  const found = new Map(rows.map((row) => [placeOf(row), { readId: row.readMessageId, count: row.unread }]));
  if (JSON.stringify([...found]) !== JSON.stringify([...unread.get()])) unread.set(found);
}

/** Read once for messages that arrive together. */
export function lookSoon(): void {
  due ??= setTimeout(() => {
    due = undefined;
    void look().catch(() => undefined);
  }, SOON);
}

/** Store that the user has read a place up to this message, unless that is known. */
export async function read(place: Place, messageId: string): Promise<void> {
  const known = unread.get().get(place.id);
  if (known?.count === 0 && known.readId !== null && known.readId >= messageId) return;
  await markRead(place, messageId);
  asked += 1; // an answer that is under way does not know this yet
  unread.set(new Map(unread.get()).set(place.id, { readId: messageId, count: 0 }));
}

/** Poll while the tab is visible; returns a function that stops it. */
export const keepCounting = (): (() => void) => whileVisible(look, EVERY);
