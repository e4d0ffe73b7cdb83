/** Logs for tests: a type and its data are enough to write an event down. */

import type { EventType, RunEvent } from "./events";

const BY_API: ReadonlySet<EventType> = new Set<EventType>(["run.queued", "approval.decided", "wait.answered"]);

type Data<T extends EventType> = Extract<RunEvent, { type: T }>["data"];
export type Line = { [T in EventType]: readonly [T, Data<T>] }[EventType];

/** Events with seqs from 1, a tenth of a second apart. */
export const log = (...lines: Line[]): RunEvent[] =>
  lines.map(
    ([type, data], place) =>
      ({
        run_id: "r",
        seq: place + 1,
        id: `e${place + 1}`,
        ts: 1000 + 100 * place,
        type,
        v: 1,
        source: BY_API.has(type) ? "api" : "worker",
        data,
      }) as RunEvent,
  );

export const QUEUED: Line = ["run.queued", { agent: "assistant", trigger: "m1" }];
export const DONE: Line = ["run.finished", { status: "done", stop_reason: "end_turn" }];

/** A run that asks before it pays, and is allowed to pay less. */
export const REFUND: Line[] = [
  QUEUED,
  ["step.started", { step: "turn#1", name: "think", model: "scripted" }],
  ["model.thinking", { text: "They want " }],
  ["model.thinking", { text: "money." }],
  ["model.token", { text: "I am asking " }],
  ["model.token", { text: "a colleague." }],
  [
    "model.message",
    {
      step: "turn#1",
      message: { content: "I am asking a colleague." },
      usage: { input_tokens: 10, output_tokens: 4, usd: 0.01 },
    },
  ],
  ["step.finished", { step: "turn#1", name: "think", usage: { input_tokens: 10, output_tokens: 4, usd: 0.01 } }],
  ["tool.requested", { call_id: "c1", tool: "refund", input: { amount: 38.5 } }],
  ["approval.requested", { approval_id: "a1", call_id: "c1", kind: "tool", tool: "refund", input: { amount: 38.5 } }],
  ["run.waiting", { waits: ["a1"] }],
  ["approval.decided", { approval_id: "a1", decision: "approved", by: "ann", input: { amount: 20 } }],
  ["run.resumed", { attempt: 2, why: "decision" }],
  ["tool.started", { call_id: "c1", tool: "refund", input: { amount: 20 } }],
  ["tool.output", { call_id: "c1", text: "paying " }],
  ["tool.output", { call_id: "c1", text: "..." }],
  ["tool.finished", { call_id: "c1", tool: "refund", output: { refund: "R-1" }, ms: 12 }],
  ["model.token", { text: "It is paid." }],
  ["run.output", { text: "It is paid.", sources: ["cv-1"], outputs: {} }],
  [
    "run.finished",
    { status: "done", stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 4, usd: 0.01 } },
  ],
];
