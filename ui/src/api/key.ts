/** The API key of this tab, if the server wants one. It is gone when the tab is closed. */

import { Cell } from "../state/cell";

const PLACE = "runyard.key";

/** Whether the user has to enter a key: the page has no key, or the server refused it. */
export const needsKey = new Cell<false | "missing" | "refused">(false);

/** Counts the entered keys: a refused request is repeated when it changes. */
export const keyGiven = new Cell(0);

export const keyHeaders = (): Record<string, string> => {
  const key = sessionStorage.getItem(PLACE);
  return key ? { Authorization: `Bearer ${key}` } : {};
};

export function refuse(): void {
  if (sessionStorage.getItem(PLACE)) needsKey.set("refused");
  else if (!needsKey.get()) needsKey.set("missing");
  sessionStorage.removeItem(PLACE);
}

export const hasKey = (): boolean => sessionStorage.getItem(PLACE) !== null;

/** Forget the key, and everything that was read with it: the page begins again, and asks for a key. */
export function forgetKey(): void {
  sessionStorage.removeItem(PLACE);
  location.reload();
}

export function give(key: string): void {
  sessionStorage.setItem(PLACE, key.trim());
  needsKey.set(false);
  keyGiven.set(keyGiven.get() + 1);
}
