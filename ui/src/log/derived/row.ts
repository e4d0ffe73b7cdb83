/** What the row of a run says: its times, and its status while the log is not read to the end. Pure. */

import type { RunSeen } from "../../api/wire";
import { isOver, type Status } from "../events";
import type { RunState } from "../fold/state";

type Row = Pick<RunSeen, "status" | "created_at" | "started_at" | "finished_at">;

export type Times = {
  created: number;
  /** When a worker took the run first. */
  started: number | undefined;
  finished: number | undefined;
  /** The time in the queue; undefined while the run is there. A run that no worker took was there until its end. */
  waited: number | undefined;
  /** The time from the start to the end. */
  took: number | undefined;
};

/**
 * The views of runs show these times. Events are written a little later, and a fork has copies of events of another
 * run. A chat reads no rows: it shows the time between the first and the last event of a log.
 */
export function timesOf(row: Row): Times {
  const created = Date.parse(row.created_at);
  const started = moment(row.started_at);
  const finished = moment(row.finished_at);
  const waited = between(created, started ?? finished);
  return { created, started, finished, waited, took: between(started, finished) };
}

const moment = (time: string | null): number | undefined => (time === null ? undefined : Date.parse(time));
const between = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Math.max(0, to - from);

/**
 * The status of a run, of which the log may not be read to its end; undefined while nothing is known. A run has started
 * when a worker took it, also if it has said nothing yet.
 */
export function statusOf(state: RunState, row: Row | undefined): Status | undefined {
  if (isOver(state.status)) return state.status;
  if (row && (state.seq === 0 || isOver(row.status))) return row.status;
  if (state.seq === 0) return undefined;
  return state.status === "queued" && state.startedAt === undefined && row?.started_at ? "running" : state.status;
}
