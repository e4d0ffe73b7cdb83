import assert from "node:assert/strict";
import { test } from "node:test";
import { log, QUEUED, REFUND } from "../sample";
import { waterfall } from "./waterfall";

test("every wait, step, decision and call is a bar, in the order in which it began", () => {
  const { bars, from, to } = waterfall(log(...REFUND));
  assert.deepEqual(
    bars.map(({ kind, label, from, to }) => [kind, label, from, to]),
    [
      ["queue", "in the queue", 1000, 1100],
      ["step", "scripted", 1100, 1700],
      ["person", "decision on refund", 1900, 2100],
      ["tool", "refund", 2300, 2600],
    ],
  );
  assert.deepEqual([from, to], [1000, 2900]);
});

test("what has not ended is open, and a run that ends closes it as failed", () => {
  const begun = [QUEUED, ["tool.started", { call_id: "c", tool: "look", input: {} }] as const];
  assert.equal(waterfall(log(...begun)).bars[1]?.to, undefined);
  const ended = waterfall(log(...begun, ["run.finished", { status: "canceled", stop_reason: "cancelled" }]));
  assert.deepEqual([ended.bars[1]?.to, ended.bars[1]?.failed], [1200, true]);
});

test("an attempt after the first is marked", () => {
  assert.deepEqual(waterfall(log(...REFUND)).marks, [{ at: 2200, seq: 13, attempt: 2, why: "decision" }]);
});
