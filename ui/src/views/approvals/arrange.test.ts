import assert from "node:assert/strict";
import { test } from "node:test";
import type { WaitRow } from "../../api/wire";
import { choices, fits } from "./filter";
import { arrange, idOf, neighbour, successor, type Item } from "./arrange";

const row = (id: string): WaitRow => ({
  wait_id: id,
  run_id: `run of ${id}`,
  call_id: "c",
  kind: "tool",
  name: "send",
  prompt: null,
  answer_schema: null,
  expires_at: null,
  input: {},
  state: "pending",
  created_at: "2026-01-01T00:00:00Z",
  agent: "mailer",
  question: null,
  question_cut: false,
});
const rows = (ids: string): WaitRow[] => [...ids].map(row);

test("a filter keeps an agent, a tool, an age, or all of them", () => {
  const now = Date.parse("2026-01-01T02:00:00Z");
  assert.equal(fits(row("a"), {}, now), true);
  assert.equal(fits(row("a"), { agent: "mailer", tool: "send", age: "last day" }, now), true);
  const unfit = [{ agent: "other" }, { tool: "other" }, { age: "last hour" }, { age: "older than a day" }] as const;
  for (const filter of unfit) assert.equal(fits(row("a"), filter, now), false);
  assert.deepEqual(choices([row("a")], { tool: "gone" }), { agents: ["mailer"], tools: ["gone", "send"] });
});

const items = (ids: string): Item[] => arrange([], rows(ids), undefined);
const ids = (found: Item[]): string => found.map((item) => idOf(item) + (item.isGone ? "!" : "")).join("");

test("a new item comes last, wherever the server lists it", () => {
  assert.equal(ids(arrange(items("bc"), rows("abc"), "b")), "bca");
});

test("an item that was decided leaves, the others keep their order", () => {
  assert.equal(ids(arrange(items("abc"), rows("cb"), "b")), "bc");
});

test("the selected item stays where it is, marked, when it no longer waits", () => {
  assert.equal(ids(arrange(items("abc"), rows("ac"), "b")), "ab!c");
  assert.equal(ids(arrange(arrange(items("abc"), rows("ac"), "b"), rows("ac"), "c")), "ac");
});

test("after a decision the next item takes the place, at the end the one before", () => {
  assert.equal(successor(items("abc"), "b"), "c");
  assert.equal(successor(items("abc"), "c"), "b");
  assert.equal(successor(items("a"), "a"), undefined);
});

test("moving stops at both ends and begins at the first", () => {
  assert.equal(neighbour(items("abc"), "b", 1), "c");
  assert.equal(neighbour(items("abc"), "c", 1), "c");
  assert.equal(neighbour(items("abc"), "a", -1), "a");
  assert.equal(neighbour(items("abc"), undefined, 1), "a");
  assert.equal(neighbour([], undefined, 1), undefined);
});
