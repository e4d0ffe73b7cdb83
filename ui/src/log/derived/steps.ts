/** The questions to a model in a log: when each was asked, how long the answer took, and what it cost. Pure. */

import type { RunEvent, Usage } from "../events";

export type ModelStep = {
  step: string;
  name: string;
  model: string;
  seq: number; // of the event that began it
  from: number;
  to: number | undefined; // still running
  usage: Required<Usage>;
};

const NONE: Required<Usage> = { input_tokens: 0, output_tokens: 0, usd: 0 };

export function modelSteps(events: Iterable<RunEvent>): ModelStep[] {
  const found = new Map<string, ModelStep>();
  for (const event of events) {
    if (event.type === "step.started" && event.data.model !== undefined) {
      const { step, name, model } = event.data;
      const known = found.get(step); // asked again after a crash
      found.set(step, known ?? { step, name, model, seq: event.seq, from: event.ts, to: undefined, usage: NONE });
    } else if (event.type === "step.finished") {
      const known = found.get(event.data.step);
      if (known) found.set(known.step, { ...known, to: event.ts, usage: { ...NONE, ...event.data.usage } });
    }
  }
  return [...found.values()];
}
