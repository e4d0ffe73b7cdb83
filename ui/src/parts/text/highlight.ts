/**
 * The parts of code that have a colour: comments, strings, numbers and keywords. One small rule for many languages; it
 * is loaded when the first block of code is shown. Pure.
 */

export type Part = { kind: "plain" | "comment" | "string" | "number" | "keyword"; text: string };

const KEYWORDS = new Set(
  (
    "abstract and as async await bool break case catch class const continue def default defer del delete do elif " +
    "else enum except export extends false False final finally fn for from func function global go if impl " +
    "implements import in instanceof int interface is lambda let loop match mod mut namespace new nil None not null " +
    "of or package pass private protected pub public raise return select self static str struct super switch this " +
    "throw true True try type typeof undefined union use using var void where while with yield"
  ).split(" "),
);
const SQL = new Set(
  (
    "alter and as asc begin by case commit create delete desc distinct drop else end exists from group having in " +
    "index inner insert into is join left limit not null on or order outer primary right rollback select set " +
    "table then union unique update values when where with"
  ).split(" "),
);
const HASH = /^(py|python|sh|bash|shell|zsh|yaml|yml|toml|ruby|rb|r|dockerfile|makefile|perl|ini)$/i;
const DASH = /^(sql|lua|haskell|hs)$/i;
const SLASH = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/;
const STRING = /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?/;
const REST = /\b\d[\w.]*|[A-Za-z_]\w*|\s+|[^]/;

export function highlight(code: string, language: string): Part[] {
  const comment = HASH.test(language) ? /#[^\n]*/ : DASH.test(language) ? /--[^\n]*/ : SLASH;
  const isKeyword = (text: string) => (/sql/i.test(language) ? SQL.has(text.toLowerCase()) : KEYWORDS.has(text));
  const pattern = new RegExp(`(${comment.source})|(${STRING.source})|${REST.source}`, "g");
  const kindOf = (text: string, commented: string | undefined, quoted: string | undefined): Part["kind"] => {
    if (commented) return "comment";
    if (quoted) return "string";
    return /^\d/.test(text) ? "number" : isKeyword(text) ? "keyword" : "plain";
  };
  const parts: Part[] = [];
  for (const [text, commented, quoted] of code.matchAll(pattern)) {
    const kind = kindOf(text, commented, quoted);
    const last = parts.at(-1);
    if (last?.kind === "plain" && kind === "plain") last.text += text;
    else parts.push({ kind, text });
  }
  return parts;
}
