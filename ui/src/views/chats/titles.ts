/**
 * What chats are called. The server has the titles; a fork in which nothing was said has the first message before it.
 */

import { turns } from "../../api/calls";
import type { ThreadRow } from "../../api/wire";
import { Cell } from "../../state/cell";
import { Turns } from "../../log/follow/turns";

export const titles = new Cell<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();
const line = new Turns(2);

/** Remember the titles of these chats, and look for those of forks, a few at a time. */
export function learn(rows: readonly ThreadRow[]): void {
  const known = new Map(titles.get());
  for (const { thread_id, title } of rows) if (title) known.set(thread_id, title);
  titles.set(known);
  for (const { thread_id, title, head_run_id } of rows) if (!title && head_run_id) lookFor(thread_id);
}

/** The chat is called this from now on. */
export const call = (id: string, title: string): void => titles.set(new Map(titles.get()).set(id, title));

/** The chat is deleted. */
export function forget(id: string): void {
  const left = new Map(titles.get());
  left.delete(id);
  titles.set(left);
}

function lookFor(id: string): void {
  if (asked.has(id)) return;
  asked.add(id);
  const done = line.take(() => {
    void turns(id)
      .then(([first]) => first && call(id, first.question))
      .catch(() => asked.delete(id))
      .finally(() => queueMicrotask(() => done()));
    return () => undefined;
  });
}
