/**
 * The fold: a state and the next event give the next state. Pure, and no state is ever changed, so that any number of
 * earlier ones can be kept: the chat, the inspector and its slider all show these states.
 *
 * Text is what a reader would see: `model.reset` withdraws the text after the last result, because it will be
 * written again.
 */

import { filesIn } from "../../parts/files/files";
import { isOver, isProgress, type Json, type ModelMessage, type RunEvent, type Usage } from "../events";
import { add, change, hasCall, without } from "./items";
import { EMPTY, type Call, type Item, type RunState, type Step, type Text } from "./state";
import { answered, asked, decided, voided, wanted } from "./waits";

export function fold(events: Iterable<RunEvent>, from: RunState = EMPTY): RunState {
  let state = from;
  for (const event of events) state = take(state, event);
  return state;
}

export function take(before: RunState, event: RunEvent): RunState {
  const state = apply(arrived(before, event), event);
  return isProgress(event) ? { ...state, items: kept(state.items) } : state;
}

function arrived(state: RunState, event: RunEvent): RunState {
  const next = { ...state, runId: event.run_id, seq: event.seq };
  if (event.source !== "worker" || isOver(state.status)) return next;
  return { ...next, status: "running", startedAt: state.startedAt ?? event.ts };
}

function apply(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case "run.queued": {
      const { agent, trigger, copied, parent } = event.data;
      return {
        ...state,
        agent,
        ...(trigger && { trigger }),
        ...(copied && { copied }),
        ...(parent && { parent }),
        status: "queued",
        queuedAt: event.ts,
      };
    }
    case "run.resumed": {
      const { attempt, why } = event.data;
      return add({ ...state, attempt }, { kind: "resumed", key: `resumed ${event.seq}`, attempt, why });
    }
    case "step.started": {
      const { step, name, model } = event.data;
      if (model !== undefined) return state;
      return add(without(state, step), { kind: "step", key: step, name, done: false, at: event.ts });
    }
    case "step.finished": {
      const { step, error } = event.data;
      const usage = step === state.paid ? undefined : event.data.usage; // its message has said it already
      const ended = (begun: Step): Step => ({ ...begun, done: true, ms: event.ts - begun.at, ...(error && { error }) });
      return spend(change(state, "step", step, ended), usage);
    }
    case "model.thinking":
      return write(state, "thinking", event.data.text, event.seq);
    case "model.token":
      return write(state, "text", event.data.text, event.seq);
    case "model.reset":
      return { ...state, items: state.items.flatMap(reset) };
    case "model.message": {
      const { step, message, usage } = event.data;
      return { ...spend(said(state, message, event.seq), usage), paid: step };
    }
    case "tool.requested": {
      const { call_id, tool, input } = event.data;
      return add(state, call(call_id, tool, input));
    }
    case "tool.started": {
      const { call_id, tool, input } = event.data;
      const started = (asked: Call): Call => ({ ...asked, input, state: "started", startedAt: event.ts, streamed: "" });
      return change(known(state, call_id, tool, input), "call", call_id, started);
    }
    case "tool.output": {
      const { call_id, text } = event.data;
      return change(state, "call", call_id, (running) => ({ ...running, streamed: running.streamed + text }));
    }
    case "tool.finished": {
      const { call_id, tool, output = null, error, ms = 0 } = event.data;
      const ended = (begun: Call): Call => ({
        ...begun,
        output,
        ms,
        state: error ? "failed" : "finished",
        ...(error && { error }),
      });
      return change(known(state, call_id, tool, null), "call", call_id, ended);
    }
    case "approval.requested":
      return asked(state, event);
    case "approval.decided":
      return decided(state, event);
    case "wait.requested":
      return wanted(state, event);
    case "wait.answered":
      return spend(answered(state, event), event.data.usage);
    case "run.waiting":
      return { ...state, status: "waiting" };
    case "message.received": {
      const { message_id, text } = event.data;
      return add(state, { kind: "message", key: message_id, text, isTaken: false });
    }
    case "message.taken":
      return change(state, "message", event.data.message_id, (message) => ({ ...message, isTaken: true }));
    case "trace":
      return state;
    case "run.output": {
      const { text, sources, outputs, files } = event.data;
      const shown = state.items.some((item) => item.kind === "text") ? state : write(state, "text", text, event.seq);
      return { ...shown, sources, outputs, ...(files && { files: filesIn(files) }) };
    }
    case "run.error":
      return { ...state, error: event.data };
    case "run.canceled":
      return { ...state, canceled: event.data.reason };
    case "run.finished": {
      const { status, stop_reason, usage } = event.data;
      const ended = {
        ...state,
        status,
        stopReason: stop_reason,
        finishedAt: event.ts,
        usage: { ...state.usage, ...usage },
      };
      return { ...ended, items: state.items.map(voided) };
    }
    default:
      event satisfies never; // a kind of event that was forgotten here
      return state; // a newer server may send others
  }
}

// --- text

/** A sentence that another attempt continues with is one sentence. */
function write(state: RunState, kind: Text["kind"], text: string, seq: number): RunState {
  if (!text) return state;
  const place = state.items.findLastIndex((item) => item.kind !== "resumed");
  const last = state.items[place];
  if (last?.kind === kind) return { ...state, items: state.items.with(place, { ...last, text: last.text + text }) };
  return add(state, { kind, key: `${kind} ${seq}`, text, kept: 0 });
}

const isText = (item: Item): item is Text => item.kind === "text" || item.kind === "thinking";

/** From now on all text stays. Only what follows on the last text that stays already can be new. */
function kept(items: readonly Item[]): readonly Item[] {
  const isKept = (item: Item) => isText(item) && item.kept === item.text.length;
  const first = items.findLastIndex(isKept) + 1;
  if (!items.slice(first).some(isText)) return items;
  return items.map((item, place) => (place >= first && isText(item) ? { ...item, kept: item.text.length } : item));
}

function reset(item: Item): Item[] {
  if (!isText(item)) return [item];
  return item.kept > 0 ? [{ ...item, text: item.text.slice(0, item.kept) }] : [];
}

/** A whole message says what its pieces said before; it is shown only where there were none. */
function said(state: RunState, message: ModelMessage, seq: number): RunState {
  const isNew = (kind: Text["kind"]) => !state.items.some((item) => item.kind === kind && item.kept < item.text.length);
  const { reasoning_content: thought, content } = message;
  const thinking = typeof thought === "string" && isNew("thinking") ? write(state, "thinking", thought, seq) : state;
  return typeof content === "string" && isNew("text") ? write(thinking, "text", content, seq) : thinking;
}

// --- calls

const call = (callId: string, tool: string, input: Json): Call => ({
  kind: "call",
  key: callId,
  callId,
  tool,
  input,
  state: "requested",
  streamed: "",
  approvals: [],
  waits: [],
});

/** The state in which this call is known: Python agents start calls without a request event. */
const known = (state: RunState, callId: string, tool: string, input: Json): RunState =>
  hasCall(state, callId) ? state : add(state, call(callId, tool, input));

function spend(state: RunState, more: Usage | undefined): RunState {
  if (!more) return state;
  const { input_tokens, output_tokens, usd } = state.usage;
  const usage = {
    input_tokens: input_tokens + (more.input_tokens ?? 0),
    output_tokens: output_tokens + (more.output_tokens ?? 0),
    usd: usd + (more.usd ?? 0),
  };
  return { ...state, usage };
}
