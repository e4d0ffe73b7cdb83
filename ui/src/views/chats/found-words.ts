/**
 * Marks the words of a search in text that is on screen, without changing it: browsers draw such marks as highlights.
 */

const NAME = "found-words"; // as in the styles

/** The places of words that begin with one of the query's, as the server finds them. Pure. */
export function placesOf(text: string, query: string): [start: number, end: number][] {
  const words = query.match(/[\p{L}\p{N}]+/gu);
  if (words === null) return [];
  const found = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]*`, "giu");
  return [...text.matchAll(found)].map((each) => [each.index, each.index + each[0].length]);
}

/** Mark the words in these elements, instead of those of before, and return their places. */
export function markWords(elements: Iterable<Element>, query: string): Range[] {
  const ranges: Range[] = [];
  for (const element of elements) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const [start, end] of placesOf(texts.currentNode.textContent ?? "", query)) {
        const range = new Range();
        range.setStart(texts.currentNode, start);
        range.setEnd(texts.currentNode, end);
        ranges.push(range);
      }
    }
  }
  if ("highlights" in CSS) CSS.highlights.set(NAME, new Highlight(...ranges));
  return ranges;
}

export const unmarkWords = (): void => void ("highlights" in CSS && CSS.highlights.delete(NAME));
