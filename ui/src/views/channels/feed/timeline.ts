/**
 * The messages of a place in time, with the days between them, the first unread one, and runs that ended badly. Pure.
 */

import type { ConversationRun, Message } from "../../../api/wire";

export type Item =
  | { kind: "day"; key: string; at: string }
  | { kind: "new"; key: string }
  | { kind: "message"; key: string; message: Message }
  | { kind: "run"; key: string; run: ConversationRun };

type Given = {
  /** Of one place or one thread, oldest first. */
  messages: readonly Message[];
  runs: readonly ConversationRun[];
  /** The last message that was read when the place was opened; null if none was. */
  readId: string | null | undefined;
  /** Whose own messages are never new. */
  me: string | undefined;
};

export function timeline({ messages, runs, readId, me }: Given): Item[] {
  const items: Item[] = [];
  const left = [...runs].sort((one, other) => (endOf(one) < endOf(other) ? -1 : 1));
  let day = "";
  let isNew = false;
  const begin = (at: string) => {
    if (dayOf(at) !== day) items.push({ kind: "day", key: `day ${(day = dayOf(at))}`, at });
  };
  const ended = (before?: string) => {
    while (left[0] && (before === undefined || endOf(left[0]) < before)) {
      const run = left.shift() as ConversationRun;
      begin(endOf(run));
      items.push({ kind: "run", key: run.id, run });
    }
  };
  for (const message of messages) {
    ended(message.createdAt);
    begin(message.createdAt);
    if (!isNew && readId && message.id > readId && (message.isAgent || message.userId !== me)) {
      isNew = true;
      items.push({ kind: "new", key: "new" });
    }
    items.push({ kind: "message", key: message.id, message });
  }
  ended();
  return items;
}

const endOf = (run: ConversationRun): string => run.completedAt ?? run.createdAt;

/** The day of a time, where the reader is. */
const dayOf = (at: string): string => new Date(at).toDateString();

/** The runs that ended badly, for one thread (`parentId`) or for the place itself, since its first message. */
export function endedBadly(
  runs: readonly ConversationRun[],
  known: ReadonlyMap<string, Message>,
  parentId: string | null,
  since: string | undefined,
): ConversationRun[] {
  return runs.filter((run) => {
    if (run.status !== "failed" && run.status !== "cancelled") return false;
    const trigger = known.get(run.triggerMessageId ?? "");
    if (trigger) return trigger.parentMessageId === parentId;
    return parentId === null && since !== undefined && endOf(run) >= since;
  });
}
