/** Times, durations, sums and JSON, in the words of the page. */

import type { Json, Usage } from "../../log/events";

export function duration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** The time that is left, with the seconds: 3 d 4 h, 1:02:03, 4:05. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24];
  const minutes = Math.floor(seconds / 60) % 60;
  const two = (n: number) => String(n).padStart(2, "0");
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

export function ago(then: string | number, now = Date.now()): string {
  const ms = now - new Date(then).getTime();
  if (ms < 45_000) return "just now";
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min ago`;
  if (ms < 86_400_000) return `${Math.round(ms / 3_600_000)} h ago`;
  return new Date(then).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

export const clock = (then: string | number): string =>
  new Date(then).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });

/** The time of today, or the date with the time. */
export const clockOrDay = (then: number, now = new Date()): string =>
  new Date(then).toDateString() === now.toDateString() ? clock(then) : day(then);

/** The date and the time to the second, with the zone. */
export const exact = (then: string | number): string =>
  new Date(then).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });

/** The day of a time: today, yesterday, or its date. */
export function dayName(then: string | number, now = new Date()): string {
  const day = new Date(then);
  const daysBefore = (count: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - count).toDateString();
  if (day.toDateString() === daysBefore(0)) return "Today";
  if (day.toDateString() === daysBefore(1)) return "Yesterday";
  const isThisYear = day.getFullYear() === now.getFullYear();
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  return day.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long", ...year });
}

export const tokens = (usage: Required<Usage>): string =>
  `${usage.input_tokens.toLocaleString()} in, ${usage.output_tokens.toLocaleString()} out`;

export const money = (usd: number): string =>
  usd === 0 ? "$0" : usd < 0.01 ? `$${usd.toFixed(5)}` : `$${usd.toFixed(2)}`;

/** A value as text: what is text already stays as it is. */
export const shown = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** A value in a few words, for one line. */
export function brief(value: Json | undefined, most = 80): string {
  const text = isPlain(value)
    ? Object.entries(value)
        .map(([name, each]) => `${name}: ${inline(each)}`)
        .join(", ")
    : inline(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/**
 * Control characters, those that change the direction of text, those that fonts draw as nothing, and separators of
 * lines and paragraphs. \n, \r\n and tabs stay.
 */
const UNSEEN =
  /(?![\n\t]|\r\n)[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Bidi_Control}\u2028\u2029\u2800]/gu;

/** The text with characters that cannot be seen escaped as in JSON. A person approves what is on screen. */
export const revealed = (text: string): string =>
  text.replace(UNSEEN, (found) =>
    found
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );

export const isPlain = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const inline = (value: Json | undefined): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).replace(/\s+/g, " ");

export const short = (id: string): string => id.slice(-8);

/** A date with the time: 7 Nov 2026, 14:05. */
export const day = (then: string | number): string =>
  new Date(then).toLocaleString(undefined, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
