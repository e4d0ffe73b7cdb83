/**
 * What a tool is given, in its own order. Text of several lines, such as code, is shown as it would be read; what
 * stands between such texts as JSON. Characters that cannot be seen are shown as escapes, and copied as they are.
 */

import type { Json } from "../../log/events";
import { CodeBlock } from "./code";
import { isPlain, revealed, shown } from "./words";

export function Input({ input }: { input: Json }) {
  return (
    <>
      {partsOf(input).map(({ name, value }, place) =>
        name === undefined ? (
          <CodeBlock
            key={place}
            code={revealed(shown(value)) || "{}"}
            copied={shown(value) || "{}"}
            language="input"
            label="Copy input"
          />
        ) : (
          <CodeBlock
            key={place}
            code={revealed(String(value).trimEnd())}
            copied={String(value)}
            language={revealed(name)}
            label={`Copy ${revealed(name)}`}
          />
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
  let between: [name: string, value: Json][] = [];
  const close = () => {
    if (between.length) parts.push({ value: Object.fromEntries(between) }); // also a field `__proto__`
    between = [];
  };
  for (const [name, value] of Object.entries(input)) {
    if (typeof value === "string" && value.trim().includes("\n")) {
      close();
      parts.push({ name, value });
    } else between.push([name, value]);
  }
  close();
  return parts.length ? parts : [{ value: input }];
}
