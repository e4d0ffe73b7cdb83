/** A run's time as bars, one row each. A click goes to the event that began it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { useLog } from "../../log/follow/logs";
import { isIdle, scaleOf, type Scale } from "../../log/derived/scale";
import { waterfall, type Bar, type BarKind, type Waterfall } from "../../log/derived/waterfall";
import { go, href } from "../../state/route";
import { duration, short } from "../../parts/text/words";

const MOST = 200;
const THINNEST = 0.004;
const MOST_CHILDREN = 8; // whose bars are drawn without being asked for
const DEEPEST = 3;
const WORDS: Record<BarKind, string> = {
  queue: "queue",
  step: "step",
  tool: "tool",
  person: "person",
  child: "child run",
  timer: "timer",
  event: "event",
};

type Charted = { shape: Waterfall; isOver: boolean; at: number | undefined; choose: (seq: number) => void };

export function WaterfallChart({ shape, isOver, at, choose }: Charted) {
  const now = useNow(!isOver);
  const to = isOver ? shape.to : Math.max(shape.to, now);
  const scale = scaleOf(shape, to);
  const percent = (ts: number) => `${100 * scale.at(ts)}%`;
  const bars = shape.bars.slice(-MOST);
  const isOpen = bars.filter((bar) => bar.child).length <= MOST_CHILDREN;
  return (
    <section class="waterfall" aria-label="Waterfall">
      <ol>
        {bars.map((bar) => (
          <Bars key={bar.key} bar={bar} to={to} scale={scale} choose={choose} level={0} isOpen={isOpen} />
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
        <span>{duration(to - shape.from)}</span>
      </p>
      {scale.isShortened && <p class="shortened faint">Waits are drawn shorter.</p>}
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

type Nested = Drawn & { level: number; isOpen: boolean };

/** A bar, and below the bar of a child run the bars of that run, at the same times. */
function Bars({ isOpen, ...drawn }: Nested) {
  const [isShown, setShown] = useState(isOpen);
  const { bar, level } = drawn;
  if (bar.child === undefined) return <Row {...drawn} />;
  const canOpen = level < DEEPEST;
  return (
    <>
      <Row {...drawn} toggle={canOpen ? () => setShown(!isShown) : undefined} isOpen={isShown} />
      {isShown && canOpen && <OfChild {...drawn} child={bar.child} />}
    </>
  );
}

function OfChild({ child, to, scale, level }: Drawn & { level: number; child: string }) {
  const log = useLog(child);
  const shape = useMemo(() => waterfall(log.timeline.events), [log.seq]);
  const open = () => go({ view: "runs", id: child });
  return (
    <>
      {shape.bars.slice(-MOST).map((bar) => (
        <Bars key={bar.key} bar={bar} to={to} scale={scale} choose={open} level={level + 1} isOpen={false} />
      ))}
    </>
  );
}

type Drawn = { bar: Bar; to: number; scale: Scale; choose: (seq: number) => void; level: number };
type Toggled = { toggle?: (() => void) | undefined; isOpen?: boolean };

function Row({ bar, to, scale, choose, level, toggle, isOpen = false }: Drawn & Toggled) {
  const took = bar.to === undefined ? "running" : duration(bar.to - bar.from);
  const left = Math.min(scale.at(bar.from), 1 - THINNEST);
  const width = Math.max(scale.at(bar.to ?? to) - left, THINNEST);
  const shared = {
    type: "button" as const,
    "data-kind": bar.kind,
    "data-failed": bar.failed || undefined,
    onClick: () => choose(bar.seq),
  };
  const track = (
    <>
      <span class="track">
        <i
          class="bar-piece"
          data-shortened={(isIdle(bar) && scale.isShortened) || undefined}
          style={{ left: `${100 * left}%`, width: `${100 * width}%` }}
        />
      </span>
      <span class="took faint">{took}</span>
    </>
  );
  return (
    <li data-level={level} style={{ "--level": level }}>
      {bar.child ? (
        <div class="with-link">
          <span class="label">
            {toggle && (
              <button
                type="button"
                class="quiet toggle"
                aria-expanded={isOpen}
                aria-label={`Bars of run ${short(bar.child)}`}
                onClick={toggle}
              >
                {isOpen ? "▾" : "▸"}
              </button>
            )}
            <a href={href({ view: "runs", id: bar.child })} title={`run ${short(bar.child)}`}>
              {bar.label}
            </a>
          </span>
          <button {...shared} aria-label={`${WORDS[bar.kind]} ${bar.label} ${took}`}>
            {track}
          </button>
        </div>
      ) : (
        <button {...shared}>
          <span class="label">
            <span class="unseen">{WORDS[bar.kind]} </span>
            {bar.label}
          </span>
          {track}
        </button>
      )}
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
