/**
 * The logs that are on screen. Several views of one run share one stream; it is let go a little after the last of them
 * is gone, and what was read stays, so that coming back shows it at once.
 *
 * A browser opens six connections to a server, for all tabs together. So at most two logs are followed at a time here,
 * and the others wait for their turn, a few seconds at most; one that has ended needs its turn for a moment only.
 */

import { useEffect } from "preact/hooks";
import { part, sentence } from "../../api/http";
import { keyGiven } from "../../api/key";
import { Cell, useCell } from "../../state/cell";
import { isLast, type RunEvent } from "../events";
import { follow } from "./follow";
import { Timeline } from "../fold/timeline";
import { Turns } from "./turns";

export type Log = {
  timeline: Timeline;
  /** The seq that was shown last; changes at most once for every frame of the screen. */
  seq: number;
  isWhole: boolean;
  failure?: string;
};

const LINGER = 2000;
const KEPT = 200; // that no view shows
const PATIENCE = 3000;
const turns = new Turns(2, PATIENCE);
const logs = new Map<string, RunLog>();

class RunLog {
  readonly cell: Cell<Log>;
  private readonly timeline = new Timeline();
  private readers = 0;
  private stop: (() => void) | undefined;
  private isDue = false;

  constructor(private readonly runId: string) {
    this.cell = new Cell<Log>({ timeline: this.timeline, seq: 0, isWhole: false });
  }

  read(): () => void {
    this.readers += 1;
    this.start();
    const forgetKey = keyGiven.watch(() => this.start());
    return () => {
      forgetKey();
      this.readers -= 1;
      setTimeout(() => this.readers === 0 && this.end(), LINGER);
      if (this.readers === 0) forgetOld();
    };
  }

  get isIdle(): boolean {
    return this.readers === 0;
  }

  private start(): void {
    if (this.stop || this.cell.get().isWhole) return;
    this.stop = turns.take(() =>
      follow({
        path: `/api/runs/${part(this.runId)}/log`,
        after: this.timeline.events.length,
        take: (frames) => {
          for (const frame of frames) this.timeline.add(JSON.parse(frame.data) as RunEvent);
          const last = this.timeline.events.at(-1);
          const isWhole = last !== undefined && isLast(last);
          if (isWhole) this.end();
          this.show();
          return isWhole;
        },
        failed: (problem) => {
          this.end();
          this.cell.set({ ...this.cell.get(), failure: sentence(problem) });
        },
      }),
    );
  }

  private end(): void {
    this.stop?.();
    this.stop = undefined;
  }

  /** Draw with the next frame of the screen, or soon, if the tab is in the background. */
  private show(): void {
    if (this.isDue) return;
    this.isDue = true;
    const now = () => {
      if (!this.isDue) return;
      this.isDue = false;
      const last = this.timeline.events.at(-1);
      this.cell.set({ timeline: this.timeline, seq: last?.seq ?? 0, isWhole: last !== undefined && isLast(last) });
    };
    requestAnimationFrame(now);
    setTimeout(now, 200);
  }
}

function logOf(runId: string): RunLog {
  const log = logs.get(runId) ?? new RunLog(runId);
  logs.set(runId, log);
  return log;
}

function forgetOld(): void {
  const idle = [...logs].filter(([, log]) => log.isIdle);
  for (const [runId] of idle.slice(0, -KEPT)) logs.delete(runId);
}

/** The log of a run, followed while the component is there. */
export function useLog(runId: string): Log {
  const log = logOf(runId);
  useEffect(() => log.read(), [log]);
  return useCell(log.cell);
}
