/**
 * Where a moment is drawn on a waterfall, from 0 to 1. A person may take a day to decide what a program did in a
 * second, and a timer may be set to days; while nothing but that continues, time is drawn shorter, so that the second
 * can still be seen. Pure.
 */

import type { Bar, BarKind, Waterfall } from "./waterfall";

type Span = readonly [from: number, to: number];

const MOST = 0.25; // all waits together, as a part of the rest

/** Kinds of bars in which nothing works. */
const IDLE: ReadonlySet<BarKind> = new Set<BarKind>(["person", "timer", "event"]);
export const isIdle = (bar: Bar): boolean => IDLE.has(bar.kind);

export type Scale = { at: (ts: number) => number; isShortened: boolean };

export function scaleOf({ bars, from }: Waterfall, to: number): Scale {
  const spans = (idle: boolean) =>
    bars
      .filter((bar) => isIdle(bar) === idle)
      .map((bar): Span => [bar.from, Math.min(bar.to ?? to, to)]);
  const waits = without(merged(spans(true)), merged(spans(false)));
  const waited = waits.reduce((sum, span) => sum + length(span), 0);
  const rest = Math.max(1, to - from - waited);
  const factor = waited > 0 ? Math.min(1, (MOST * rest) / waited) : 1;
  const before = (ts: number) => waits.reduce((sum, [begin, end]) => sum + Math.max(0, Math.min(ts, end) - begin), 0);
  const drawn = (ts: number) => ts - from - (1 - factor) * before(ts);
  const whole = Math.max(1, drawn(to));
  return { at: (ts) => drawn(Math.min(Math.max(ts, from), to)) / whole, isShortened: factor < 1 };
}

const length = ([from, to]: Span): number => Math.max(0, to - from);

/** The same time in spans that do not touch. */
function merged(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
    const last = found.at(-1);
    if (last && from <= last[1]) found[found.length - 1] = [last[0], Math.max(last[1], to)];
    else found.push([from, to]);
  }
  return found;
}

function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  return others.reduce<Span[]>(
    (left, [begin, end]) =>
      left
        .flatMap(([from, to]): Span[] => [
          [from, Math.min(to, begin)],
          [Math.max(from, end), to],
        ])
        .filter((span) => length(span) > 0),
    [...spans],
  );
}
