/** All runs, newest first. */

import { useState } from "preact/hooks";
import { runs } from "../../api/calls";
import type { RunRow } from "../../api/wire";
import { useReading } from "../../state/requests";
import type { Status } from "../../log/events";
import { href } from "../../state/route";
import { ago, brief, duration, money, short } from "../../parts/text/words";
import { StatusChip } from "./status";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";

const STATUSES: Status[] = ["queued", "running", "waiting", "done", "error", "canceled"];
const EVERY = 3000;
const PAGE = 50;

export function RunList() {
  const [status, setStatus] = useState<Status>();
  const [limit, setLimit] = useState(PAGE);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (id: string, isOn: boolean) =>
    setChosen(isOn ? [...chosen.slice(-1), id] : chosen.filter((each) => each !== id));
  const [one, other] = chosen;
  const {
    value: page,
    failure,
    again,
  } = useReading(() => runs({ ...(status && { status }), limit }), [status, limit], EVERY);
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
          {one && other && (
            <a class="button" role="button" href={href({ view: "compare", id: one, other })}>
              Compare
            </a>
          )}
        </div>
        <Failure text={failure} again={again} />
        {!page && !failure && <Loading />}
        {page && (
          <div class="scroll-x">
            <table aria-label="Runs">
              <thead>
                <tr>
                  <th>
                    <span class="unseen">compare</span>
                  </th>
                  <th>run</th>
                  <th>agent</th>
                  <th>status</th>
                  <th class="number">events</th>
                  <th class="number">in the queue</th>
                  <th class="number">took</th>
                  <th class="number">cost</th>
                  <th>began</th>
                </tr>
              </thead>
              <tbody>
                {page.runs.map((row) => (
                  <Row
                    key={row.run_id}
                    row={row}
                    isChosen={chosen.includes(row.run_id)}
                    choose={(isOn) => choose(row.run_id, isOn)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {page?.runs.length === 0 && (
          <p class="faint pad">
            {status ? `No run is ${status}.` : "No runs yet."} <a href={href({ view: "chats" })}>Talk to an agent</a>
          </p>
        )}
        {page?.next && limit < 200 && (
          <button type="button" class="quiet" onClick={() => setLimit(limit + PAGE)}>
            Earlier runs
          </button>
        )}
      </div>
    </main>
  );
}

type Listed = { row: RunRow; isChosen: boolean; choose: (isOn: boolean) => void };

function Row({ row, isChosen, choose }: Listed) {
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare run ${short(row.run_id)}`}
          checked={isChosen}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
      </td>
      <td>
        <a class="mono" href={href({ view: "runs", id: row.run_id })}>
          {short(row.run_id)}
        </a>
      </td>
      <td>
        {row.agent}
        {row.question && <span class="faint asked-in-row">{brief(row.question, 60)}</span>}
      </td>
      <td>
        <StatusChip status={row.waiting ? "waiting" : row.status} />
      </td>
      <td class="number">{row.last_seq.toLocaleString()}</td>
      <td class="number">{between(row.created_at, row.started_at)}</td>
      <td class="number">{between(row.started_at, row.finished_at)}</td>
      <td class="number">{row.usage?.usd ? money(row.usage.usd) : ""}</td>
      <td class="faint">{ago(row.created_at)}</td>
    </tr>
  );
}

const between = (from: string | null, to: string | null): string =>
  from && to ? duration(Math.max(0, Date.parse(to) - Date.parse(from))) : "";
