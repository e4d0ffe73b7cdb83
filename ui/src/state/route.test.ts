import assert from "node:assert/strict";
import { test } from "node:test";
import { href, parse, type Route } from "./route";

test("an address leads where it was made for", () => {
  const routes: Route[] = [
    { view: "chats" },
    { view: "chats", id: "a/b #1" },
    { view: "chats", id: "c", found: { run: "r", part: "question" } },
    { view: "chats", id: "c", found: { run: "r", part: "answer", words: "two words/of 100 %" } },
    { view: "channels", id: "c" },
    { view: "channels", id: "c", message: "m" },
    { view: "dms", id: "d" },
    { view: "dms", id: "d", message: "m" },
    { view: "compare", id: "a", other: "b" },
    { view: "agents", id: "mara" },
    { view: "runs" },
    { view: "runs", id: "r" },
    { view: "shared", id: "t0ken" },
    { view: "overview" },
    { view: "approvals" },
    { view: "approvals", id: "w" },
    { view: "messages", id: "m" },
  ];
  for (const route of routes) assert.deepEqual(parse(href(route)), route);
});

test("an address that names nothing leads to a list, and one that is unknown says so", () => {
  for (const hash of ["", "#", "#/", "#/dms", "#/messages"])
    assert.ok(["chats", "channels"].includes(parse(hash).view));
  for (const hash of ["#/somewhere", "#/somewhere/x", "#/chats/%", "#/runs/%ff"])
    assert.deepEqual(parse(hash), { view: "nowhere" });
});
