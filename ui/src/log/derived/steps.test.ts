import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../events";
import { modelSteps } from "./steps";

const event = (seq: number, type: string, data: object): RunEvent =>
  ({ run_id: "r", seq, id: "", ts: 100 * seq, type, v: 1, source: "worker", data }) as never;

test("every question to a model has its time and its cost; other steps are none", () => {
  const found = modelSteps([
    event(1, "step.started", { step: "turn#1", name: "think", model: "m" }),
    event(2, "step.started", { step: "load", name: "load" }),
    event(3, "step.finished", { step: "load", name: "load" }),
    event(4, "step.finished", { step: "turn#1", name: "think", usage: { input_tokens: 3, usd: 0.1 } }),
    event(5, "step.started", { step: "turn#2", name: "think", model: "m" }),
  ]);
  assert.deepEqual(
    found.map(({ step, seq, from, to }) => [step, seq, from, to]),
    [
      ["turn#1", 1, 100, 400],
      ["turn#2", 5, 500, undefined],
    ],
  );
  assert.deepEqual(found[0]?.usage, { input_tokens: 3, output_tokens: 0, usd: 0.1 });
});
