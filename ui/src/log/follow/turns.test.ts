import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./turns";

test("so many are let in, and the next when one has gone", () => {
  const turns = new Turns(2);
  const begun: string[] = [];
  const take = (name: string) => turns.take(() => (begun.push(name), () => undefined));
  const [endA, , endC] = [take("a"), take("b"), take("c"), take("d")];
  assert.deepEqual(begun, ["a", "b"]);
  endC!(); // has not begun, and never will
  endA!();
  assert.deepEqual(begun, ["a", "b", "d"]);
});

test("ending twice lets in one", () => {
  const turns = new Turns(1);
  const begun: string[] = [];
  const take = (name: string) => turns.take(() => (begun.push(name), () => undefined));
  const end = take("a");
  take("b");
  take("c");
  end();
  end();
  assert.deepEqual(begun, ["a", "b"]);
});

test("a waiting log gets the place of the log that has had one longest", async () => {
  const turns = new Turns(2, 5);
  const inside = new Set<string>();
  const take = (name: string) => turns.take(() => (inside.add(name), () => inside.delete(name)));
  const ends = ["a", "b", "c"].map(take);
  assert.deepEqual([...inside], ["a", "b"]);
  while (!inside.has("c")) await new Promise((done) => setTimeout(done));
  assert.deepEqual([...inside], ["b", "c"]);
  while (!inside.has("a")) await new Promise((done) => setTimeout(done));
  assert.equal(inside.size, 2);
  for (const end of ends) end();
  assert.equal(inside.size, 0);
});
