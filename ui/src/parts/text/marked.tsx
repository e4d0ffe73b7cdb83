/** Text with the words that a search found. Marks count characters as people do, not the halves that scripts see. */

import type { Marks } from "../../api/wire";

export function Marked({ text, marks }: { text: string; marks: Marks }) {
  return <>{pieces(text, marks).map(([piece, isHit], at) => (isHit ? <mark key={at}>{piece}</mark> : piece))}</>;
}

/** The pieces of a text, and whether each was found. Pure. */
export function pieces(text: string, marks: Marks): [piece: string, isHit: boolean][] {
  const characters = Array.from(text);
  const found: [string, boolean][] = [];
  const add = (from: number, to: number, isHit: boolean) => {
    if (to > from) found.push([characters.slice(from, to).join(""), isHit]);
  };
  let at = 0;
  for (const [start, end] of marks) {
    add(at, start, false);
    add(Math.max(at, start), end, true);
    at = Math.max(at, end);
  }
  add(at, characters.length, false);
  return found;
}
