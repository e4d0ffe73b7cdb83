/** The tracebacks of what the agent's own code raised, up to the event at the slider. */

import type { RunEvent } from "../../log/events";
import { CodeBlock } from "../../parts/text/code";

export function Tracebacks({ events, choose }: { events: readonly RunEvent[]; choose: (seq: number) => void }) {
  const found = events.flatMap((event) => {
    const text = "traceback" in event.data ? event.data.traceback : undefined;
    return text ? [{ event, text }] : [];
  });
  if (found.length === 0) return null;
  return (
    <section class="tracebacks" aria-label="Tracebacks">
      {found.map(({ event, text }, place) => (
        <details key={event.seq} open={place === found.length - 1}>
          <summary>
            Traceback: <span class="mono">{text.trimEnd().split("\n").at(-1)}</span>
          </summary>
          <CodeBlock code={text.trimEnd()} language={`${whereOf(event)}, event ${event.seq}`} label="Copy traceback" />
          <button type="button" class="quiet small" onClick={() => choose(event.seq)}>
            Go to event {event.seq}
          </button>
        </details>
      ))}
    </section>
  );
}

function whereOf(event: RunEvent): string {
  if (event.type === "tool.finished") return `tool ${event.data.tool}`;
  return event.type === "step.finished" ? `step ${event.data.name}` : "agent";
}
