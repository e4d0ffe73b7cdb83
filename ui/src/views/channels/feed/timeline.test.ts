import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationRun, Message } from "../../../api/wire";
import { endedBadly, timeline } from "./timeline";

const message = (id: string, createdAt: string, more: Partial<Message> = {}): Message => ({
  id,
  channelId: "pier",
  dmConversationId: null,
  parentMessageId: null,
  userId: "mara",
  isAgent: true,
  text: id,
  createdAt,
  runId: null,
  editedAt: null,
  deletedAt: null,
  ...more,
});
const run = (id: string, completedAt: string, more: Partial<ConversationRun> = {}): ConversationRun => ({
  id,
  agentId: "mara",
  status: "failed",
  errorCode: "agent_error",
  triggerMessageId: "1",
  createdAt: completedAt,
  completedAt,
  waitingFor: null,
  ...more,
});
const kinds = (items: ReturnType<typeof timeline>) => items.map((item) => (item.kind === "day" ? "day" : item.key));
const me = { isAgent: false, userId: "me" };

test("a day begins where the date changes, and a failed run stands where it ended", () => {
  const messages = [message("1", "2026-11-17T12:00:00Z"), message("2", "2026-11-18T12:00:00Z")];
  const runs = [run("late", "2026-11-18T13:00:00Z"), run("early", "2026-11-17T12:00:05Z")];
  const found = timeline({ messages, runs, readId: null, me: "me" });
  assert.deepEqual(kinds(found), ["day", "1", "early", "day", "2", "late"]);
});

test("the first message of another sender after the read position is new, once", () => {
  const at = "2026-11-18T12:00:00Z";
  const messages = [message("1", at), message("2", at, me), message("3", at), message("4", at)];
  assert.deepEqual(kinds(timeline({ messages, runs: [], readId: "1", me: "me" })), ["day", "1", "2", "new", "3", "4"]);
  for (const readId of ["4", null, undefined])
    assert.ok(!kinds(timeline({ messages, runs: [], readId, me: "me" })).includes("new"));
});

test("a run that a reply started is shown only in its thread", () => {
  const known = new Map([
    ["1", message("1", "")],
    ["2", message("2", "", { parentMessageId: "1" })],
  ]);
  const runs = [
    run("of 1", "b"),
    run("of 2", "b", { triggerMessageId: "2", status: "cancelled" }),
    run("fine", "b", { status: "completed" }),
    run("old", "a", { triggerMessageId: "0" }),
    run("of none", "c", { triggerMessageId: null }),
  ];
  const ids = (parent: string | null) => endedBadly(runs, known, parent, "b").map((each) => each.id);
  assert.deepEqual(ids(null), ["of 1", "of none"]);
  assert.deepEqual(ids("1"), ["of 2"]);
});
