/** Markdown on screen, also while it is still being written: a block is rendered again only when its text has changed. */

import type { Token } from "marked";
import { memo } from "../memo";
import { CodeBlock } from "./code";
import { blocks, safeHtml } from "./safe";

export function Markdown({ text }: { text: string }) {
  return (
    <div class="prose">
      {blocks(text).map((block, place) => (
        <Block key={place} raw={block.raw} block={block} />
      ))}
    </div>
  );
}

const Block = memo(
  ({ block }: { raw: string; block: Token }) =>
    block.type === "code" ? (
      <CodeBlock code={block.text as string} language={(block.lang as string | undefined) ?? ""} isCode={!!block.lang} />
    ) : (
      <div class="block" dangerouslySetInnerHTML={{ __html: safeHtml(block) }} />
    ),
  (before, after) => before.raw === after.raw && before.block.type === after.block.type,
);
