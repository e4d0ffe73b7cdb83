import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../events";
import { fold, take } from "./fold";
import { DONE, log, QUEUED, REFUND, type Line } from "../sample";
import { EMPTY, type Call, type Item, type RunState } from "./state";
import { Timeline } from "./timeline";

const folded = (...lines: Line[]): RunState => fold(log(...lines));
const kinds = (state: RunState) => state.items.map((item) => item.kind);
const call = (state: RunState) => state.items.find((item): item is Call => item.kind === "call")!;
const text = (state: RunState, kind: Item["kind"] = "text") =>
  state.items.map((item) => (item.kind === kind && "text" in item ? item.text : "")).join("|");

test("a run is thinking, text, a call with its approval, and text again, in that order", () => {
  const state = folded(...REFUND);
  assert.deepEqual(kinds(state), ["thinking", "text", "call", "resumed", "text"]);
  assert.equal(text(state, "thinking"), "They want money.||||");
  assert.equal(state.status, "done");
  assert.deepEqual(state.sources, ["cv-1"]);
});

test("a call has the input that it was made with, what it printed, and what came of it", () => {
  const { input, streamed, output, state, ms } = call(folded(...REFUND));
  assert.deepEqual(
    { input, streamed, output, state, ms },
    { input: { amount: 20 }, streamed: "paying ...", output: { refund: "R-1" }, state: "finished", ms: 12 },
  );
});

test("the first decision counts", () => {
  const state = folded(...REFUND.slice(0, 12), [
    "approval.decided",
    { approval_id: "a1", decision: "rejected", by: "bob" },
  ]);
  const [approval] = call(state).approvals;
  assert.equal(approval?.state, "approved");
  assert.equal(approval?.by, "ann");
});

test("folding is the same at once, event by event, and from any state on", () => {
  const events = log(...REFUND);
  const whole = fold(events);
  for (let cut = 0; cut <= events.length; cut += 1)
    assert.deepEqual(fold(events.slice(cut), fold(events.slice(0, cut))), whole);
});

test("an event of an unknown type, as a newer server may send, changes nothing but the seq", () => {
  const begun = fold(log(...REFUND.slice(0, 5)));
  const [first] = log(REFUND[1]!);
  const unknown = { ...first, seq: 6, type: "model.dreamed", data: {} } as never;
  assert.deepEqual(fold([unknown], begun), { ...begun, seq: 6 });
});

test("a state is never changed by what comes after it", () => {
  const frozen = (value: unknown): unknown => {
    if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
    return value;
  };
  let state = EMPTY;
  for (const event of log(...REFUND)) state = frozen(take(state, frozen(event) as RunEvent)) as RunState;
  assert.equal(state.status, "done");
});

test("a reset takes back what was written since the last result, and nothing else", () => {
  const state = folded(
    QUEUED,
    ["model.token", { text: "kept " }],
    ["tool.started", { call_id: "c1", tool: "look", input: {} }],
    ["tool.finished", { call_id: "c1", tool: "look", output: 1 }],
    ["model.token", { text: "lost" }],
    ["model.thinking", { text: "lost too" }],
    ["model.reset", {}],
    ["model.token", { text: "again" }],
  );
  assert.deepEqual(kinds(state), ["text", "call", "text"]);
  assert.equal(text(state), "kept ||again");
});

test("of text that continues after a result only the new part is taken back", () => {
  const state = folded(
    QUEUED,
    ["model.token", { text: "one " }],
    ["step.finished", { step: "s", name: "s" }],
    ["model.token", { text: "two" }],
    ["model.reset", {}],
  );
  assert.equal(text(state), "one ");
});

test("a sentence that another attempt continues with is one sentence", () => {
  const state = folded(
    QUEUED,
    ["model.token", { text: "one " }],
    ["run.resumed", { attempt: 2, why: "crash" }],
    ["model.token", { text: "two" }],
  );
  assert.deepEqual(kinds(state), ["text", "resumed"]);
  assert.equal(text(state), "one two|");
});

test("a whole message is shown only if its pieces were not", () => {
  const told = folded(QUEUED, [
    "model.message",
    { step: "1", message: { content: "Hello.", reasoning_content: "Greet." } },
  ]);
  assert.deepEqual(kinds(told), ["thinking", "text"]);
  const streamed = folded(
    QUEUED,
    ["model.token", { text: "Hello." }],
    ["model.message", { step: "1", message: { content: "Hello." } }],
  );
  assert.equal(text(streamed), "Hello.");
});

test("an answer that was not streamed is shown from the output", () => {
  assert.equal(text(folded(QUEUED, ["run.output", { text: "All.", sources: [], outputs: {} }], DONE)), "All.");
});

test("the status follows the log: queued, running, waiting, queued again, running, done", () => {
  const seen = log(...REFUND).map((_, place, events) => fold(events.slice(0, place + 1)).status);
  assert.deepEqual([...new Set(seen)], ["queued", "running", "waiting", "done"]);
  assert.equal(seen[10], "waiting");
  assert.equal(seen[11], "queued");
  assert.equal(seen[12], "running");
});

test("what a step cost is counted once", () => {
  assert.deepEqual(fold(log(...REFUND).slice(0, 8)).usage, { input_tokens: 10, output_tokens: 4, usd: 0.01 });
});

test("an approval is open until it is decided or the run ends", () => {
  assert.equal(call(folded(...REFUND.slice(0, 11))).approvals[0]?.state, "pending");
  assert.equal(call(folded(...REFUND)).approvals[0]?.state, "approved");
  const canceled = folded(
    ...REFUND.slice(0, 11),
    ["run.canceled", { reason: "requested" }],
    ["run.finished", { status: "canceled", stop_reason: "cancelled" }],
  );
  assert.equal(call(canceled).approvals[0]?.state, "void");
});

test("a question without a call stands for itself", () => {
  const state = folded(QUEUED, [
    "approval.requested",
    { approval_id: "a1", call_id: "q#1", kind: "question", tool: "ask", input: { question: "Now?" } },
  ]);
  assert.deepEqual(kinds(state), ["question"]);
});

test("steps of a plan are shown, questions to a model are not", () => {
  const state = folded(
    QUEUED,
    ["step.started", { step: "Ping", name: "Ping" }],
    ["step.finished", { step: "Ping", name: "Ping" }],
    ["step.started", { step: "turn#1", name: "think", model: "scripted" }],
  );
  assert.deepEqual(kinds(state), ["step"]);
});

test("a timeline has the state at every seq, and takes no event twice and none out of order", () => {
  const lines: Line[] = [
    QUEUED,
    ...Array.from({ length: 1000 }, (_, n): Line => ["model.token", { text: `${n} ` }]),
    DONE,
  ];
  const events = log(...lines);
  const timeline = new Timeline();
  for (const event of events) assert.equal(timeline.add(event), true);
  assert.equal(timeline.add(events[5]!), false);
  assert.equal(timeline.add({ ...events[5]!, seq: 5000 }), false);
  for (const seq of [0, 1, 2, 255, 256, 257, 700, 1001, 1002]) {
    assert.equal(timeline.at(seq).seq, seq);
    assert.deepEqual(timeline.at(seq), fold(events.slice(0, seq)));
  }
});

test("twenty thousand events are folded in a moment", () => {
  const lines: Line[] = [QUEUED];
  for (let n = 0; lines.length < 20_000; n += 1) {
    if (n % 10 === 0) {
      lines.push(["tool.started", { call_id: `c${n}`, tool: "look", input: {} }]);
      lines.push(["tool.finished", { call_id: `c${n}`, tool: "look", output: n }]);
    }
    lines.push(["model.token", { text: "word " }]);
  }
  const events = log(...lines);
  const began = process.cpuUsage(); // not the clock: other programs of the machine do not count
  fold(events);
  assert.ok(process.cpuUsage(began).user < 5_000_000);
});
