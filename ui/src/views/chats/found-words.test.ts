import assert from "node:assert/strict";
import { test } from "node:test";
import { placesOf } from "./found-words";

const wordsOf = (text: string, query: string) => placesOf(text, query).map(([start, end]) => text.slice(start, end));

test("words are found by their beginning, in any case, and not in the middle of others", () => {
  assert.deepEqual(wordsOf("Herons of Lisbon, not sherons; HERONRY", "lisb hero"), ["Herons", "Lisbon", "HERONRY"]);
  assert.deepEqual(wordsOf("Zürich zu zürnen", "zü"), ["Zürich", "zürnen"]);
});

test("what is no word is not searched", () => {
  assert.deepEqual(wordsOf("a.b (c) [d]", "( [ . *"), []);
  assert.deepEqual(wordsOf("a.b (c) [d]", "a.b"), ["a", "b"]);
});
