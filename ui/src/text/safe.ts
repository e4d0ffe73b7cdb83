/**
 * Markdown as HTML that can do nothing. What a model, a tool or a person wrote is never trusted: of all elements a few
 * harmless ones are left, of all addresses those of the web and of mail, and pictures become links, so that reading an
 * answer asks no server for anything.
 */

import DOMPurify from "dompurify";
import { Marked, type Token } from "marked";

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
const WEB = /^(?:https?:\/\/|mailto:)/i;

const marked = new Marked({ gfm: true, breaks: true });
marked.use({
  renderer: {
    html: ({ text }) => escape(text), // tags in Markdown are words
    image: ({ href, text }) => `<a href="${escape(href)}">${escape(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  if (!WEB.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** The blocks of a text: paragraphs, lists, code ... */
export const blocks = (text: string): Token[] => marked.lexer(text).filter((token) => token.type !== "space");

/** A block as safe HTML. */
export const safeHtml = (block: Token): string =>
  DOMPurify.sanitize(marked.parser([block]), {
    ALLOWED_TAGS: [...TAGS, ...MORE],
    ALLOWED_ATTR: ["href", "start", "align"],
    ALLOWED_URI_REGEXP: WEB,
    ADD_URI_SAFE_ATTR: ["start", "align"], // other attributes are dropped unless they look like an address
  });

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The address, if it is one that may be opened. */
export const webAddress = (text: string): string | undefined => (/^https?:\/\//i.test(text) ? text : undefined);
