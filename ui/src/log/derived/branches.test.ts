import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesTo, isCurrent, way, type Turn } from "./branches";

const turn = (runId: string, parentId: string | null, isSuperseded = false): Turn => ({
  runId,
  parentId,
  question: runId,
  isSuperseded,
});
const ids = (...args: Parameters<typeof way>) => way(...args).map((place) => place.turn.runId);

// a - b - c, then b was edited: d, and e after it
const EDITED = [turn("a", null), turn("b", "a", true), turn("c", "b", true), turn("d", "a"), turn("e", "d")];

test("a thread without edits is one way", () => {
  const places = way([turn("a", null), turn("b", "a")]);
  assert.deepEqual(
    places.map(({ siblings }) => siblings.length),
    [1, 1],
  );
});

test("a superseded branch is not shown by default, and can be chosen", () => {
  assert.deepEqual(ids(EDITED), ["a", "d", "e"]);
  assert.deepEqual(ids(EDITED, { a: "b" }), ["a", "b", "c"]);
});

test("there are choices that lead to any turn", () => {
  for (const { runId } of EDITED) assert.ok(ids(EDITED, choicesTo(EDITED, runId)).includes(runId));
  assert.deepEqual(choicesTo(EDITED, "unknown"), {});
});

test("a turn knows where it stands among its siblings", () => {
  const { siblings, index } = way(EDITED)[1]!;
  assert.deepEqual([siblings.map((each) => each.runId), index], [["b", "d"], 1]);
});

test("the first message can be edited too", () => {
  const turns = [turn("a", null, true), turn("b", "a", true), turn("c", null)];
  assert.deepEqual(ids(turns), ["c"]);
  assert.deepEqual(ids(turns, { "": "a" }), ["a", "b"]);
});

test("a superseded branch continues along its newest turns", () => {
  const turns = [turn("a", null, true), turn("b", "a", true), turn("c", "a", true), turn("d", null)];
  assert.deepEqual(ids(turns, { "": "a" }), ["a", "c"]);
});

test("only the current branch is gone on with", () => {
  assert.equal(isCurrent(way(EDITED)), true);
  assert.equal(isCurrent(way(EDITED, { a: "b" })), false);
  assert.equal(isCurrent([]), true);
});

test("a turn whose parent is not known begins the way", () => {
  assert.deepEqual(ids([turn("b", "elsewhere"), turn("c", "b")]), ["b", "c"]);
});
