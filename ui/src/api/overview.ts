/** The counts in the bar: of the whole installation with the scope `operate`, otherwise of the owner's runs. */

import type { Status } from "../log/events";
import { runs } from "./calls";
import { get, Problem } from "./http";

const MOST = 100;

/** A count, or "100+" if there are more than were counted. */
export type Counted = number | string;
export type Seen = { queued: Counted; running: Counted; waiting: Counted };

let isOperator = true;

export async function overview(): Promise<Seen> {
  if (!isOperator) return own();
  try {
    return await whole();
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

/** How many runs wait for a person or a client. */
export async function countWaits(): Promise<Counted> {
  const page = await get<{ waits: unknown[]; next: string | null }>("/api/waits", { limit: MOST });
  return page.next === null ? page.waits.length : `${MOST}+`;
}
