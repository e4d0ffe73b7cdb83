/** The questions to models, with what each cost, and its request, rebuilt. */

import { useState } from "preact/hooks";
import type { ModelStep } from "../../log/derived/steps";
import { duration, money } from "../../parts/text/words";
import { RequestDialog } from "./request";

type Shown = { runId: string; steps: readonly ModelStep[]; choose: (seq: number) => void };

export function StepTable({ runId, steps, choose }: Shown) {
  const [open, setOpen] = useState<ModelStep>();
  if (steps.length === 0) return null;
  return (
    <section class="model-steps" aria-label="Model steps">
      <table>
        <thead>
          <tr>
            <th>step</th>
            <th>model</th>
            <th class="number">tokens in</th>
            <th class="number">out</th>
            <th class="number">cost</th>
            <th class="number">took</th>
            <th>
              <span class="unseen">request</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.step}>
              <td>
                <button type="button" class="quiet small mono" onClick={() => choose(step.seq)}>
                  {step.step}
                </button>
              </td>
              <td>{step.model}</td>
              <td class="number">{step.usage.input_tokens.toLocaleString()}</td>
              <td class="number">{step.usage.output_tokens.toLocaleString()}</td>
              <td class="number">{money(step.usage.usd)}</td>
              <td class="number">{step.to === undefined ? "running" : duration(step.to - step.from)}</td>
              <td>
                <button
                  type="button"
                  class="small"
                  aria-label={`Rebuilt request of ${step.step}`}
                  onClick={() => setOpen(step)}
                >
                  Request
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {open && <RequestDialog runId={runId} step={open} close={() => setOpen(undefined)} />}
    </section>
  );
}
