/** Whether a card can be read as it lies on the screen, and bringing it there. */

const SLACK = 1; // browsers round to parts of a pixel

function viewOf(card: HTMLElement): { top: number; bottom: number } {
  const box = card.closest(".view")?.getBoundingClientRect();
  return { top: Math.max(0, box?.top ?? 0), bottom: Math.min(innerHeight, box?.bottom ?? innerHeight) };
}

const fits = (card: HTMLElement): boolean => {
  const { top, bottom } = viewOf(card);
  return card.getBoundingClientRect().height <= bottom - top + SLACK;
};

/** The whole card is visible; of a card that is taller than the view, its end, where the buttons are. */
export function isInView(card: HTMLElement): boolean {
  const view = viewOf(card);
  const box = card.getBoundingClientRect();
  const hasEnd = box.bottom <= view.bottom + SLACK && box.bottom > view.top;
  return hasEnd && (box.top >= view.top - SLACK || !fits(card));
}

/** Scroll as little as needed. Of a card that is taller than the view, show the `side` that is asked for. */
export function bringIntoView(card: HTMLElement, side: "start" | "end"): void {
  card.scrollIntoView({ block: fits(card) ? "nearest" : side, behavior: "instant" });
}
