/** All runs, newest first. */

import { useState } from "preact/hooks";
import { runs } from "../api/calls";
import type { RunRow } from "../api/wire";
import { useReading } from "../requests";
import type { Status } from "../log/events";
import { href } from "../route";
import { ago, duration, short } from "../text/words";
import { StatusChip } from "./status";
import { Failure } from "../frame/failure";

const STATUSES: Status[] = ["queued", "running", "waiting", "done", "error", "canceled"];
const EVERY = 3000;
const PAGE = 50;

export function RunList() {
  const [status, setStatus] = useState<Status>();
  const [limit, setLimit] = useState(PAGE);
  const { value: page, failure } = useReading(() => runs({ ...(status && { status }), limit }), [status, limit], EVERY);
  return (
    <main class="view page">
      <div class="column wide">
        <div class="head">
          <h1>Runs</h1>
          <label class="inline">
            Status
            <select
              value={status ?? ""}
              onChange={(event) => setStatus((event.currentTarget.value || undefined) as Status | undefined)}
            >
              <option value="">all</option>
              {STATUSES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        </div>
        <Failure text={failure} />
        <div class="scroll-x">
          <table aria-label="Runs">
            <thead>
              <tr>
                <th>run</th>
                <th>agent</th>
                <th>status</th>
                <th class="number">events</th>
                <th class="number">in the queue</th>
                <th class="number">took</th>
                <th>began</th>
              </tr>
            </thead>
            <tbody>
              {page?.runs.map((row) => (
                <Row key={row.run_id} row={row} />
              ))}
            </tbody>
          </table>
        </div>
        {page?.runs.length === 0 && <p class="faint pad">There is no such run.</p>}
        {page?.next && limit < 200 && (
          <button type="button" class="quiet" onClick={() => setLimit(limit + PAGE)}>
            Earlier runs
          </button>
        )}
      </div>
    </main>
  );
}

function Row({ row }: { row: RunRow }) {
  return (
    <tr>
      <td>
        <a class="mono" href={href({ view: "runs", id: row.run_id })}>
          {short(row.run_id)}
        </a>
      </td>
      <td>{row.agent}</td>
      <td>
        <StatusChip status={row.waiting ? "waiting" : row.status} />
      </td>
      <td class="number">{row.last_seq.toLocaleString()}</td>
      <td class="number">{between(row.created_at, row.started_at)}</td>
      <td class="number">{between(row.started_at, row.finished_at)}</td>
      <td class="faint">{ago(row.created_at)}</td>
    </tr>
  );
}

const between = (from: string | null, to: string | null): string =>
  from && to ? duration(Math.max(0, Date.parse(to) - Date.parse(from))) : "";
