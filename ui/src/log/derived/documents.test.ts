import assert from "node:assert/strict";
import { test } from "node:test";
import { found } from "./documents";
import { fold } from "../fold/fold";
import { log, QUEUED } from "../sample";

test("a source is found in what a tool gave back, however deep", () => {
  const output = {
    hits: [
      { id: "cv-1", title: "Ann", city: "Lagos" },
      { id: "cv-2", title: "Bob" },
    ],
  };
  const state = fold(log(QUEUED, ["tool.finished", { call_id: "c", tool: "search", output }]));
  assert.deepEqual(found(state, "cv-1"), { title: "Ann", rest: { city: "Lagos" } });
  assert.equal(found(state, "cv-3"), undefined);
});
