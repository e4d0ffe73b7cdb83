/** Two runs side by side: what they cost and how long they took, the tools they called, and what they said. */

import type { ComponentChildren } from "preact";
import { run } from "../../api/calls";
import type { RunSeen } from "../../api/wire";
import { statusOf, timesOf } from "../../log/derived/row";
import { useLog } from "../../log/follow/logs";
import type { Call, RunState } from "../../log/fold/state";
import { useReading } from "../../state/requests";
import { href } from "../../state/route";
import { lines } from "../../parts/text/difference";
import { brief, duration, money, short, tokens } from "../../parts/text/words";
import { Failure } from "../../frame/failure";
import { Loading, Missing } from "../../frame/states";
import { StatusChip } from "./status";

export function Compare({ one, other }: { one: string; other: string }) {
  const [left, right] = [useLog(one), useLog(other)];
  const states = [left.timeline.now, right.timeline.now] as const;
  const rows = [useRow(one, states[0]), useRow(other, states[1])] as const;
  const failed = rows.find(({ failure }) => failure !== undefined);
  if (rows.some(({ isMissing }) => isMissing))
    return (
      <main class="view page">
        <Missing what="run" to={{ view: "runs" }} name="All runs" />
      </main>
    );
  return (
    <main class="view page">
      <div class="column wide compare">
        <h1>Compare runs</h1>
        <Failure text={left.failure ?? right.failure ?? failed?.failure} again={failed?.again} />
        {(left.seq === 0 || right.seq === 0) && !failed && <Loading />}
        <div class="scroll-x">
          <table aria-label="Comparison">
            <thead>
              <tr>
                <th />
                {[one, other].map((id) => (
                  <th key={id}>
                    <a class="mono" href={href({ view: "runs", id })}>
                      {short(id)}
                    </a>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {FACTS.map(([name, of]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {states.map((state, place) => (
                    <td key={place}>{of(state, rows[place]?.value)}</td>
                  ))}
                </tr>
              ))}
              <tr>
                <th scope="row">tools</th>
                {states.map((state, place) => (
                  <td key={place}>
                    <Tools calls={callsOf(state)} />
                  </td>
                ))}
              </tr>
            </tbody>
          </table>
        </div>
        <h2>Text</h2>
        <pre class="changed-text" aria-label="Difference of the texts" role="note" tabIndex={0}>
          {lines(textOf(states[0]), textOf(states[1])).map(({ kind, text }, place) =>
            kind === "same" ? (
              <span key={place}>{`${text}\n`}</span>
            ) : kind === "gone" ? (
              <del key={place}>{`${text}\n`}</del>
            ) : (
              <ins key={place}>{`${text}\n`}</ins>
            ),
          )}
        </pre>
      </div>
    </main>
  );
}

/** The run itself, which tells when a worker took it. */
const useRow = (id: string, state: RunState) => useReading(() => run(id), [id, state.status]);

type Fact = [name: string, of: (state: RunState, row: RunSeen | undefined) => ComponentChildren];

const FACTS: Fact[] = [
  ["agent", (state) => state.agent],
  ["status", (state, row) => <Status status={statusOf(state, row)} />],
  ["in the queue", (_, row) => time(row && timesOf(row).waited)],
  ["took", (_, row) => time(row && timesOf(row).took)],
  ["tokens", (state) => (state.seq > 0 ? tokens(state.usage) : "–")],
  ["cost", (state) => (state.seq > 0 ? money(state.usage.usd) : "–")],
  ["error", (state) => state.error?.code ?? "–"],
];

const time = (ms: number | undefined): string => (ms === undefined ? "–" : duration(ms));
const Status = ({ status }: { status: ReturnType<typeof statusOf> }) => (status ? <StatusChip status={status} /> : "–");

const callsOf = (state: RunState): Call[] => state.items.filter((item) => item.kind === "call");
const textOf = (state: RunState): string =>
  state.items.flatMap((item) => (item.kind === "text" ? [item.text.trim()] : [])).join("\n\n");

function Tools({ calls }: { calls: Call[] }) {
  if (calls.length === 0) return <span class="faint">none</span>;
  return (
    <ol class="tool-list">
      {calls.map((call) => (
        <li key={call.key}>
          <code>{call.tool}</code> <span class="faint">{brief(call.input, 60)}</span>
        </li>
      ))}
    </ol>
  );
}
