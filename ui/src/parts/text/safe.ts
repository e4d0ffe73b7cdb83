/**
 * Markdown as HTML that can do nothing. What a model, a tool or a person wrote is never trusted: of all elements a few
 * harmless ones are left, of all addresses those of the web and of mail, and pictures become links, so that reading an
 * answer asks no server for anything.
 */

import DOMPurify from "dompurify";
import { Marked, type Token } from "marked";
import { mathExtensions, type MathToken } from "./math";

const TAGS = [
  "a",
  "b",
  "blockquote",
  "br",
  "code",
  "del",
  "em",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "i",
  "li",
  "ol",
  "p",
];
const MORE = ["pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"];
const MATHML = (
  "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle " +
  "msub msubsup msup mtable mtd mtext mtr munder munderover semantics"
).split(" ");
/** Without colours: they would be unreadable on one of the two themes. */
const MATHML_ATTRIBUTES = (
  "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence height largeop lspace " +
  "linethickness mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace " +
  "scriptlevel separator stretchy symmetric voffset width"
).split(" ");
const WEB = /^(?:https?:\/\/|mailto:)/i;

const marked = new Marked({ gfm: true, breaks: true });
marked.use({
  renderer: {
    html: ({ text }) => escape(text), // tags in Markdown are words
    image: ({ href, text }) => `<a href="${escape(href)}">${escape(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
  extensions: mathExtensions((token) => formula(token)),
});

/** What makes MathML of a formula, once it is loaded. */
export type Tex = (tex: string, display: boolean) => string | undefined;
let tex: Tex | undefined;

/** A formula as MathML, or as it was written: until it has an end, until the library is loaded, and if it is wrong. */
function formula({ raw, tex: source, display, isOpen }: MathToken): string {
  const made = isOpen ? undefined : tex?.(source, display);
  return made ?? `<code>${escape(raw.trim())}</code>`;
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  if (!WEB.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** The blocks of a text: paragraphs, lists, code ... */
export const blocks = (text: string): Token[] => marked.lexer(text).filter((token) => token.type !== "space");

/** Whether a block has a formula that can be drawn. */
export function hasMath(block: Token): boolean {
  if (!/\$|\\[([]/.test(block.raw)) return false;
  let found = false;
  marked.walkTokens([block], (token) => {
    if ((token.type === "math" || token.type === "mathLine") && !(token as MathToken).isOpen) found = true;
  });
  return found;
}

/** A block as safe HTML, with formulas drawn by `draw`. */
export function safeHtml(block: Token, draw?: Tex): string {
  tex = draw;
  const plain = ["start", "align", ...(draw ? MATHML_ATTRIBUTES : [])];
  return DOMPurify.sanitize(marked.parser([block]), {
    ALLOWED_TAGS: [...TAGS, ...MORE, ...(draw ? MATHML : [])],
    ALLOWED_ATTR: ["href", ...plain],
    ALLOWED_URI_REGEXP: WEB,
    ADD_URI_SAFE_ATTR: plain, // other attributes are dropped unless they look like an address
  });
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The address, if it is one that may be opened. */
export const webAddress = (text: string): string | undefined => (/^https?:\/\//i.test(text) ? text : undefined);
