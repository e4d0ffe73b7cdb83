import assert from "node:assert/strict";
import { test } from "node:test";
import { idIn, idPartIn } from "./palette";

const ID = "019a9b3c-1f2e-7d4c-8a5b-0123456789ab";

test("a whole id is opened without the server, and a part of 8 or more characters is looked up", () => {
  assert.equal(idIn(ID.toUpperCase()), ID);
  assert.equal(idPartIn(ID), undefined);
  assert.equal(idPartIn(ID.slice(-8).toUpperCase()), "456789ab");
  assert.equal(idPartIn(ID.slice(0, 35)), ID.slice(0, 35));
  for (const text of ["", "6789ab", "deadline", "to Rome"]) {
    assert.equal(idIn(text), undefined);
    assert.equal(idPartIn(text), undefined);
  }
});
