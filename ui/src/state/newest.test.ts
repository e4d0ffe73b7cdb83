import assert from "node:assert/strict";
import { test } from "node:test";
import { Newest } from "./newest";

test("only the newest read counts, and it is known to be under way until it has ended", async () => {
  const newest = new Newest();
  assert.equal(newest.isOpen, false);
  let end = (_: string): void => undefined;
  const old = newest.take(() => Promise.resolve("old"));
  const young = newest.take(() => new Promise<string>((resolve) => (end = resolve)));
  assert.equal(await old, undefined);
  assert.equal(newest.isOpen, true);
  end("young");
  assert.deepEqual(await young, { value: "young" });
  assert.equal(newest.isOpen, false);
});

test("a failed read is over, and a dropped one is not returned", async () => {
  const newest = new Newest();
  const error = new Error("away");
  assert.deepEqual(await newest.take(() => Promise.reject(error)), { error });
  assert.equal(newest.isOpen, false);
  const dropped = newest.take(() => Promise.resolve("late"));
  newest.drop();
  assert.equal(newest.isOpen, false);
  assert.equal(await dropped, undefined);
});
