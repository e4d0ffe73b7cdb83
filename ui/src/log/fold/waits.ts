/** The part of the fold that is about waits: approvals and everything else that a run waits for. Pure. */

import type { RunEvent } from "../events";
import { add, change, hasCall } from "./items";
import type { Approval, Item, RunState, Wait } from "./state";

type Taken<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

// --- approvals

export function asked(state: RunState, event: Taken<"approval.requested">): RunState {
  const { approval_id: id, call_id: callId, kind, tool, input, expires_at: expiresAt } = event.data;
  const approval: Approval = { id, callId, kind, tool, input, state: "pending", ...(expiresAt && { expiresAt }) };
  if (!hasCall(state, callId)) {
    return add(state, { kind: "question", key: id, approval });
  }
  return change(state, "call", callId, (waiting) => ({
    ...waiting,
    state: "waiting",
    approvals: [...waiting.approvals, approval],
  }));
}

export function decided(state: RunState, event: Taken<"approval.decided">): RunState {
  const { approval_id, decision, by, input, reason } = event.data;
  const answered = (approval: Approval): Approval =>
    approval.id === approval_id && approval.state === "pending"
      ? {
          ...approval,
          state: decision,
          by,
          ...(input !== undefined && input !== null && { edited: input }),
          ...(reason && { reason }),
        }
      : approval;
  return ended(state, (item) => approvalsOf(item, answered));
}

/** The item with its approvals changed; itself if none was. */
function approvalsOf(item: Item, to: (approval: Approval) => Approval): Item {
  if (item.kind === "question") {
    const approval = to(item.approval);
    return approval === item.approval ? item : { ...item, approval };
  }
  if (item.kind !== "call") return item;
  const approvals = item.approvals.map(to);
  return approvals.every((approval, place) => approval === item.approvals[place]) ? item : { ...item, approvals };
}

// --- other waits

export function wanted(state: RunState, event: Taken<"wait.requested">): RunState {
  const { wait_id: id, call_id: callId, kind, name, prompt, input, schema, child, expires_at: expiresAt } = event.data;
  const wait: Wait = {
    id,
    callId,
    kind,
    name,
    input: input ?? null,
    state: "pending",
    at: event.ts,
    ...(prompt && { prompt }),
    ...(schema && { schema }),
    ...(child && { child }),
    ...(expiresAt && { expiresAt }),
  };
  if (!hasCall(state, callId)) return add(state, { kind: "wait", key: id, wait });
  return change(state, "call", callId, (waiting) => ({
    ...waiting,
    state: "waiting",
    waits: [...waiting.waits, wait],
  }));
}

export function answered(state: RunState, event: Taken<"wait.answered">): RunState {
  const { wait_id, outcome, by, value, code, message } = event.data;
  const first = (wait: Wait): Wait =>
    wait.id === wait_id && wait.state === "pending"
      ? {
          ...wait,
          state: outcome,
          by,
          endedAt: event.ts,
          ...(value !== undefined && { value }),
          ...(code && { code }),
          ...(message && { reason: message }),
        }
      : wait;
  return ended(state, (item) => waitsOf(item, first));
}

/** The item with its waits changed; itself if none was. */
function waitsOf(item: Item, to: (wait: Wait) => Wait): Item {
  if (item.kind === "wait") {
    const wait = to(item.wait);
    return wait === item.wait ? item : { ...item, wait };
  }
  if (item.kind !== "call") return item;
  const waits = item.waits.map(to);
  return waits.every((wait, place) => wait === item.waits[place]) ? item : { ...item, waits };
}

// --- both

/** An answer: the run continues from the queue, and the call that waited for it can be made. */
function ended(state: RunState, to: (item: Item) => Item): RunState {
  const items = state.items.map((item) => {
    const after = to(item);
    return after !== item && after.kind === "call" && after.state === "waiting"
      ? { ...after, state: "requested" as const }
      : after;
  });
  return { ...state, items, status: state.status === "waiting" ? "queued" : state.status };
}

/** The item of a run that has ended: its open waits get no answer. */
export function voided(item: Item): Item {
  const none = <T extends Approval | Wait>(asked: T): T =>
    asked.state === "pending" ? { ...asked, state: "void" } : asked;
  return waitsOf(approvalsOf(item, none), none);
}
