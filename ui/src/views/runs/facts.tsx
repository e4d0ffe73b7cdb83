/** What there is to say about a run in a line. */

import type { Feedback, RunRow } from "../../api/wire";
import type { RunState } from "../../log/fold/state";
import { clock, duration, money, tokens } from "../../parts/text/words";

const SIGNS = { up: "👍", down: "👎" } as const;

type Known = { state: RunState; row: RunRow | undefined; feedback?: Feedback | null | undefined };

export function Facts({ state, row, feedback }: Known) {
  // the times of the row, as the list has them; the events of the log were written a little later
  const created = row ? Date.parse(row.created_at) : state.queuedAt;
  const started = row?.started_at ? Date.parse(row.started_at) : state.startedAt;
  const waited = created !== undefined && started !== undefined ? Math.max(0, started - created) : undefined;
  const finished = state.finishedAt !== undefined && row?.finished_at ? Date.parse(row.finished_at) : state.finishedAt;
  const took = started !== undefined && finished !== undefined ? Math.max(0, finished - started) : undefined;
  const facts: [string, string | undefined][] = [
    ["agent", state.agent],
    ["began", created === undefined ? undefined : clock(created)],
    ["in the queue", waited === undefined ? "still" : duration(waited)],
    ["took", took === undefined ? undefined : duration(took)],
    ["tokens", state.usage.input_tokens + state.usage.output_tokens ? tokens(state.usage) : undefined],
    ["cost", state.usage.usd ? money(state.usage.usd) : undefined],
    ["attempts", String(state.attempt)],
    ["events", state.seq.toLocaleString()],
    ["ended by", state.stopReason],
    ["feedback", feedback ? [SIGNS[feedback.value], feedback.comment].filter(Boolean).join(" ") : undefined],
  ];
  return (
    <section aria-label="Facts">
      <dl class="fact-line">
        {facts.map(([name, value]) =>
          value === undefined || value === "" ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}
