/** The slider through a log, and the way out of the past: a fork. */

import type { RunEvent } from "../../log/events";

type Travelling = {
  seq: number;
  last: number;
  event: RunEvent | undefined;
  move: (seq: number) => void;
  fork: (() => void) | undefined;
  isForking: boolean;
};

export function TimeTravel({ seq, last, event, move, fork, isForking }: Travelling) {
  return (
    <section class="travel" aria-label="Time travel">
      <input
        type="range"
        aria-label="Event"
        aria-valuetext={event ? `${seq}: ${event.type}` : String(seq)}
        min={last === 0 ? 0 : 1}
        max={last}
        value={seq}
        onInput={(input) => move(Number(input.currentTarget.value))}
      />
      <output class="mono">
        {seq} of {last} <span class="faint">{event?.type}</span>
      </output>
      {fork && (
        <button type="button" disabled={isForking || last === 0} onClick={fork}>
          Fork from here
        </button>
      )}
    </section>
  );
}
