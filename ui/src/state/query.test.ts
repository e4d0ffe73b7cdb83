import assert from "node:assert/strict";
import { test } from "node:test";
import { queryIn, withQuery } from "./query";
import { parse } from "./route";

test("filters are a part of the address that does not change what it names", () => {
  const filters = { status: "error", cost: "$0.10 or more", error: "a&b=c/d?e#%", age: undefined, id: "" };
  const hash = withQuery("#/runs", filters);
  assert.deepEqual(queryIn(hash), { status: "error", cost: "$0.10 or more", error: "a&b=c/d?e#%" });
  assert.deepEqual(parse(hash), { view: "runs" });
  assert.deepEqual(parse(withQuery("#/approvals/w", { tool: "x/y" })), { view: "approvals", id: "w" });
  assert.equal(withQuery(hash, {}), "#/runs");
  assert.deepEqual(queryIn("#/runs"), {});
});
