import assert from "node:assert/strict";
import { test } from "node:test";
import { fold } from "./fold";
import { DONE, log, QUEUED, type Line } from "../sample";
import type { Item, RunState, Wait } from "./state";
import { waterfall } from "../derived/waterfall";

const folded = (...lines: Line[]): RunState => fold(log(...lines));
const waits = (state: RunState): Wait[] =>
  state.items.flatMap((item: Item) => (item.kind === "wait" ? [item.wait] : item.kind === "call" ? item.waits : []));

const ASKS: Line = [
  "wait.requested",
  { wait_id: "w1", call_id: "ask#1", kind: "question", name: "ask", prompt: "Row?" },
];
const CHILD: Line = ["wait.requested", { wait_id: "w2", call_id: "run#1", kind: "child", name: "helper", child: "r2" }];
const ROW: Line = ["wait.answered", { wait_id: "w1", outcome: "answered", by: "ann", value: 12 }];

test("the first answer counts, and the run continues from the queue", () => {
  const late: Line = ["wait.answered", { wait_id: "w1", outcome: "answered", by: "bob", value: 13 }];
  const state = folded(QUEUED, ASKS, ["run.waiting", { waits: ["w1"] }], ROW, late);
  assert.equal(state.status, "queued");
  const [wait] = waits(state);
  assert.deepEqual([wait?.state, wait?.by, wait?.value], ["answered", "ann", 12]);
});

test("a tool of the client belongs to its call", () => {
  const state = folded(
    QUEUED,
    ["tool.requested", { call_id: "c1", tool: "locate", input: {} }],
    ["wait.requested", { wait_id: "w3", call_id: "c1", kind: "client_tool", name: "locate", input: {} }],
  );
  assert.deepEqual(
    state.items.map((item) => item.kind === "call" && [item.state, item.waits.length]),
    [["waiting", 1]],
  );
});

test("the end of the run leaves no wait open, and what a child cost adds up", () => {
  const usage = { input_tokens: 3, output_tokens: 2, usd: 0.5 };
  const failed: Line = ["wait.answered", { wait_id: "w2", outcome: "failed", by: "r2", usage }];
  const state = folded(QUEUED, CHILD, ASKS, failed, DONE);
  assert.deepEqual(
    waits(state).map((wait) => wait.state),
    ["failed", "void"],
  );
  assert.equal(state.usage.usd, 0.5);
});

test("a wait is a bar, that of a child knows its run", () => {
  const { bars } = waterfall(log(QUEUED, ASKS, CHILD, ROW, DONE));
  assert.deepEqual(
    bars.map(({ kind, label, child, failed }) => [kind, label, child, failed]),
    [
      ["queue", "in the queue", undefined, false],
      ["person", "Row?", undefined, false],
      ["child", "helper", "r2", true],
    ],
  );
});

test("a message to a run under way is shown once, and read when the agent has taken it", () => {
  const came: Line = ["message.received", { message_id: "m2", text: "in red" }];
  const taken: Line = ["message.taken", { message_id: "m2" }];
  const shown = (...lines: Line[]) =>
    folded(QUEUED, ...lines).items.map((item) => item.kind === "message" && [item.text, item.isTaken]);
  assert.deepEqual(shown(came), [["in red", false]]);
  assert.deepEqual(shown(came, taken), [["in red", true]]);
});
