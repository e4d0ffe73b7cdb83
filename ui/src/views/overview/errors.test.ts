import assert from "node:assert/strict";
import { test } from "node:test";
import { byCode } from "./errors";

const DAYS = [{ errors: { a: 1, b: 5, c: 2, d: 1 } }, { errors: {} }, { errors: { a: 3, e: 1 } }];

test("the most frequent codes have a row each, all others one together, and no failure is lost", () => {
  const rows = byCode(DAYS);
  assert.deepEqual(
    rows.map(({ name, values }) => [name, values]),
    [
      ["b", [5, 0, 0]],
      ["a", [1, 0, 3]],
      ["c", [2, 0, 0]],
      ["other codes", [1, 0, 1]],
    ],
  );
});

test("without failures there is no row, and few codes need no row for others", () => {
  assert.deepEqual(byCode([{ errors: {} }]), []);
  assert.deepEqual(
    byCode([{ errors: { z: 1 } }]).map(({ name }) => name),
    ["z"],
  );
});
