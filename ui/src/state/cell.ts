/** A value that can be watched: all the state of the page that is not a log. */

import { useEffect, useState } from "preact/hooks";

export class Cell<T> {
  private readonly watchers = new Set<() => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const watcher of [...this.watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

/** Cells by name, each made when it is first asked for. */
export class Cells<T> {
  private readonly made = new Map<string, Cell<T>>();

  constructor(private readonly first: T) {}

  of(name: string): Cell<T> {
    const cell = this.made.get(name) ?? new Cell(this.first);
    this.made.set(name, cell);
    return cell;
  }
}

/** The value of a cell, in a component that is drawn again when it changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useState<unknown>();
  useEffect(() => {
    const look = () => redraw({});
    look(); // it may have changed before this effect
    return cell.watch(look);
  }, [cell]);
  return cell.get();
}
