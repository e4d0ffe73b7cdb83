/** What a chat is called: the first thing that was said in it. Read once, a few at a time, and remembered. */

import { thread, turns } from "../../api/calls";
import { Cell } from "../../state/cell";
import { Turns } from "../../log/follow/turns";

export type Said = { title: string; words: string };

export const said = new Cell<ReadonlyMap<string, Said>>(new Map());
const asked = new Set<string>();
const line = new Turns(2);

export function learn(ids: readonly string[]): void {
  for (const id of ids) {
    if (asked.has(id)) continue;
    asked.add(id);
    const done = line.take(() => {
      void read(id)
        .then((found) => (found ? said.set(new Map(said.get()).set(id, found)) : asked.delete(id)))
        .catch(() => asked.delete(id))
        .finally(() => queueMicrotask(() => done()));
      return () => undefined;
    });
  }
}

/** A chat has changed: its words are to be read again. */
export const forget = (id: string): void => void asked.delete(id);

async function read(id: string): Promise<Said | undefined> {
  const messages = (await thread(id)).messages.map((message) => message.content);
  // a fork has said nothing itself
  const words = messages.length ? messages : (await turns(id)).map((turn) => turn.question);
  const title = words[0];
  return title === undefined ? undefined : { title, words: words.join("\n").toLowerCase() };
}
