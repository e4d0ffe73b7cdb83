/** What there is to say about a run in a line. */

import type { Feedback, RunSeen } from "../../api/wire";
import { statusOf, timesOf } from "../../log/derived/row";
import type { RunState } from "../../log/fold/state";
import { clockOrDay, duration, money, tokens } from "../../parts/text/words";

const SIGNS = { up: "👍", down: "👎" } as const;

type Known = { state: RunState; row: RunSeen | undefined; feedback: Feedback | null | undefined };

export function Facts({ state, row, feedback }: Known) {
  const times = row && timesOf(row);
  const isQueued = statusOf(state, row) === "queued";
  const facts: [string, string | undefined][] = [
    ["agent", state.agent],
    ["began", times && clockOrDay(times.created)],
    ["in the queue", times?.waited === undefined ? (isQueued ? "still" : undefined) : duration(times.waited)],
    ["took", times?.took === undefined ? undefined : duration(times.took)],
    ["tokens", state.usage.input_tokens + state.usage.output_tokens ? tokens(state.usage) : undefined],
    ["cost", state.usage.usd ? money(state.usage.usd) : undefined],
    ["attempts", state.seq > 0 ? String(state.attempt) : undefined],
    ["events", state.seq > 0 ? state.seq.toLocaleString() : undefined],
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
