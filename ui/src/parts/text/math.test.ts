import assert from "node:assert/strict";
import { test } from "node:test";
import { Marked } from "marked";
import { mathExtensions, type MathToken } from "./math";

/** A text with its formulas in brackets: {display}, (inline), and ? after those that have no end yet. */
function read(text: string): string {
  const draw = ({ tex, display, isOpen }: MathToken) => (display ? `{${tex}}` : `(${tex})`) + (isOpen ? "?" : "");
  return (new Marked().use({ extensions: mathExtensions(draw) }).parse(text) as string)
    .replace(/<\/?p>/g, "")
    .trim();
}

test("formulas in all four forms", () => {
  assert.equal(read("so \\(a_1 + b\\) and"), "so (a_1 + b) and");
  assert.equal(read("$$\n\\frac{1}{2}\n$$\n\nthen"), "{\\frac{1}{2}}then");
  assert.equal(read("first\n\\[ x^2 \\]\nlast"), "first\n{x^2}last");
  assert.equal(read("it is $$x_1$$ here"), "it is {x_1} here");
  assert.equal(read("with $x$, $f(x)$ and $a_1 = b_2$."), "with (x), (f(x)) and (a_1 = b_2).");
  assert.equal(read("- one \\(x\\)\n- two"), "<ul>\n<li>one (x)</li>\n<li>two</li>\n</ul>");
});

test("prices, variables, code and escapes are no formulas", () => {
  for (const text of [
    "from $5 to $10",
    "it costs $5, not 6$",
    "$HOME/$USER and $PATH",
    "US$ 5 or A$ 6",
    "a $ b $ c",
    "$ x = 1 $",
    "$$",
  ])
    assert.equal(read(text), text);
  assert.equal(read("`$x$` and `\\(y\\)`"), "<code>$x$</code> and <code>\\(y\\)</code>");
  assert.equal(read("```\n$$x$$\n```"), "<pre><code>$$x$$\n</code></pre>");
});

test("a formula that has no end yet is kept whole, and nothing in it is Markdown", () => {
  assert.equal(read("so $$"), "so $$");
  assert.equal(read("$$\n\\frac{a_1"), "{\\frac{a_1}?");
  assert.equal(read("then \\(a_1 * b_2 * c"), "then (a_1 * b_2 * c)?");
  assert.equal(read("$$ x\n\nA new paragraph"), "$$ x\nA new paragraph");
  const whole = "Let\n\n$$\n\\sum_{i=1}^n *i* = \\frac{n(n+1)}{2}\n$$\n\nas \\(n \\to \\infty\\).";
  for (let end = 1; end <= whole.length; end += 1) assert.doesNotMatch(read(whole.slice(0, end)), /<em>|<h\d|<hr/);
  assert.equal(read(whole), "Let\n{\\sum_{i=1}^n *i* = \\frac{n(n+1)}{2}}as (n \\to \\infty).");
});
