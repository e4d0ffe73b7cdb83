import assert from "node:assert/strict";
import { test } from "node:test";
import { fold } from "../fold/fold";
import { EMPTY } from "../fold/state";
import { log, QUEUED, REFUND } from "../sample";
import { statusOf, timesOf } from "./row";

const at = (second: number): string => new Date(1000 * second).toISOString();
const done = { status: "done", created_at: at(1), started_at: at(3), finished_at: at(8) } as const;
const queued = { ...done, status: "queued", started_at: null, finished_at: null } as const;

test("the times of a run are those of its row", () => {
  assert.deepEqual(timesOf(done), { created: 1000, started: 3000, finished: 8000, waited: 2000, took: 5000 });
  const running = timesOf({ ...done, status: "running", finished_at: null });
  assert.deepEqual([running.waited, running.took], [2000, undefined]);
  assert.deepEqual([timesOf(queued).waited, timesOf(queued).took], [undefined, undefined]);
});

test("a run that no worker took was in the queue until its end, and took no time", () => {
  const { waited, took } = timesOf({ ...done, status: "canceled", started_at: null });
  assert.deepEqual([waited, took], [7000, undefined]);
});

test("while its log loads, a run has the status of its row", () => {
  assert.equal(statusOf(EMPTY, undefined), undefined);
  assert.equal(statusOf(EMPTY, queued), "queued");
  assert.equal(statusOf(EMPTY, done), "done");
  const beginning = fold(log(...REFUND.slice(0, 5)));
  assert.equal(statusOf(beginning, done), "done", "only the beginning of its log has come");
  assert.equal(statusOf(beginning, undefined), "running");
});

test("a log that was read further than the row is right", () => {
  assert.equal(statusOf(fold(log(...REFUND)), queued), "done");
  assert.equal(statusOf(fold(log(...REFUND.slice(0, 11))), { ...done, status: "running" }), "waiting");
  assert.equal(statusOf(fold(log(QUEUED)), { ...queued, status: "running", started_at: at(3) }), "running");
});
