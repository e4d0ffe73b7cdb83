import assert from "node:assert/strict";
import { test } from "node:test";
import { highlight } from "./highlight";

const kinds = (code: string, language: string): string =>
  highlight(code, language)
    .filter(({ kind }) => kind !== "plain")
    .map(({ kind, text }) => `${kind} ${text}`)
    .join(" | ");

test("nothing of the code is lost", () => {
  for (const code of ["def f(x): # a 'b'\n  return 'c' + 1", "`${a}` /* open", "'''x\n", 'select "a" -- b\n'])
    for (const language of ["python", "ts", "sql", ""])
      assert.equal(
        highlight(code, language)
          .map(({ text }) => text)
          .join(""),
        code,
      );
});

test("comments, strings, numbers and keywords are told apart, by language", () => {
  assert.equal(kinds("return 'a # b' # c", "python"), "keyword return | string 'a # b' | comment # c");
  assert.equal(kinds("const a = 12; // b", "ts"), "keyword const | number 12 | comment // b");
  assert.equal(kinds("SELECT 1 -- b", "sql"), "keyword SELECT | number 1 | comment -- b");
});
