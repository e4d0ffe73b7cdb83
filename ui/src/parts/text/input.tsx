/**
 * What a tool is given, in its own order. Text of several lines, such as code, is shown as it would be read; what stands
 * between such texts as JSON.
 */

import type { Json } from "../../log/events";
import { CodeBlock } from "./code";
import { isPlain, shown } from "./words";

export function Input({ input }: { input: Json }) {
  return (
    <>
      {partsOf(input).map(({ name, value }, place) =>
        name === undefined ? (
          <CodeBlock key={place} code={shown(value) || "{}"} language="input" label="Copy input" />
        ) : (
          <CodeBlock key={place} code={String(value).trimEnd()} language={name} label={`Copy ${name}`} />
        ),
      )}
    </>
  );
}

type Part = { name?: string; value: Json };

/** The fields of an input in their order: a part for each long text, and one for the fields between two of them. */
export function partsOf(input: Json): Part[] {
  if (!isPlain(input)) return [{ value: input }];
  const parts: Part[] = [];
  for (const [name, value] of Object.entries(input)) {
    const last = parts.at(-1);
    if (typeof value === "string" && value.trim().includes("\n")) parts.push({ name, value });
    else if (last && last.name === undefined && isPlain(last.value)) last.value[name] = value;
    else parts.push({ value: { [name]: value } });
  }
  return parts.length ? parts : [{ value: input }];
}
