import assert from "node:assert/strict";
import { test } from "node:test";
import { Choice } from "../../frame/choice";
import { filterOf, queryOf } from "./filters";

test("a filter is what the server takes; too little of an id is none", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.deepEqual(JSON.parse(JSON.stringify(queryOf({}, now))), {});
  const filter = { status: "error", agent: "clerk", age: "last hour", cost: "$1 or more", error: " x ", id: "ABCDEF" };
  assert.deepEqual(
    JSON.parse(JSON.stringify(queryOf(filter, now))),
    { status: "error", agent: "clerk", error: "x", since: "2026-03-01T11:00:00.000Z", min_usd: 1, id_part: "abcdef" },
  );
  assert.equal(queryOf({ id: "abc" }).id_part, undefined);
});

test("a status, an age or a cost of the address that is not offered is dropped, and an agent stays", () => {
  const known = { status: "done", agent: "old", age: "last day", cost: "$1 or more", error: "x", id: "abcdef" };
  assert.deepEqual(filterOf(known), known);
  const dropped = filterOf({ status: "ended", agent: "old", age: "constructor", cost: "$2" });
  assert.deepEqual(JSON.parse(JSON.stringify(dropped)), { agent: "old" });
});

test("a value that is no option is shown as chosen", () => {
  const options = (value: string | undefined) => {
    const label = Choice({ name: "Agent", options: ["clerk"], value, choose: () => undefined });
    const [, listed] = label.props.children[1].props.children;
    return listed.map((option: { props: { children: string } }) => option.props.children);
  };
  assert.deepEqual(options("old"), ["clerk", "old"]);
  assert.deepEqual(options("clerk"), ["clerk"]);
  assert.deepEqual(options(undefined), ["clerk"]);
});
