import assert from "node:assert/strict";
import { test } from "node:test";
import { changes, lines } from "./difference";

test("a change is named by its place, also inside of objects and lists", () => {
  const before = { to: "ann", cc: ["bob", "eve"], more: { urgent: true, tag: "a" } };
  const after = { to: "ann", cc: ["bob", "dan"], more: { urgent: true }, note: "hi" };
  assert.deepEqual(changes(before, after), [
    { path: "cc.1", before: "eve", after: "dan" },
    { path: "more.tag", before: "a" },
    { path: "note", after: "hi" },
  ]);
});

test("names that every object has are names like any other", () => {
  const before = JSON.parse('{"__proto__": {"to": "eve"}}');
  assert.deepEqual(changes(before, {}), [{ path: "__proto__", before: { to: "eve" } }]);
  assert.deepEqual(changes({}, { constructor: "a" }), [{ path: "constructor", after: "a" }]);
});

test("what stayed is no change, and lists of other lengths are compared whole", () => {
  assert.deepEqual(changes({ a: 1 }, { a: 1 }), []);
  assert.deepEqual(changes({ a: [1] }, { a: [1, 2] }), [{ path: "a", before: [1], after: [1, 2] }]);
});

test("lines that stayed stand between those that went and came", () => {
  const found = lines("one\ntwo\nthree", "one\n2\nthree\nfour");
  assert.equal(found.map(({ kind, text }) => `${kind[0]} ${text}`).join(", "), "s one, g two, n 2, s three, n four");
});
