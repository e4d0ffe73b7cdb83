import assert from "node:assert/strict";
import { test } from "node:test";
import { href, parse, type Route } from "./route";

test("an address leads where it was made for", () => {
  const routes: Route[] = [
    { view: "chats" },
    { view: "chats", id: "a/b #1" },
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
  ];
  for (const route of routes) assert.deepEqual(parse(href(route)), route);
});

test("what is no address leads to a new chat", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/dms"]) assert.ok(["chats", "channels"].includes(parse(hash).view));
});
