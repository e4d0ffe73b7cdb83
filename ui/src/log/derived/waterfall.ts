/** A log as bars over time: the wait in the queue, steps, tool calls, and everything that the run waited for. Pure. */

import type { RunEvent, WaitKind } from "../events";
import type { Times } from "./row";

/** `person`: also a tool of the client. `timer` and `event`: nothing works meanwhile. */
export type BarKind = "queue" | "step" | "tool" | "person" | "child" | "timer" | "event";

export type Bar = {
  key: string;
  kind: BarKind;
  label: string;
  from: number;
  to: number | undefined; // still running
  seq: number;
  failed: boolean;
  child?: string; // the run that works meanwhile
};

/** The moment an attempt began that was not the first. */
export type Mark = { at: number; seq: number; attempt: number; why: string };

export type Waterfall = { bars: Bar[]; marks: Mark[]; from: number; to: number };

/** `times`: those of the run's row, which are the times in the queue. A fork begins with the events of another run. */
export function waterfall(events: Iterable<RunEvent>, times?: Times): Waterfall {
  const bars: Bar[] = [];
  const marks: Mark[] = [];
  const open = new Map<string, Bar>();
  let from = 0;
  let to = 0;

  const begin = (key: string, kind: BarKind, label: string, event: RunEvent, child?: string) => {
    end(key, event.ts);
    const bar: Bar = {
      key: `${key} ${event.seq}`,
      kind,
      label,
      from: event.ts,
      to: undefined,
      seq: event.seq,
      failed: false,
      ...(child && { child }),
    };
    open.set(key, bar);
    bars.push(bar);
  };
  const end = (key: string, at: number, failed = false) => {
    const bar = open.get(key);
    if (bar === undefined) return;
    Object.assign(bar, { to: Math.max(at, bar.from), failed });
    open.delete(key);
  };

  for (const event of events) {
    from ||= event.ts;
    to = Math.max(to, event.ts);
    if (event.source === "worker") end("queue", event.ts);
    switch (event.type) {
      case "run.queued": {
        const known = event.data.copied ? undefined : times;
        begin("queue", "queue", "in the queue", { ...event, ts: known?.created ?? event.ts });
        from = Math.min(from, known?.created ?? from);
        if (known?.waited !== undefined) end("queue", known.created + known.waited, known.started === undefined);
        break;
      }
      case "run.resumed":
        marks.push({ at: event.ts, seq: event.seq, attempt: event.data.attempt, why: event.data.why });
        break;
      case "step.started":
        begin(`step ${event.data.step}`, "step", event.data.model ?? event.data.name, event);
        break;
      case "step.finished":
        end(`step ${event.data.step}`, event.ts, event.data.error !== undefined);
        break;
      case "tool.started":
        begin(`tool ${event.data.call_id}`, "tool", event.data.tool, event);
        break;
      case "tool.finished":
        end(`tool ${event.data.call_id}`, event.ts, event.data.error !== undefined);
        break;
      case "approval.requested":
        begin(`person ${event.data.approval_id}`, "person", `decision on ${event.data.tool}`, event);
        break;
      case "approval.decided":
        end(`person ${event.data.approval_id}`, event.ts, event.data.decision === "expired");
        break;
      case "wait.requested": {
        const { wait_id, kind, name, prompt, child } = event.data;
        begin(`wait ${wait_id}`, KINDS[kind], kind === "timer" ? "sleep" : (prompt ?? name), event, child);
        break;
      }
      case "wait.answered":
        end(`wait ${event.data.wait_id}`, event.ts, event.data.outcome !== "answered");
        break;
      case "run.finished":
        for (const key of [...open.keys()]) end(key, event.ts, true);
        break;
    }
  }
  return { bars, marks, from, to };
}

const KINDS: Record<WaitKind, BarKind> = {
  question: "person",
  client_tool: "person",
  child: "child",
  timer: "timer",
  event: "event",
};
