/**
 * A form, from a JSON Schema: text, numbers, yes or no, choices, lists of simple values, objects of all of these.
 * A part of the schema that says more than that is a field for JSON. The server checks the answer. Pure.
 */

import type { Json, Schema } from "../../log/events";
import { decoded } from "../../state/decoded";
import { isPlain } from "../text/words";

export type Simple = "text" | "number" | "integer" | "yes";

export type Field = { path: string; label: string; hint?: string; isRequired: boolean; isNullable: boolean } & (
  | { kind: Simple; preset?: Json }
  | { kind: "choice"; options: Json[]; preset?: Json }
  | { kind: "list"; of: "text" | "number" | "integer" }
  | { kind: "object"; fields: Field[] }
  | { kind: "json" }
);

/** What was entered, by the path of a field. */
export type Entered = { readonly [path: string]: string };

export type Trouble = { path: string; what: string };

const DEEPEST = 4;
const SIMPLE: { [type: string]: Simple } = { string: "text", number: "number", integer: "integer", boolean: "yes" };

/** The form of a schema. Its root is called "Answer", because a schema has no name. */
export const formOf = (schema: Schema = {}): Field => fieldOf(schema, schema, "$", "Answer", true, 0);

function fieldOf(root: Schema, given: Schema, path: string, label: string, isRequired: boolean, level: number): Field {
  const { schema, isNullable } = resolved(root, given);
  const hint = [given["description"], schema["description"]].find((each) => typeof each === "string");
  const base = { path, label, isRequired, isNullable, ...(typeof hint === "string" && { hint }) };
  const preset = schema["default"] === undefined ? {} : { preset: schema["default"] };
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0)
    return { ...base, kind: "choice", options: schema["enum"], ...preset };
  const type = schema["type"];
  if (typeof type === "string" && type in SIMPLE) return { ...base, kind: SIMPLE[type]!, ...preset };
  if (type === "array") {
    const items = isPlain(schema["items"]) ? resolved(root, schema["items"]).schema : {};
    const of = items["enum"] === undefined && typeof items["type"] === "string" ? SIMPLE[items["type"]] : undefined;
    if (of !== undefined && of !== "yes" && !("prefixItems" in schema)) return { ...base, kind: "list", of };
  }
  const properties = isPlain(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (type === "object" && properties.length && level < DEEPEST) {
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    const fields = properties.map(([name, each]) =>
      fieldOf(root, isPlain(each) ? each : {}, `${path}.${name}`, name, required.includes(name), level + 1),
    );
    return { ...base, kind: "object", fields };
  }
  return { ...base, kind: "json" };
}

/** The schema behind references, and behind `X or null`. */
function resolved(root: Schema, given: Schema): { schema: Schema; isNullable: boolean } {
  let schema = given;
  let isNullable = false;
  for (let step = 0; step < 8; step += 1) {
    if (typeof schema["$ref"] === "string") {
      schema = at(root, schema["$ref"]);
      continue;
    }
    const options = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isPlain) : [];
    const others = options.filter((each) => each["type"] !== "null");
    if (others.length !== 1 || others.length === options.length) break;
    schema = others[0]!;
    isNullable = true;
  }
  return { schema, isNullable };
}

function at(root: Schema, reference: string): Schema {
  let found: Json = root;
  for (const part of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    const name = (decoded(part) ?? part).replace(/~1/g, "/").replace(/~0/g, "~");
    found = isPlain(found) ? (found[name] ?? {}) : {};
  }
  return isPlain(found) ? found : {};
}

/** What a field shows before anything is entered. */
export function presets(field: Field): Entered {
  if (field.kind === "object") return Object.assign({}, ...field.fields.map(presets)) as Entered;
  if (!("preset" in field) || field.preset === undefined || field.preset === null) return {};
  return { [field.path]: field.kind === "text" ? String(field.preset) : JSON.stringify(field.preset) };
}

/** The value of what was entered, or what is wrong with it. `undefined`: a field that was left out. */
export function valueOf(field: Field, entered: Entered): { value: Json | undefined } | { troubles: Trouble[] } {
  if (field.kind === "object") return objectOf(field, entered);
  const text = (entered[field.path] ?? "").trim();
  const wrong = (what: string) => ({ troubles: [{ path: field.path, what }] });
  if (text === "") {
    if (field.isNullable) return { value: null };
    if (!field.isRequired) return { value: undefined };
    return field.kind === "text" ? { value: "" } : wrong("This is needed.");
  }
  switch (field.kind) {
    case "text":
      return { value: entered[field.path] ?? "" };
    case "number":
    case "integer":
      return numberOf(text, field.kind === "integer") ?? wrong(NOT_A_NUMBER[field.kind]);
    case "yes":
      return { value: text === "true" };
    case "choice":
      return { value: JSON.parse(text) as Json };
    case "list":
      return listOf(text, field.of) ?? wrong(NOT_A_NUMBER[field.of === "integer" ? "integer" : "number"]);
    case "json":
      try {
        return { value: JSON.parse(text) as Json };
      } catch {
        return wrong('This is not JSON yet. Text stands in quotes: "text".');
      }
  }
}

const NOT_A_NUMBER = { number: "This is not a number.", integer: "This is not a whole number." };

function objectOf(field: Extract<Field, { kind: "object" }>, entered: Entered) {
  const troubles: Trouble[] = [];
  const found: [name: string, value: Json][] = [];
  const isEmpty = !Object.entries(entered).some(([path, text]) => path.startsWith(`${field.path}.`) && text.trim());
  if (isEmpty && !field.isRequired) return { value: field.isNullable ? null : undefined };
  for (const each of field.fields) {
    const made = valueOf(each, entered);
    if ("troubles" in made) troubles.push(...made.troubles);
    else if (made.value !== undefined) found.push([each.path.slice(field.path.length + 1), made.value]);
  }
  return troubles.length ? { troubles } : { value: Object.fromEntries(found) };
}

function numberOf(text: string, isWhole: boolean): { value: number } | undefined {
  const value = Number(text);
  return Number.isFinite(value) && (!isWhole || Number.isInteger(value)) ? { value } : undefined;
}

/** One value a line, or all in one line with commas. */
function listOf(text: string, of: "text" | "number" | "integer"): { value: Json[] } | undefined {
  const parts = text
    .split(text.includes("\n") ? "\n" : ",")
    .map((part) => part.trim())
    .filter(Boolean);
  if (of === "text") return { value: parts };
  const numbers = parts.map((part) => numberOf(part, of === "integer")?.value);
  return numbers.every((each) => each !== undefined) ? { value: numbers } : undefined;
}

/** Where the server found fault, from its sentence: "The value does not fit the schema: `$.row` must be ...". */
export function faultOf(sentence: string, form: Field): Trouble | undefined {
  const found = /`\$([^`]*)` (.*?)\.?$/.exec(sentence);
  if (!found) return undefined;
  const missing = /^lacks the property `([^`]*)`/.exec(found[2] ?? "");
  const place = `$${found[1]}${missing ? `.${missing[1]}` : ""}`;
  const path = pathsOf(form)
    .filter((each) => place === each || place.startsWith(`${each}.`) || place.startsWith(`${each}[`))
    .sort((one, other) => other.length - one.length)[0];
  if (path === undefined || path === "$") return undefined;
  return { path, what: missing ? "This is needed." : `It ${found[2]}.` };
}

const pathsOf = (field: Field): string[] =>
  field.kind === "object" ? [field.path, ...field.fields.flatMap(pathsOf)] : [field.path];
