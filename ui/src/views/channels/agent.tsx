/** An agent: its memory blocks, its passages, its current prompt, and its runs. */

import { useState } from "preact/hooks";
import * as api from "../../api/channels";
import type { Block, Channel } from "../../api/wire";
import { useDoing, useReading } from "../../state/requests";
import { href } from "../../state/route";
import { CodeBlock } from "../../parts/text/code";
import { ago, short } from "../../parts/text/words";
import { Failure } from "../../frame/failure";
import { Loading, Missing } from "../../frame/states";

export function AgentPage({ id, channels }: { id: string; channels: Channel[] }) {
  const { value: agent, failure, isMissing, again } = useReading(() => api.agent(id), [id]);
  if (isMissing)
    return (
      <main class="main">
        <Missing what="agent" to={{ view: "channels" }} name="All channels" />
      </main>
    );
  return (
    <main class="main agent-page">
      <div class="column">
        <header>
          <h1>{agent?.displayName ?? id}</h1>
          <p class="lead">
            {[agent?.title, agent?.modelId && `thinks with ${agent.modelId}`].filter(Boolean).join(" · ")}
          </p>
        </header>
        <Failure text={failure} again={again} />
        {agent === undefined && failure === undefined && <Loading />}
        {agent && (
          <>
            <Memory id={id} />
            <Passages id={id} />
            <Prompt id={id} channels={channels} />
            <Runs id={id} />
          </>
        )}
      </div>
    </main>
  );
}

function Memory({ id }: { id: string }) {
  const { value: blocks, again } = useReading(() => api.blocks(id), [id], 5000);
  const [label, setLabel] = useState("");
  const { failure, start } = useDoing();
  const add = () =>
    start(async () => {
      await api.setBlock(id, label.trim(), "");
      setLabel("");
      await again();
    });
  return (
    <section aria-label="Memory">
      <h2>Memory</h2>
      <p class="faint">Blocks that are in every prompt of this agent.</p>
      {blocks?.map((block) => (
        <MemoryBlock key={`${block.ownerId} ${block.label}`} id={id} block={block} again={again} />
      ))}
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          if (label.trim()) add();
        }}
      >
        <input
          aria-label="New block"
          placeholder="New block"
          maxLength={64}
          value={label}
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <button disabled={!label.trim()}>Add</button>
      </form>
      <Failure text={failure} />
    </section>
  );
}

function MemoryBlock({ id, block, again }: { id: string; block: Block; again: () => Promise<void> }) {
  const [text, setText] = useState<string>();
  const { isBusy, failure, start } = useDoing();
  const isOwn = block.ownerId === id;
  const act = (what: () => Promise<unknown>) =>
    start(async () => {
      await what();
      setText(undefined);
      await again();
    });
  return (
    <div class="block-card">
      <label>
        {block.label}
        {!isOwn && ` (of ${block.ownerId})`}
        <textarea
          rows={Math.min(8, (text ?? block.content).split("\n").length + 1)}
          readOnly={!isOwn}
          value={text ?? block.content}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {isOwn && (
        <div class="buttons">
          {text !== undefined && text !== block.content && (
            <button
              type="button"
              class="small primary"
              disabled={isBusy}
              onClick={() => act(() => api.setBlock(id, block.label, text))}
            >
              Save
            </button>
          )}
          <button
            type="button"
            class="quiet small"
            aria-label={`Forget ${block.label}`}
            disabled={isBusy}
            onClick={() => act(() => api.dropBlock(id, block.label))}
          >
            Forget
          </button>
        </div>
      )}
      <Failure text={failure} />
    </div>
  );
}

function Passages({ id }: { id: string }) {
  const [query, setQuery] = useState("");
  const { value: passages, failure } = useReading(() => api.passages(id, query.trim()), [id, query]);
  return (
    <section aria-label="Passages">
      <h2>Passages</h2>
      <p class="faint">What it has put away, and finds again by its words.</p>
      <input
        type="search"
        aria-label="Search passages"
        placeholder="Search"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <Failure text={failure} />
      <ul class="passages">
        {passages?.map((passage) => (
          <li key={passage.id}>
            {passage.content} <span class="faint">{[...passage.tags, ago(passage.createdAt)].join(" · ")}</span>
          </li>
        ))}
      </ul>
      {passages?.length === 0 && <p class="faint">Nothing.</p>}
    </section>
  );
}

function Prompt({ id, channels }: { id: string; channels: Channel[] }) {
  const [at, setAt] = useState("");
  const place: api.Place | undefined = at ? { kind: "channels", id: at } : undefined;
  const { value: prompt } = useReading(() => api.prompt(id, place), [id, at]);
  return (
    <section aria-label="Prompt">
      <div class="head">
        <h2>Prompt</h2>
        <label class="inline">
          as in
          <select aria-label="Prompt as in" value={at} onChange={(event) => setAt(event.currentTarget.value)}>
            <option value="">no channel</option>
            {channels.map((channel) => (
              <option key={channel.id} value={channel.id}>
                #{channel.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {prompt && (
        <CodeBlock
          code={prompt.systemPrompt || "(empty)"}
          language="what the agent would be told now"
          label="Copy prompt"
        />
      )}
    </section>
  );
}

function Runs({ id }: { id: string }) {
  const { value: runs } = useReading(() => api.agentRuns(id), [id], 5000);
  return (
    <section aria-label="Runs">
      <h2>Runs</h2>
      <ul class="passages">
        {runs?.map((run) => (
          <li key={run.id}>
            <a class="mono" href={href({ view: "runs", id: run.id })}>
              {short(run.id)}
            </a>{" "}
            {run.status} <span class="faint">{ago(run.createdAt)}</span>
          </li>
        ))}
      </ul>
      {runs?.length === 0 && <p class="faint">None yet.</p>}
    </section>
  );
}
