/** What an answer rests on, as chips. A chip opens the document, as the server has it or the run's log tells it. */

import { useState } from "preact/hooks";
import * as api from "../../api/calls";
import { useReading } from "../../state/requests";
import { Dialog } from "../../frame/dialog";
import { found, type Known } from "../../log/derived/documents";
import type { RunState } from "../../log/fold/state";
import { Markdown } from "../text/markdown";
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
      {open !== undefined && (
        <Document runId={state.runId} source={open} known={found(state, open)} close={() => setOpen(undefined)} />
      )}
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

type Opened = { runId: string; source: string; known: Known | undefined; close: () => void };

function Document({ runId, source, known, close }: Opened) {
  const { value: all, failure } = useReading(() => api.sources(runId), [runId]);
  const documents = all?.filter((each) => each.id === source) ?? [];
  const isUnknown = documents.length === 0 && known === undefined && (all !== undefined || failure !== undefined);
  return (
    <Dialog title={documents[0]?.title ?? known?.title ?? source} close={close}>
      {documents.map((each) => (
        <Markdown key={each.collection} text={each.text} />
      ))}
      <dl class="facts faint">
        <dt>id</dt>
        <dd>
          <code>{source}</code>
        </dd>
        {documents.map(({ collection }) => (
          <Fact key={collection} name="collection" value={collection} />
        ))}
        {documents.length === 0 &&
          Object.entries(known?.rest ?? {}).map(([name, value]) => (
            <Fact key={name} name={name} value={shown(value)} />
          ))}
      </dl>
      {isUnknown && <p class="faint">Nothing more is known of this source here.</p>}
    </Dialog>
  );
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);
