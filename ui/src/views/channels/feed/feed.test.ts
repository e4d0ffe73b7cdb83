import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../../api/wire";
import { EMPTY, withMessages, messagesOf, withEntry, typingIn, type Entry } from "./feed";

const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  channelId: "pier",
  dmConversationId: null,
  parentMessageId: null,
  userId: "mara",
  isAgent: true,
  text: id,
  createdAt: "",
  runId: null,
  editedAt: null,
  deletedAt: null,
  reactions: [],
  ...more,
});
const place = { channelId: "pier", dmConversationId: null };

test("a message that comes both ways is shown once, and keeps its reactions", () => {
  const reactions = [{ emoji: "⚓", userId: "pip", isAgent: true }];
  const before = withMessages(EMPTY, [message("1", { reactions })]);
  const state = withEntry(before, { event: "message_created", data: message("1") });
  assert.deepEqual(messagesOf(state, "pier"), [message("1", { reactions })]);
});

test("messages stand in their order, in their place, and replies below what they reply to", () => {
  const state = withMessages(EMPTY, [
    message("3"),
    message("1"),
    message("2", { parentMessageId: "1" }),
    message("4", { channelId: "ledger" }),
  ]);
  assert.deepEqual(
    messagesOf(state, "pier").map((each) => each.id),
    ["1", "3"],
  );
  assert.deepEqual(
    messagesOf(state, "pier", "1").map((each) => each.id),
    ["2"],
  );
});

test("a reaction counts once for everybody, and can be taken back", () => {
  const entry = (event: "reaction_added" | "reaction_removed"): Entry => ({
    event,
    data: { ...place, messageId: "1", emoji: "⚓", userId: "pip", isAgent: true },
  });
  const twice = [entry("reaction_added"), entry("reaction_added")];
  const added = twice.reduce(withEntry, withMessages(EMPTY, [message("1")]));
  assert.equal(messagesOf(added, "pier")[0]?.reactions?.length, 1);
  assert.deepEqual(messagesOf(withEntry(added, entry("reaction_removed")), "pier")[0]?.reactions, []);
});

test("an edit changes the text and keeps the reactions; a deleted message stays without them", () => {
  const reactions = [{ emoji: "⚓", userId: "pip", isAgent: true }];
  const before = withMessages(EMPTY, [message("1", { reactions }), message("2", { parentMessageId: "1" })]);
  const { reactions: _, ...plain } = message("1", { text: "other", editedAt: "now" });
  const edited = withEntry(before, { event: "message_updated", data: plain });
  assert.deepEqual(messagesOf(edited, "pier"), [message("1", { text: "other", editedAt: "now", reactions })]);
  const deleted = withEntry(edited, { event: "message_deleted", data: { ...plain, deletedAt: "now" } });
  assert.deepEqual(messagesOf(deleted, "pier")[0]?.reactions, []);
  assert.equal(messagesOf(deleted, "pier", "1").length, 1);
  assert.equal(withEntry(EMPTY, { event: "message_deleted", data: plain }), EMPTY);
});

test("an agent types until its run is done, also if it has two", () => {
  const typing = (runId: string): Entry => ({ event: "agent_typing", data: { ...place, agentId: "mara", runId } });
  const done = (runId: string): Entry => ({ event: "agent_done", data: { ...place, agentId: "mara", runId } });
  let state = [typing("r1"), typing("r2"), done("r1")].reduce(withEntry, EMPTY);
  assert.deepEqual(typingIn(state, "pier"), [{ runId: "r2", agentId: "mara" }]);
  state = withEntry(state, done("r2"));
  assert.deepEqual(typingIn(state, "pier"), []);
});
