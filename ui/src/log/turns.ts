/** Lets a few in at a time, in the order in which they came. */

type Begin = () => () => void;

export class Turns {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  /** `begin` is called when it is its turn, and returns how to end it; so does this, at any time. */
  take(begin: Begin): () => void {
    let end: (() => void) | undefined;
    let isOver = false;
    const start = () => {
      if (isOver) return this.next();
      end = begin();
    };
    if (this.free > 0) {
      this.free -= 1;
      start();
    } else {
      this.waiting.push(start);
    }
    return () => {
      if (isOver) return;
      isOver = true;
      if (end === undefined) return; // never began: its place in the line is passed over
      end();
      this.next();
    };
  }

  private next(): void {
    const following = this.waiting.shift();
    if (following) following();
    else this.free += 1;
  }
}
