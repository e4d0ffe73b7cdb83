/** The events of a run's log, as `GET /api/runs/{id}/log` sends them: a closed union (docs/events.md). */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Usage = { input_tokens?: number; output_tokens?: number; usd?: number };
export type ApprovalKind = "tool" | "unknown_outcome" | "question";
export type Decision = "approved" | "rejected" | "expired";
/** What a run waits for that is not an approval. */
export type WaitKind = "question" | "client_tool" | "child" | "timer" | "event";
export type Outcome = "answered" | "failed" | "expired";
/** A JSON Schema, as it came. */
export type Schema = { [keyword: string]: Json };
export type Why = "crash" | "drain" | "decision";
export type End = "done" | "error" | "canceled";
export type Status = "queued" | "running" | "waiting" | End;

/** A place in the log of another run, up to which a fork has copied it. */
export type Origin = { run_id: string; seq: number };

type Payloads = {
  "run.queued": { agent: string; trigger?: string; task?: Json; copied?: Origin; parent?: string };
  "run.resumed": { attempt: number; why: Why };
  "message.received": { message_id: string; text: string };
  "message.taken": { message_id: string };
  "step.started": { step: string; name: string; model?: string };
  "step.finished": { step: string; name: string; usage?: Usage; result?: Json; error?: string; traceback?: string };
  "model.thinking": { text: string };
  "model.token": { text: string };
  "model.reset": { step?: string; after?: number };
  "model.message": { step: string; message: ModelMessage; usage?: Usage };
  "tool.requested": { call_id: string; tool: string; input: Json };
  "approval.requested": {
    approval_id: string;
    call_id: string;
    kind: ApprovalKind;
    tool: string;
    input: Json;
    expires_at?: number;
  };
  "approval.decided": { approval_id: string; decision: Decision; by: string; input?: Json; reason?: string };
  "wait.requested": {
    wait_id: string;
    call_id: string;
    kind: WaitKind;
    name: string;
    prompt?: string;
    input?: Json;
    schema?: Schema;
    default?: Json;
    child?: string;
    expires_at?: number;
  };
  "wait.answered": {
    wait_id: string;
    outcome: Outcome;
    by: string;
    value?: Json;
    code?: string;
    message?: string;
    usage?: Usage;
  };
  "tool.started": { call_id: string; tool: string; input: Json };
  "tool.output": { call_id: string; text: string };
  "tool.finished": { call_id: string; tool: string; output?: Json; error?: string; ms?: number; traceback?: string };
  "run.waiting": { waits: string[] };
  trace: { fn: string };
  "run.output": { text: string; sources: string[]; outputs: { [name: string]: Json }; last?: string; files?: Json[] };
  "run.error": { code: string; message: string; traceback?: string };
  "run.canceled": { reason: string };
  "run.finished": { status: End; stop_reason: string; usage?: Usage };
};

export type ModelMessage = { content?: Json; reasoning_content?: Json; [field: string]: Json | undefined };
export type EventType = keyof Payloads;

type Envelope<T extends EventType> = {
  run_id: string;
  seq: number;
  id: string;
  ts: number;
  type: T;
  v: number;
  source: "api" | "worker";
  name?: string;
  fn?: string;
  data: Payloads[T];
};

export type RunEvent = { [T in EventType]: Envelope<T> }[EventType];

/** Results that a resume never repeats; `model.reset` may withdraw text after the last of them. */
const PROGRESS: ReadonlySet<EventType> = new Set([
  "step.finished",
  "tool.finished",
  "model.message",
  "approval.decided",
  "wait.answered",
]);

export const isProgress = (event: RunEvent): boolean => PROGRESS.has(event.type);
export const isLast = (event: RunEvent): boolean => event.type === "run.finished";
export const isOver = (status: Status): boolean => status === "done" || status === "error" || status === "canceled";
