/**
 * Formulas in Markdown: `$$…$$`, `\[…\]`, `\(…\)`, and `$…$` if it is clearly one. A formula that is still being
 * written is a token too, so that its signs are not read as Markdown until its end has come. Pure.
 */

import type { TokenizerAndRendererExtension, Tokens } from "marked";

export type MathToken = Tokens.Generic & { type: "math" | "mathLine"; tex: string; display: boolean; isOpen: boolean };

const BLOCK = /^ {0,3}(?:\$\$([^]+?)\$\$|\\\[([^]+?)\\\])[ \t]*(?:\n|$)/;
const OPEN_BLOCK = /^ {0,3}(?:\$\$|\\\[)((?:(?!\n[ \t]*\n)[^])*)$/;
const BLOCK_START = /(?:^|\n) {0,3}(?:\$\$|\\\[)/;

const DOUBLE = /^\$\$((?:[^$\\]|\\[^])+?)\$\$/;
const BRACKETS = /^\\\[([^]+?)\\\]/;
const PARENTHESES = /^\\\(([^]+?)\\\)/;
const OPEN_PARENTHESES = /^\\\(([^]*)$/;
const SINGLE = /^\$(?![\s$])((?:[^$\n`\\]|\\[^\n])*?[^\s$\\`])\$(?![\w$])/;

/** Prices and names of variables have a dollar too: a formula is a letter, or has a sign that prose does not have. */
const isClearly = (tex: string): boolean =>
  tex.length <= 200 && (/^[A-Za-z]$/.test(tex) || /[\\^_=<>+]/.test(tex) || /^[A-Za-z]\([^()]*\)$/.test(tex));

const token = (type: MathToken["type"], raw: string, tex: string, display: boolean, isOpen = false): MathToken => ({
  type,
  raw,
  tex: tex.trim(),
  display,
  isOpen,
});

function blockOf(src: string): MathToken | undefined {
  const closed = BLOCK.exec(src);
  const tex = closed?.[1] ?? closed?.[2];
  if (closed && tex?.trim()) return token("math", closed[0], tex, true);
  const open = OPEN_BLOCK.exec(src);
  return open?.[1]?.trim() ? token("math", open[0], open[1], true, true) : undefined;
}

function inlineOf(src: string): MathToken | undefined {
  const display = DOUBLE.exec(src) ?? BRACKETS.exec(src);
  if (display?.[1]?.trim()) return token("mathLine", display[0], display[1], true);
  const inline = PARENTHESES.exec(src);
  if (inline?.[1]?.trim()) return token("mathLine", inline[0], inline[1], false);
  const open = OPEN_PARENTHESES.exec(src);
  if (open?.[1]?.trim()) return token("mathLine", open[0], open[1], false, true);
  const single = SINGLE.exec(src);
  return single?.[1] && isClearly(single[1]) ? token("mathLine", single[0], single[1], false) : undefined;
}

/** The extensions of marked. `draw` makes the HTML of a formula. */
export function mathExtensions(draw: (token: MathToken) => string): TokenizerAndRendererExtension[] {
  const renderer = (found: Tokens.Generic) => draw(found as MathToken);
  return [
    {
      name: "math",
      level: "block",
      start: (src) => BLOCK_START.exec(src)?.index,
      tokenizer: (src) => blockOf(src),
      renderer,
    },
    {
      name: "mathLine",
      level: "inline",
      start: (src) => /\$|\\[([]/.exec(src)?.index,
      tokenizer: (src) => inlineOf(src),
      renderer,
    },
  ];
}
