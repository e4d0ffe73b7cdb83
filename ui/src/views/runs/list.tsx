/** Runs, newest first: all, or those that fit a filter. */

import { useMemo, useState } from "preact/hooks";
import { runs } from "../../api/calls";
import type { RunRow } from "../../api/wire";
import { timesOf } from "../../log/derived/row";
import { useQuery } from "../../state/query";
import { useReading } from "../../state/requests";
import { useLater } from "../../state/later";
import { href } from "../../state/route";
import { ago, brief, duration, money, short } from "../../parts/text/words";
import { filterOf, Filters, queryOf, type Filter } from "./filters";
import { StatusChip } from "./status";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";

const EVERY = 3000;
const SEARCH_EVERY = 15_000; // the server reads many runs for a cost or a part of an id
const PAGE = 50;
const MOST_PAGES = 40; // older runs are found by a filter

export function RunList() {
  const [{ pages: shown, ...rest }, setQuery] = useQuery();
  const filter = filterOf(rest);
  const pages = Math.min(MOST_PAGES, Math.max(1, Math.floor(Number(shown)) || 1));
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (id: string, isOn: boolean) =>
    setChosen(isOn ? [...chosen.slice(-1), id] : chosen.filter((each) => each !== id));
  const [one, other] = chosen;
  const key = JSON.stringify(filter);
  const later = useLater(key);
  const wanted = useMemo((): Filter => JSON.parse(later), [later]);
  const every = wanted.cost || wanted.id ? SEARCH_EVERY : EVERY;
  const { value: page, failure, again } = useReading(() => some(wanted, pages), [wanted, pages], every);
  const isFiltered = Object.values(wanted).some(Boolean);
  return (
    <main class="view page">
      <div class="column wide">
        <div class="head">
          <h1>Runs</h1>
          {one && other && (
            <a class="button" href={href({ view: "compare", id: one, other })}>
              Compare
            </a>
          )}
        </div>
        <Filters filter={filter} choose={setQuery} />
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
            {!isFiltered && "No runs yet. "}
            {isFiltered && (page.next ? "None of the newest runs fits. " : "No run fits. ")}
            {!isFiltered && <a href={href({ view: "chats" })}>Talk to an agent</a>}
          </p>
        )}
        {page?.next && pages < MOST_PAGES && (
          <button type="button" class="quiet" onClick={() => setQuery({ ...filter, pages: String(pages + 1) })}>
            Earlier runs
          </button>
        )}
        {page?.next && pages === MOST_PAGES && <p class="faint pad">Older runs: use a filter.</p>}
      </div>
    </main>
  );
}

async function some(filter: Filter, pages: number): Promise<{ runs: RunRow[]; next: string | null }> {
  const query = queryOf(filter);
  const found: RunRow[] = [];
  let next: string | null | undefined;
  for (let page = 0; page < pages && next !== null; page += 1) {
    const some = await runs({ ...query, limit: PAGE, before: next });
    found.push(...some.runs);
    next = some.next;
  }
  return { runs: found, next: next ?? null };
}

type Listed = { row: RunRow; isChosen: boolean; choose: (isOn: boolean) => void };

function Row({ row, isChosen, choose }: Listed) {
  const { waited, took } = timesOf(row);
  return (
    <tr class="link-row">
      <td>
        <input
          type="checkbox"
          aria-label={`Compare run ${short(row.run_id)}`}
          checked={isChosen}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
      </td>
      <td>
        <a class="mono whole-row" href={href({ view: "runs", id: row.run_id })}>
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
      <td class="number">{waited === undefined ? "" : duration(waited)}</td>
      <td class="number">{took === undefined ? "" : duration(took)}</td>
      <td class="number">{row.usage?.usd ? money(row.usage.usd) : ""}</td>
      <td class="faint">{ago(row.created_at)}</td>
    </tr>
  );
}
