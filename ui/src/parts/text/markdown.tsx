/**
 * Markdown on screen, also while it is still being written: a block is rendered again only when its text has changed.
 */

import type { Token } from "marked";
import { useEffect, useState } from "preact/hooks";
import { memo } from "../../state/memo";
import { CodeBlock } from "./code";
import { blocks, hasMath, safeHtml, type Tex } from "./safe";

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
  ({ block }: { raw: string; block: Token }) => {
    if (block.type === "code")
      return (
        <CodeBlock
          code={block.text as string}
          language={(block.lang as string | undefined) ?? ""}
          isCode={!!block.lang}
        />
      );
    return hasMath(block) ? <WithMath block={block} /> : <Html html={safeHtml(block)} />;
  },
  (before, after) => before.raw === after.raw && before.block.type === after.block.type,
);

const Html = ({ html }: { html: string }) => <div class="block" dangerouslySetInnerHTML={{ __html: html }} />;

let loaded: Tex | undefined;

/** As it was written until the library is loaded. */
function WithMath({ block }: { block: Token }) {
  const [tex, setTex] = useState<{ draw: Tex } | undefined>(loaded && { draw: loaded });
  useEffect(() => {
    if (tex === undefined)
      void import("./tex").then(({ mathml }) => setTex({ draw: (loaded = mathml) })).catch(() => undefined);
  }, []);
  return <Html html={safeHtml(block, tex?.draw)} />;
}
