/** The title of the tab: what waits, what is on screen, and the name of the page. */

import { Cell } from "../state/cell";

export const tabName = new Cell<string | undefined>(undefined);
const MOST = 60;

/** Set the title of the tab; returns a function that restores it. */
export function nameTab(name: string | undefined): () => void {
  tabName.set(name && (name.length > MOST ? `${name.slice(0, MOST - 1)}…` : name));
  return () => tabName.set(undefined);
}
