import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "./marked";

test("the words that were found are apart from the rest, also behind characters of two halves", () => {
  const text = "🚢 boats sail, boats sink";
  assert.deepEqual(pieces(text, [[2, 7], [14, 19]]), [
    ["🚢 ", false],
    ["boats", true],
    [" sail, ", false],
    ["boats", true],
    [" sink", false],
  ]);
  assert.deepEqual(pieces("boats", [[0, 5]]), [["boats", true]]);
  assert.deepEqual(pieces("boats", []), [["boats", false]]);
});
