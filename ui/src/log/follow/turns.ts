/**
 * Admits a few logs at a time, in order of arrival. No log waits forever: the log that has had a place
 * longest gives it up when another has waited too long.
 */

type Begin = () => () => void;
type Guest = { begin: Begin; end: (() => void) | undefined };

export class Turns {
  private readonly inside: Guest[] = [];
  private readonly waiting: Guest[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly places: number,
    private readonly patienceMs = Infinity,
  ) {}

  /** `begin` is called when it is its turn, perhaps more than once, and returns how to end it; so does this. */
  take(begin: Begin): () => void {
    const guest: Guest = { begin, end: undefined };
    this.waiting.push(guest);
    this.fill();
    return () => this.leave(guest);
  }

  private fill(): void {
    while (this.inside.length < this.places) {
      const guest = this.waiting.shift();
      if (guest === undefined) break;
      this.inside.push(guest);
      guest.end = guest.begin();
    }
    this.watch();
  }

  private leave(guest: Guest): void {
    remove(this.waiting, guest);
    if (!remove(this.inside, guest)) return;
    guest.end?.();
    this.fill();
  }

  private watch(): void {
    clearTimeout(this.timer);
    if (this.waiting.length > 0 && this.patienceMs < Infinity)
      this.timer = setTimeout(() => this.change(), this.patienceMs);
  }

  private change(): void {
    const longest = this.inside.shift();
    if (longest === undefined) return;
    longest.end?.();
    this.waiting.push(longest);
    this.fill();
  }
}

function remove<T>(from: T[], item: T): boolean {
  const place = from.indexOf(item);
  if (place >= 0) from.splice(place, 1);
  return place >= 0;
}
