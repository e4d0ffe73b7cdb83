/** The state of a run that is shown: the fold of its log up to any seq. */

import type {
  ApprovalKind,
  Decision,
  Json,
  Origin,
  Outcome,
  Schema,
  Status,
  Usage,
  WaitKind,
  Why,
} from "../events";

import type { FileRef } from "../../parts/files/files";

/** Something a reader sees, in the order in which it began. */
export type Item = Text | Call | Step | Question | Waiting | Message | Resumption;

/** Text or reasoning of the model. `kept`: the length that stays if a reset withdraws the rest. */
export type Text = { kind: "text" | "thinking"; key: string; text: string; kept: number };

export type CallState = "requested" | "waiting" | "started" | "finished" | "failed";

export type Call = {
  kind: "call";
  key: string;
  callId: string;
  tool: string;
  input: Json;
  state: CallState;
  streamed: string;
  output?: Json;
  error?: string;
  ms?: number;
  startedAt?: number;
  approvals: Approval[];
  waits: Wait[];
};

/** A step of a plan or of a Python agent; questions to a model are not shown as such. */
export type Step = { kind: "step"; key: string; name: string; done: boolean; error?: string; ms?: number; at: number };

/** A question that belongs to no tool call. */
export type Question = { kind: "question"; key: string; approval: Approval };

/** A message that came while the run was under way. `isTaken`: the agent has read it. */
export type Message = { kind: "message"; key: string; text: string; isTaken: boolean };

/** A wait that belongs to no tool call. */
export type Waiting = { kind: "wait"; key: string; wait: Wait };

export type Resumption = { kind: "resumed"; key: string; attempt: number; why: Why };

export type Approval = {
  id: string;
  callId: string;
  kind: ApprovalKind;
  tool: string;
  input: Json;
  state: "pending" | Decision | "void";
  expiresAt?: number;
  by?: string;
  edited?: Json;
  reason?: string;
};

/** A question, a tool of the client, another run, a time or an event, and its answer. */
export type Wait = {
  id: string;
  callId: string;
  kind: WaitKind;
  name: string;
  prompt?: string;
  input: Json;
  schema?: Schema;
  child?: string;
  state: "pending" | Outcome | "void";
  at: number;
  expiresAt?: number;
  by?: string;
  value?: Json;
  code?: string;
  reason?: string;
  endedAt?: number;
};

export type RunState = {
  runId: string;
  seq: number;
  status: Status;
  agent: string;
  trigger?: string;
  copied?: Origin;
  parent?: string;
  attempt: number;
  items: readonly Item[];
  usage: Required<Usage>;
  paid?: string; // the step whose message was the last to say what it cost
  sources: readonly string[];
  outputs: { [name: string]: Json };
  files?: readonly FileRef[];
  error?: { code: string; message: string };
  canceled?: string;
  stopReason?: string;
  queuedAt?: number;
  startedAt?: number;
  finishedAt?: number;
};

export const EMPTY: RunState = {
  runId: "",
  seq: 0,
  status: "queued",
  agent: "",
  attempt: 1,
  items: [],
  usage: { input_tokens: 0, output_tokens: 0, usd: 0 },
  sources: [],
  outputs: {},
};
