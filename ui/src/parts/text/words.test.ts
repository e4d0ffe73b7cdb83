import assert from "node:assert/strict";
import { test } from "node:test";
import { question, titleOf } from "../run/wait";
import { Input, partsOf } from "./input";
import { clock, clockOrDay, duration, revealed, shown } from "./words";

test("a duration has no unit that is full", () => {
  const told = {
    0.4: "0 ms",
    999.4: "999 ms",
    999.6: "1.0 s",
    9949: "9.9 s",
    9960: "10 s",
    59_400: "59 s",
    59_600: "1 min 0 s",
    119_700: "2 min 0 s",
    3_599_700: "1 h 0 min",
    86_400_000: "24 h 0 min",
    172_800_000: "2 days",
  };
  for (const [ms, words] of Object.entries(told)) assert.equal(duration(Number(ms)), words);
});

test("a time has its date, unless it is today", () => {
  const now = new Date(2026, 10, 19, 21, 0);
  const [today, before] = [new Date(2026, 10, 19, 5, 33), new Date(2026, 10, 18, 5, 33)];
  assert.equal(clockOrDay(today.getTime(), now), clock(today.getTime()));
  assert.match(clockOrDay(before.getTime(), now), /18.*2026/);
});

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

test("letters that fonts draw as nothing are shown as escapes", () => {
  for (const hidden of ["\u034f", "\u115f", "\u1160", "\u17b4", "\u180b", "\u2800", "\u3164", "\ufe0f", "\uffa0"])
    assert.equal(revealed(`a${hidden}b`), `a\\u${hidden.charCodeAt(0).toString(16).padStart(4, "0")}b`);
  assert.equal(revealed("\u{e0100}"), "\\udb40\\udd00");
  assert.equal(revealed("a\rb\r\n"), "a\\u000db\r\n");
});

test("questions and tool names are shown with escapes", () => {
  assert.equal(question({ kind: "question", name: "ask", prompt: "Pay\u202e?" }), "Pay\\u202e?");
  assert.equal(titleOf({ kind: "question", name: "ask\u200b" }), "Question ask\\u200b");
  assert.equal(titleOf({ kind: "client_tool", name: "pay\u2800" }), "Client tool pay\\u2800");
  assert.match(question({ kind: "client_tool", name: "pay\u2800" }), /pay\\u2800/);
});

test("an input is copied as it is, not as it is shown", () => {
  const input = { code: "rm\u202e\nls\n", to: "ann\u200b" };
  const blocks = Input({ input }).props.children as { props: { code: string; copied: string } }[];
  assert.deepEqual(
    blocks.map(({ props: { code, copied } }) => [code, copied]),
    [
      ["rm\\u202e\nls", input.code],
      ['{\n  "to": "ann\\u200b"\n}', JSON.stringify({ to: input.to }, null, 2)],
    ],
  );
});
