/** Every event of a run as it is. Only the rows that can be seen exist, so that twenty thousand scroll like twenty. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunEvent } from "../../log/events";
import { CodeBlock, CopyButton } from "../../parts/text/code";
import { brief } from "../../parts/text/words";

const ROW = 26;
const SPARE = 12;

type Listed = {
  events: readonly RunEvent[];
  count: number;
  at: number;
  follows: boolean;
  choose: (seq: number) => void;
};

export function EventList({ events, count, at, follows, choose }: Listed) {
  const [filter, setFilter] = useState("");
  const shown = useMemo(() => matching(events, filter), [count, filter]);
  const chosen = events[at - 1];
  return (
    <section class="events" aria-label="Events">
      <div class="head">
        <input
          type="search"
          aria-label="Filter events"
          placeholder="Filter: tool, approval, a word …"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <span class="faint">{shown.length.toLocaleString()}</span>
        <CopyButton text={() => JSON.stringify(shown, null, 2)} label="Copy as JSON" />
      </div>
      <Rows events={shown} at={at} follows={follows} choose={choose} />
      {chosen && (
        <CodeBlock code={JSON.stringify(chosen, null, 2)} language={`event ${chosen.seq}`} label="Copy event" />
      )}
    </section>
  );
}

function matching(events: readonly RunEvent[], filter: string): readonly RunEvent[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return events.slice();
  return events.filter((event) => {
    const text = `${event.seq} ${event.type} ${JSON.stringify(event.data)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function Rows({ events, at, follows, choose }: Omit<Listed, "count">) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const size = new ResizeObserver(() => setHeight(element.clientHeight));
    size.observe(element);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    const place = events.findIndex((event) => event.seq >= at);
    if (!element || place < 0) return;
    if (follows) element.scrollTop = element.scrollHeight;
    else if (place * ROW < element.scrollTop || (place + 1) * ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = place * ROW - element.clientHeight / 2;
  }, [at, follows, events.length, height]);

  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const visible = events.slice(first, Math.ceil((top + height) / ROW) + SPARE);
  const start = events[0]?.ts ?? 0;
  return (
    <div
      class="rows"
      ref={box}
      tabIndex={0}
      role="list"
      aria-label="Raw events"
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="tall" role="presentation" style={{ height: `${events.length * ROW}px` }}>
        {visible.map((event, place) => (
          <div
            key={event.seq}
            role="listitem"
            class="row"
            data-seq={event.seq}
            aria-setsize={events.length}
            aria-posinset={first + place + 1}
            style={{ transform: `translateY(${(first + place) * ROW}px)` }}
          >
            <button type="button" tabIndex={-1} aria-current={event.seq === at} onClick={() => choose(event.seq)}>
              <span class="seq">{event.seq}</span>
              <span class="time">+{((event.ts - start) / 1000).toFixed(3)}</span>
              <span class="type" data-family={event.type.split(".")[0]}>
                {event.type}
              </span>
              <span class="data">{brief(event.data as never, 120)}</span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}
