import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords } from "./chart";

const chart = { title: "Queue age", days: ["2026-11-18", "2026-11-19"], format: (value: number) => `${value} ms` };

test("a time of 0 ms is told, and a day without runs is not", () => {
  const series = [{ name: "waited", colour: "amber", values: [null, 0] }] as const;
  assert.equal(inWords({ ...chart, series, hasZero: true }), "Queue age. 2026-11-19: waited 0 ms.");
});

test("a count of 0 is nothing", () => {
  const series = [{ name: "runs", colour: "blue", values: [0, 0] }] as const;
  assert.equal(inWords({ ...chart, series }), "Queue age. Nothing on these days.");
});
