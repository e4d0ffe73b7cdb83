/** The messages that a run posted in channels and DMs, as links to them. */

import type { Call, RunState } from "../../log/fold/state";
import { href } from "../../state/route";
import { isPlain } from "../../parts/text/words";

export function Wrote({ state }: { state: RunState }) {
  const ids = state.items.flatMap((item) => (item.kind === "call" ? messageOf(item) : []));
  if (ids.length === 0) return null;
  return (
    <ul class="wrote faint" aria-label="Messages that it wrote">
      {ids.map((id, place) => (
        <li key={id}>
          <a href={href({ view: "messages", id })}>wrote {ids.length === 1 ? "a message" : `message ${place + 1}`}</a>
        </li>
      ))}
    </ul>
  );
}

/** The message that a call posted. */
function messageOf({ tool, state, output }: Call): string[] {
  if (tool !== "send_message" || state !== "finished" || !isPlain(output)) return [];
  return typeof output["messageId"] === "string" ? [output["messageId"]] : [];
}
