/** What is going on at this server, counted from what its API tells. */

import type { Status } from "../log/events";
import { runs } from "./calls";
import { send, type Problem } from "./http";

const MOST = 100;

/** A count, or "100+" if there are more than were counted. */
export type Counted = number | string;
export type Seen = { queued: Counted; running: Counted; waiting: Counted; perSecond?: number };

export async function overview(): Promise<Seen> {
  const [queued, running, waiting, speed] = await Promise.all([count("queued"), count("running"), count("waiting"), perSecond()]);
  return { queued, running, waiting, ...(speed !== undefined && { perSecond: speed }) };
}

async function count(status: Status): Promise<Counted> {
  const page = await runs({ status, limit: MOST });
  return page.next === null ? page.runs.length : `${MOST}+`;
}

let before: { events: number; at: number } | undefined;
let mayRead = true;

/** Events per second since the last look; needs a key that may read metrics. */
async function perSecond(): Promise<number | undefined> {
  if (!mayRead) return undefined;
  const text = await send("/metrics")
    .then((answer) => answer.text())
    .catch((error: Problem) => ((mayRead = error.status !== 403), ""));
  const found = /^runyard_events_persisted_total (\S+)$/m.exec(text);
  if (found === null) return undefined;
  const now = { events: Number(found[1]), at: performance.now() };
  const last = before;
  before = now;
  return last === undefined || now.at <= last.at ? 0 : Math.max(0, (1000 * (now.events - last.events)) / (now.at - last.at));
}
