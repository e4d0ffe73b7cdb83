import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "../../log/events";
import { faultOf, formOf, presets, valueOf, type Field } from "./schema";

const SEAT: Schema = {
  type: "object",
  properties: {
    row: { type: "integer" },
    side: { enum: ["left", "right"] },
    vegan: { type: "boolean", default: false },
    bags: { type: "array", items: { type: "number" } },
    guest: { $ref: "#/$defs/Guest" },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    extra: {},
  },
  required: ["row", "side"],
  $defs: { Guest: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};
const FORM = formOf(SEAT);
const kinds = (field: Field): string =>
  field.kind === "object" ? `{${field.fields.map(kinds).join(" ")}}` : field.kind;

test("every part of a schema has its field, and what is not known is JSON", () => {
  assert.equal(kinds(FORM), "{integer choice yes list {text} text json}");
  assert.equal(kinds(formOf(undefined)), "json");
  assert.equal(kinds(formOf({ type: "string" })), "text");
  assert.equal(kinds(formOf({ oneOf: [{ type: "string" }, { type: "number" }] })), "json");
  assert.deepEqual(presets(FORM), { "$.vegan": "false" });
});

test("a schema that leads back to itself is JSON where it gets deep", () => {
  const deep = formOf({ type: "object", properties: { next: { $ref: "#" } } });
  assert.equal(kinds(deep), "{{{{json}}}}");
});

test("a reference that names nothing is JSON, also one that is no address", () => {
  assert.equal(kinds(formOf({ $ref: "#/$defs/None" })), "json");
  assert.equal(kinds(formOf({ $ref: "#/$defs/100%" })), "json");
});

test("what was entered becomes a value, and what was left empty is left out", () => {
  const entered = { "$.row": " 12 ", "$.side": '"left"', "$.bags": "1, 2.5", "$.guest.name": "Ann", "$.extra": "[1]" };
  assert.deepEqual(valueOf(FORM, entered), {
    value: { row: 12, side: "left", bags: [1, 2.5], guest: { name: "Ann" }, note: null, extra: [1] },
  });
  const least = { "$.row": "1", "$.side": '"right"' };
  assert.deepEqual(valueOf(FORM, least), { value: { row: 1, side: "right", note: null } });
});

test("what is wrong is said at its field, all at once", () => {
  const made = valueOf(FORM, { "$.row": "1.5", "$.bags": "1, x", "$.extra": "{" });
  assert.ok("troubles" in made);
  assert.deepEqual(
    made.troubles.map(({ path }) => path),
    ["$.row", "$.side", "$.bags", "$.extra"],
  );
});

test("the server's sentence is shown at the field that it names", () => {
  const sentence = (rest: string) => `The value does not fit the schema: ${rest}.`;
  const fault = faultOf(sentence("`$.row` must be at most 30"), FORM);
  assert.deepEqual(fault, { path: "$.row", what: "It must be at most 30." });
  assert.equal(faultOf(sentence("`$.bags[1]` must be of type number"), FORM)?.path, "$.bags");
  assert.deepEqual(faultOf(sentence("`$.guest` lacks the property `name`"), FORM), {
    path: "$.guest.name",
    what: "This is needed.",
  });
  assert.equal(faultOf(sentence("`$` has a property or a value that is not allowed"), FORM), undefined);
  assert.equal(faultOf("It was answered before.", FORM), undefined);
});
