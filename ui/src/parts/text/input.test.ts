import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "./input";
import { revealed, shown } from "./words";

test("every field of an input is shown in its order, whatever its name is", () => {
  const input = JSON.parse('{"a": 1, "__proto__": {"to": "eve"}, "code": "x\\ny", "constructor": {"b": 2}}');
  assert.deepEqual(
    partsOf(input).map(({ name, value }) => [name, JSON.stringify(value)]),
    [
      [undefined, '{"a":1,"__proto__":{"to":"eve"}}'],
      ["code", '"x\\ny"'],
      [undefined, '{"constructor":{"b":2}}'],
    ],
  );
  assert.deepEqual(partsOf({}), [{ value: {} }]);
});

test("what changes the direction of text or has no width is shown as an escape", () => {
  const hidden = "\u202e\u2066\u2069\u200b\u200d\u2060\ufeff\u2028\x1b\x9b\u{e0041}";
  const escapes = ["202e", "2066", "2069", "200b", "200d", "2060", "feff", "2028", "001b", "009b", "db40", "dc41"];
  assert.equal(revealed(`a${hidden}b`), `a${escapes.map((code) => `\\u${code}`).join("")}b`);
  assert.equal(revealed("two\r\nlines,\ta tab, Grüße, שלום, 🚢"), "two\r\nlines,\ta tab, Grüße, שלום, 🚢");
  assert.deepEqual(JSON.parse(revealed(shown({ to: `ann${hidden}` }))), { to: `ann${hidden}` });
});
