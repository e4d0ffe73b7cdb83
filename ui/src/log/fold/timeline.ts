/**
 * A log with the state at any seq. States share what they have in common, so one in every few hundred is kept, and any
 * other is a short fold away: a slider can be dragged through twenty thousand events.
 */

import type { RunEvent } from "../events";
import { fold, take } from "./fold";
import { EMPTY, type RunState } from "./state";

const EVERY = 256;

export class Timeline {
  readonly events: RunEvent[] = [];
  private readonly marks: RunState[] = [EMPTY];
  private latest = EMPTY;

  /** The state after all events so far. */
  get now(): RunState {
    return this.latest;
  }

  /** Events follow on each other without a gap; one that is known is not taken twice. */
  add(event: RunEvent): boolean {
    if (event.seq !== this.events.length + 1) return false;
    this.events.push(event);
    this.latest = take(this.latest, event);
    if (event.seq % EVERY === 0) this.marks.push(this.latest);
    return true;
  }

  /** The state after the event `seq`; with 0, the empty one. */
  at(seq: number): RunState {
    const last = Math.max(0, Math.min(seq, this.events.length));
    if (last === this.events.length) return this.latest;
    const mark = this.marks[Math.floor(last / EVERY)] ?? EMPTY;
    return fold(this.events.slice(mark.seq, last), mark);
  }
}
