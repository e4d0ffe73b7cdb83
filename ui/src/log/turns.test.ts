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
