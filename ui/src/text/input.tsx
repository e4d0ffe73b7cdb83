/** What a tool is given. Text of several lines, such as code, is shown as it would be read; the rest as JSON. */

import type { Json } from "../log/events";
import { CodeBlock } from "./code";
import { isPlain, shown } from "./words";

export function Input({ input }: { input: Json }) {
  const fields = isPlain(input) ? Object.entries(input) : [];
  const texts = fields.filter(
    (field): field is [string, string] => typeof field[1] === "string" && field[1].trim().includes("\n"),
  );
  const rest = fields.filter(([name]) => !texts.some(([text]) => text === name));
  return (
    <>
      {texts.map(([name, text]) => (
        <CodeBlock key={name} code={text.trimEnd()} language={name} label={`Copy ${name}`} />
      ))}
      {(texts.length === 0 || rest.length > 0) && (
        <CodeBlock
          code={shown(texts.length ? Object.fromEntries(rest) : input) || "{}"}
          language="input"
          label="Copy input"
        />
      )}
    </>
  );
}
