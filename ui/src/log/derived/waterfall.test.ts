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

test("the bar of the queue has the times of the row, except in the copy that a fork makes", () => {
  const ended = { created: 900, started: undefined, finished: 1150, waited: 250, took: undefined };
  const canceled = waterfall(log(QUEUED, ["run.finished", { status: "canceled", stop_reason: "cancelled" }]), ended);
  assert.deepEqual([canceled.bars[0]?.from, canceled.bars[0]?.to, canceled.from], [900, 1150, 900]);
  const copied = log(["run.queued", { agent: "a", copied: { run_id: "o", seq: 2 } }], ["trace", { fn: "f" }]);
  const fork = waterfall(copied, { ...ended, created: 9000, finished: 9000, waited: 0 });
  assert.deepEqual([fork.bars[0]?.from, fork.bars[0]?.to, fork.from], [1000, 1100, 1000]);
});
