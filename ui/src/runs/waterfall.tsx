/** A run's time as bars, one row each. A click goes to the event that began it. */

import { useEffect, useState } from "preact/hooks";
import { scaleOf, type Scale } from "../log/scale";
import type { Bar, BarKind, Waterfall } from "../log/waterfall";
import { duration } from "../text/words";

const MOST = 200;
const THINNEST = 0.004;
const WORDS: Record<BarKind, string> = { queue: "queue", step: "step", tool: "tool", person: "person" };

type Charted = { shape: Waterfall; isOver: boolean; at: number | undefined; choose: (seq: number) => void };

export function WaterfallChart({ shape, isOver, at, choose }: Charted) {
  const now = useNow(!isOver);
  const to = isOver ? shape.to : Math.max(shape.to, now);
  const scale = scaleOf(shape, to);
  const percent = (ts: number) => `${100 * scale.at(ts)}%`;
  const bars = shape.bars.slice(-MOST);
  return (
    <section class="waterfall" aria-label="Waterfall">
      <ol>
        {bars.map((bar) => (
          <Row key={bar.key} bar={bar} to={to} scale={scale} choose={choose} />
        ))}
      </ol>
      <div class="over" data-marks={shape.marks.length > 0 || undefined} aria-hidden="true">
        {shape.marks.map((mark) => (
          <i
            key={mark.seq}
            class="attempt"
            data-why={mark.why}
            style={{ left: percent(mark.at) }}
            title={`attempt ${mark.attempt}: ${mark.why}`}
          />
        ))}
        {at !== undefined && <i class="now" style={{ left: percent(at) }} />}
      </div>
      <p class="axis faint">
        <span>0</span>
        {scale.isShortened && <span>waits for people are drawn shorter</span>}
        <span>{duration(to - shape.from)}</span>
      </p>
      {shape.marks.length > 0 && (
        <p class="faint attempts">
          {shape.marks.map(({ seq, attempt, why }) => (
            <button key={seq} type="button" class="quiet small" onClick={() => choose(seq)}>
              attempt {attempt}, after a {why}
            </button>
          ))}
        </p>
      )}
    </section>
  );
}

type Drawn = { bar: Bar; to: number; scale: Scale; choose: (seq: number) => void };

function Row({ bar, to, scale, choose }: Drawn) {
  const took = bar.to === undefined ? "going on" : duration(bar.to - bar.from);
  const left = Math.min(scale.at(bar.from), 1 - THINNEST);
  const width = Math.max(scale.at(bar.to ?? to) - left, THINNEST);
  return (
    <li>
      <button type="button" data-kind={bar.kind} data-failed={bar.failed || undefined} onClick={() => choose(bar.seq)}>
        <span class="label">
          <span class="unseen">{WORDS[bar.kind]} </span>
          {bar.label}
        </span>
        <span class="track">
          <i
            class="bar-piece"
            data-shortened={(bar.kind === "person" && scale.isShortened) || undefined}
            style={{ left: `${100 * left}%`, width: `${100 * width}%` }}
          />
        </span>
        <span class="took faint">{took}</span>
      </button>
    </li>
  );
}

function useNow(isOn: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isOn]);
  return now;
}
