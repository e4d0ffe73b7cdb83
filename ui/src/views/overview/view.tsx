/** The dashboard: runs over time, by day and by agent. Of the owner, or of all owners with the scope `operate`. */

import { useState } from "preact/hooks";
import { me, statistics } from "../../api/calls";
import type { Figures, Statistics } from "../../api/wire";
import { Choice } from "../../frame/choice";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";
import { useQuery } from "../../state/query";
import { useReading } from "../../state/requests";
import { duration, money } from "../../parts/text/words";
import { Chart } from "./chart";
import { byCode } from "./errors";

const EVERY = 30_000;
const SPANS = ["7", "14", "30", "90"];

export function Dashboard() {
  const [query, setQuery] = useQuery();
  const change = (part: Readonly<Record<string, string | undefined>>) => setQuery({ ...query, ...part });
  const days = SPANS.find((span) => span === query["days"]) ?? "14";
  const agent = query["agent"];
  const { value: who, failure: unknown, again: askAgain } = useReading(me, []);
  const canSeeAll = who?.scopes.includes("operate") ?? false;
  const isOfAll = query["owners"] === "all" && canSeeAll;
  const isUnsure = query["owners"] === "all" && who === undefined; // it is not known yet what the key may see
  const read = async () =>
    isUnsure ? undefined : statistics({ days: Number(days), agent, all: isOfAll || undefined });
  const reading = useReading(read, [days, agent, isOfAll, isUnsure], EVERY);
  const found = reading.value;
  const failure = isUnsure ? unknown : reading.failure;
  const known = useKnown(found, agent);
  return (
    <main class="view page">
      <div class="column wide overview-page">
        <div class="head">
          <h1>Overview</h1>
          <label class="inline">
            Days
            <select aria-label="Days" value={days} onChange={(event) => change({ days: event.currentTarget.value })}>
              {SPANS.map((span) => (
                <option key={span}>{span}</option>
              ))}
            </select>
          </label>
          <Choice name="Agent" options={known} value={agent} choose={(chosen) => change({ agent: chosen })} />
          {canSeeAll && (
            <label class="inline">
              <input
                type="checkbox"
                checked={isOfAll}
                onChange={(event) => change({ owners: event.currentTarget.checked ? "all" : undefined })}
              />
              All owners
            </label>
          )}
        </div>
        <p class="lead">{isOfAll ? "Runs of all owners." : `Runs of ${who?.owner ?? "yours"}.`}</p>
        <p class="faint">
          Days are in UTC. Deleted runs are not counted. Tokens and cost of a child run count for the run that started
          it.
        </p>
        <Failure text={failure} again={isUnsure ? askAgain : reading.again} />
        {!found && !failure && <Loading />}
        {found && found.days.every(({ runs }) => runs === 0) && <p class="faint">No runs in these days.</p>}
        {found && <Queue found={found} />}
        {found && <Charts found={found} />}
        {found && <Agents found={found} />}
      </div>
    </main>
  );
}

/** The agents to choose from: all that were seen while none was chosen. */
function useKnown(found: Statistics | undefined, chosen: string | undefined): string[] {
  const [known, setKnown] = useState<string[]>([]);
  const names = found?.agents.map(({ agent }) => agent) ?? [];
  const all = [...new Set([...known, ...names, ...(chosen ? [chosen] : [])])].sort();
  if (all.length > known.length) setKnown(all);
  return all;
}

function Queue({ found: { queue } }: { found: Statistics }) {
  if (queue.runs === 0) return <p class="faint">No run waits in the queue.</p>;
  const runs = queue.runs === 1 ? "1 run waits" : `${whole(queue.runs)} runs wait`;
  return (
    <p>
      {runs} in the queue{queue.oldest_ms === null ? "." : `, the oldest for ${duration(queue.oldest_ms)}.`}
    </p>
  );
}

const failed = ({ errors }: Figures): number => Object.values(errors).reduce((sum, count) => sum + count, 0);
const whole = (value: number): string => Math.round(value).toLocaleString();

function Charts({ found: { days } }: { found: Statistics }) {
  const names = days.map(({ day }) => day);
  const of = (value: (day: Figures) => number | null) => days.map(value);
  const codes = byCode(days);
  return (
    <div class="charts">
      <Chart
        title="Runs"
        days={names}
        format={whole}
        series={[
          { name: "runs", colour: "blue", values: of((day) => day.runs) },
          { name: "failed", colour: "red", values: of(failed) },
        ]}
      />
      {codes.length > 0 && <Chart title="Errors" days={names} format={whole} series={codes} isStacked />}
      <Chart
        title="Duration"
        days={names}
        format={duration}
        hasZero
        series={[
          { name: "p95", colour: "amber", values: of((day) => day.took_p95_ms) },
          { name: "p50", colour: "accent", values: of((day) => day.took_p50_ms) },
        ]}
      />
      <Chart
        title="First token"
        days={names}
        format={duration}
        hasZero
        series={[
          { name: "p95", colour: "amber", values: of((day) => day.first_token_p95_ms) },
          { name: "p50", colour: "accent", values: of((day) => day.first_token_p50_ms) },
        ]}
      />
      <Chart
        title="Queue age, p95"
        days={names}
        format={duration}
        hasZero
        series={[{ name: "waited", colour: "amber", values: of((day) => day.waited_p95_ms) }]}
      />
      <Chart
        title="Tokens"
        days={names}
        format={whole}
        series={[
          { name: "in and out", colour: "blue", values: of(({ usage }) => usage.input_tokens + usage.output_tokens) },
          { name: "out", colour: "accent", values: of(({ usage }) => usage.output_tokens) },
        ]}
      />
      <Chart
        title="Cost"
        days={names}
        format={money}
        series={[{ name: "cost", colour: "accent", values: of(({ usage }) => usage.usd) }]}
      />
    </div>
  );
}

function Agents({ found: { agents } }: { found: Statistics }) {
  if (agents.length === 0) return <p class="faint">There were no runs in these days.</p>;
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Figures by agent">
      <table aria-label="By agent">
        <thead>
          <tr>
            <th>agent</th>
            <th class="number">runs</th>
            <th class="number">failed</th>
            <th>errors</th>
            <th class="number">duration p50</th>
            <th class="number">duration p95</th>
            <th class="number">first token p50</th>
            <th class="number">first token p95</th>
            <th class="number">queue p95</th>
            <th class="number">tokens</th>
            <th class="number">cost</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((row) => (
            <tr key={row.agent}>
              <th scope="row">{row.agent}</th>
              <td class="number">{whole(row.runs)}</td>
              <td class="number">{whole(failed(row))}</td>
              <td class="faint">{named(row.errors)}</td>
              <td class="number">{took(row.took_p50_ms)}</td>
              <td class="number">{took(row.took_p95_ms)}</td>
              <td class="number">{took(row.first_token_p50_ms)}</td>
              <td class="number">{took(row.first_token_p95_ms)}</td>
              <td class="number">{took(row.waited_p95_ms)}</td>
              <td class="number">{whole(row.usage.input_tokens + row.usage.output_tokens)}</td>
              <td class="number">{money(row.usage.usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const took = (ms: number | null): string => (ms === null ? "–" : duration(ms));
const named = (errors: Figures["errors"]): string =>
  Object.entries(errors)
    .map(([code, count]) => `${code} ${count}`)
    .join(", ");
