import assert from "node:assert/strict";
import { test } from "node:test";
import { queryOf } from "./filters";

test("a filter is what the server takes; too little of an id is none", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.deepEqual(JSON.parse(JSON.stringify(queryOf({}, now))), {});
  assert.deepEqual(
    JSON.parse(
      JSON.stringify(
        queryOf(
      { status: "error", agent: "clerk", age: "last hour", cost: "$1 or more", error: " x ", id: "ABCDEF" },
      now,
    ),
      ),
    ),
    { status: "error", agent: "clerk", error: "x", since: "2026-03-01T11:00:00.000Z", min_usd: 1, id_part: "abcdef" },
  );
  assert.equal(queryOf({ id: "abc" }).id_part, undefined);
});
