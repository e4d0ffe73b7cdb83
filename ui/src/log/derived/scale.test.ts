import assert from "node:assert/strict";
import { test } from "node:test";
import { scaleOf } from "./scale";
import type { Bar, BarKind, Waterfall } from "./waterfall";

const bar = (kind: BarKind, from: number, to: number): Bar => ({
  key: `${from}`,
  kind,
  label: "",
  from,
  to,
  seq: 1,
  failed: false,
});
const shape = (from: number, to: number, ...bars: Bar[]): Waterfall => ({ bars, marks: [], from, to });

test("without people time is drawn as it is", () => {
  const scale = scaleOf(shape(0, 100, bar("step", 0, 50), bar("tool", 50, 100)), 100);
  assert.deepEqual([0, 25, 50, 100].map(scale.at), [0, 0.25, 0.5, 1]);
  assert.equal(scale.isShortened, false);
});

test("a day of waiting leaves four fifths of the width to the second of work", () => {
  const day = 86_400_000;
  const scale = scaleOf(
    shape(0, day + 1000, bar("step", 0, 500), bar("person", 500, day + 500), bar("tool", day + 500, day + 1000)),
    day + 1000,
  );
  assert.equal(scale.isShortened, true);
  assert.equal(Math.round(100 * scale.at(500)), 40);
  assert.equal(Math.round(100 * scale.at(day + 500)), 60);
});

test("time in which something else runs is not shortened", () => {
  const scale = scaleOf(shape(0, 1000, bar("tool", 0, 1000), bar("person", 0, 900)), 1000);
  assert.equal(scale.at(500), 0.5);
});

test("a later moment is never drawn before an earlier one", () => {
  const scale = scaleOf(
    shape(0, 9000, bar("queue", 0, 10), bar("person", 20, 4000), bar("person", 3000, 8000), bar("tool", 5000, 5100)),
    9000,
  );
  const drawn = Array.from({ length: 91 }, (_, n) => scale.at(n * 100));
  assert.deepEqual(
    drawn,
    [...drawn].sort((one, other) => one - other),
  );
  assert.deepEqual([drawn[0], drawn.at(-1)], [0, 1]);
});
