/** What an answer rests on, as chips. A chip opens the document, as far as the run's own log knows it. */

import { useState } from "preact/hooks";
import { found, type Known } from "../log/documents";
import type { RunState } from "../log/state";
import { Dialog } from "../frame/dialog";
import { webAddress } from "../text/safe";
import { shown } from "../text/words";

export function Sources({ state }: { state: RunState }) {
  const [open, setOpen] = useState<string>();
  if (state.sources.length === 0) return null;
  return (
    <>
      <ul class="sources" aria-label="Sources">
        {state.sources.map((source) => (
          <li key={source}>
            <Chip source={source} title={found(state, source)?.title} open={() => setOpen(source)} />
          </li>
        ))}
      </ul>
      {open !== undefined && <Document source={open} known={found(state, open)} close={() => setOpen(undefined)} />}
    </>
  );
}

function Chip({ source, title, open }: { source: string; title: string | undefined; open: () => void }) {
  const address = webAddress(source);
  if (address === undefined) {
    return (
      <button type="button" class="chip" onClick={open}>
        {title ?? source}
      </button>
    );
  }
  return (
    <a class="chip" href={address} target="_blank" rel="noopener noreferrer">
      {title ?? address.replace(/^https?:\/\//, "")}
    </a>
  );
}

function Document({ source, known, close }: { source: string; known: Known | undefined; close: () => void }) {
  return (
    <Dialog title={known?.title ?? source} close={close}>
      <dl class="facts">
        <dt>id</dt>
        <dd>
          <code>{source}</code>
        </dd>
        {Object.entries(known?.rest ?? {}).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{shown(value)}</dd>
          </>
        ))}
      </dl>
      {known === undefined && <p class="faint">The log names this source and says nothing more about it.</p>}
    </Dialog>
  );
}
