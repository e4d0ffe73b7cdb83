/**
 * Follows a stream of the server for as long as a view needs it: opens it, hands over its frames, and when it is cut
 * off opens it again at the last id. Nothing is missed and nothing comes twice: the server keeps every event.
 *
 * A stream that is followed to its end is not opened again; one that the server refuses (no such run, no key) neither.
 */

import { Cell } from "../../state/cell";
import { Problem, send } from "../../api/http";
import { frames, type Frame } from "../../api/sse";
import { isHidden, seen, whenUnseen } from "./attention";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
const SILENCE = 60_000; // the server says something every 15 seconds

export type Following = {
  path: string;
  /** Takes frames; true if that was the last. */
  take: (frames: Frame[]) => boolean;
  failed: (problem: Problem) => void;
  /** Called whenever the stream is open, the first time and after a cut. */
  opened?: () => void;
  after?: number | undefined;
};

/** How many streams are cut off at the moment; the hint on the page shows while there are any. */
export const cutOff = new Cell(0);

export function follow(following: Following): () => void {
  const stop = new AbortController();
  void keepFollowing(following, stop.signal);
  return () => stop.abort();
}

async function keepFollowing({ path, take, failed, opened, after }: Following, stop: AbortSignal): Promise<void> {
  let last = after === undefined ? "" : String(after);
  let wait = FIRST_WAIT;
  const hint = new Hint();
  const taken = (batch: Frame[]): boolean => {
    last = batch.at(-1)?.id || last;
    wait = FIRST_WAIT;
    return take(batch);
  };
  const open = () => {
    hint.hide();
    opened?.();
  };
  while (!stop.aborted) {
    await seen(stop);
    try {
      if (await once(path, last, taken, open, stop)) break;
    } catch (error) {
      if (stop.aborted) break;
      if (error instanceof Problem && isFinal(error.status)) {
        failed(error);
        break;
      }
    }
    if (!isHidden()) hint.show();
    await pause(wait * (0.75 + Math.random() / 2), stop);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  }
  hint.hide();
}

/** Whether a retry cannot succeed. A 429 can. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** One connection; true if it came to the end of the log. */
async function once(
  path: string,
  last: string,
  take: Following["take"],
  open: () => void,
  stop: AbortSignal,
): Promise<boolean> {
  const watch = new Watch(stop);
  try {
    const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
    const response = await send(path, { headers, signal: watch.signal });
    open();
    if (response.status === 204) return true; // the run has ended, and all of it was seen
    if (response.body === null) return false;
    for await (const batch of frames(response.body, watch.heard)) if (take(batch)) return true;
    return false;
  } finally {
    watch.end();
  }
}

/** Cuts a connection without data for too long, as after a laptop slept, or that no view shows. */
class Watch {
  private readonly cut = new AbortController();
  private timer = setTimeout(() => this.cut.abort(), SILENCE);
  readonly signal: AbortSignal;

  constructor(private readonly stop: AbortSignal) {
    this.signal = this.cut.signal;
    stop.addEventListener("abort", this.pass);
  }

  private readonly pass = () => this.cut.abort();
  private readonly forget = whenUnseen(this.pass);

  readonly heard = () => {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.cut.abort(), SILENCE);
  };

  end(): void {
    clearTimeout(this.timer);
    this.forget();
    this.stop.removeEventListener("abort", this.pass);
    this.cut.abort();
  }
}

class Hint {
  private shown = false;

  show(): void {
    if (!this.shown) cutOff.set(cutOff.get() + 1);
    this.shown = true;
  }

  hide(): void {
    if (this.shown) cutOff.set(cutOff.get() - 1);
    this.shown = false;
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    addEventListener("online", () => done(), { once: true, signal: stop });
    stop.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}
