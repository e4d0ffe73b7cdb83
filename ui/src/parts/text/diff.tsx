/** What an edit changed, place by place: what was there, struck out, and what is there now. */

import type { Json } from "../../log/events";
import { changes, lines, type Change } from "./difference";
import { revealed } from "./words";

export function Difference({ before, after }: { before: Json; after: Json }) {
  const found = changes(before, after);
  return (
    <div class="difference" role="note" aria-label="Changes">
      {found.length === 0 && <p class="faint">Nothing has changed.</p>}
      {found.map((change) => (
        <Changed key={change.path} change={change} />
      ))}
    </div>
  );
}

function Changed({ change: { path, before, after } }: { change: Change }) {
  if (typeof before === "string" && typeof after === "string" && `${before}${after}`.includes("\n")) {
    return (
      <div class="changed">
        <code>{revealed(path)}</code>
        <pre tabIndex={0}>
          {lines(before, after).map(({ kind, text }, place) => (
            <Line key={place} kind={kind} text={revealed(text)} />
          ))}
        </pre>
      </div>
    );
  }
  return (
    <p class="changed">
      <code>{revealed(path) || "input"}</code>
      {before !== undefined && <del>{revealed(JSON.stringify(before))}</del>}
      {after !== undefined && <ins>{revealed(JSON.stringify(after))}</ins>}
    </p>
  );
}

function Line({ kind, text }: { kind: "same" | "gone" | "new"; text: string }) {
  if (kind === "gone") return <del>{`${text}\n`}</del>;
  return kind === "new" ? <ins>{`${text}\n`}</ins> : <span>{`${text}\n`}</span>;
}
