/** Reads of one value that may overlap: only the newest counts. */

export type Read<T> = { value: T } | { error: unknown };

export class Newest {
  private begun = 0;
  private ended = 0;

  /** Whether the newest read is under way. */
  get isOpen(): boolean {
    return this.ended < this.begun;
  }

  /** What `read` returned or threw; undefined if another read began meanwhile, or `drop` was called. */
  async take<T>(read: () => Promise<T>): Promise<Read<T> | undefined> {
    const mine = ++this.begun;
    const found = await read().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (mine !== this.begun) return undefined;
    this.ended = mine;
    return found;
  }

  /** Ignore the read that is under way. */
  drop(): void {
    this.ended = ++this.begun;
  }
}
