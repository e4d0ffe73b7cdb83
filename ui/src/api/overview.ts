/** The state of the whole installation with the scope `operate`, otherwise of the owner's runs. */

import type { Status } from "../log/events";
import { runs } from "./calls";
import { get, Problem, send } from "./http";

const MOST = 100;

/** A count, or "100+" if there are more than were counted. */
export type Counted = number | string;
export type Seen = { queued: Counted; running: Counted; waiting: Counted; perSecond?: number };

let isOperator = true;

export async function overview(): Promise<Seen> {
  if (!isOperator) return own();
  try {
    const [all, speed] = await Promise.all([whole(), perSecond()]);
    return { ...all, perSecond: speed };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 403) throw error;
    isOperator = false;
    return own();
  }
}

async function whole(): Promise<Seen> {
  const seen = await get<{ queued: number; running: number; approvals_waiting: number }>("/api/overview");
  return { queued: seen.queued, running: seen.running, waiting: seen.approvals_waiting };
}

async function own(): Promise<Seen> {
  const [queued, running, waiting] = await Promise.all([count("queued"), count("running"), count("waiting")]);
  return { queued, running, waiting };
}

async function count(status: Status): Promise<Counted> {
  const page = await runs({ status, limit: MOST });
  const found = page.runs.filter((run) => status === "waiting" || !run.waiting); // those that wait are running, too
  return page.next === null ? found.length : `${MOST}+`;
}

let before: { events: number; at: number } | undefined;

/** Events per second since the last look, of the process that answers. */
async function perSecond(): Promise<number> {
  const text = await (await send("/metrics", { headers: { Accept: "text/plain" } })).text();
  const found = /^runyard_events_persisted_total (\S+)$/m.exec(text);
  const now = { events: Number(found?.[1] ?? 0), at: performance.now() };
  const last = before;
  before = now;
  return last === undefined || now.at <= last.at
    ? 0
    : Math.max(0, (1000 * (now.events - last.events)) / (now.at - last.at));
}
