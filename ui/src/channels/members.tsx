/** Who is in a channel, and who could be. */

import { addAgent, removeAgent } from "../api/channels";
import type { Agent, Channel } from "../api/wire";
import { useDoing } from "../requests";
import { href } from "../route";
import { Face } from "./face";
import { Failure } from "../frame/failure";

export function Members({ channel, agents, again }: { channel: Channel; agents: Agent[]; again: () => Promise<void> }) {
  const { isBusy, failure, start } = useDoing();
  const inside = new Set(channel.members.filter((each) => each.kind === "agent").map((each) => each.id));
  const others = agents.filter((each) => !inside.has(each.id));
  const change = (act: () => Promise<unknown>) => start(() => act().then(again));
  return (
    <aside class="beside" aria-label="Members">
      <header>
        <h2>Members</h2>
      </header>
      <ul class="members">
        {channel.members.map(({ id, kind }) => (
          <li key={`${kind} ${id}`}>
            <Face id={id} isAgent={kind === "agent"} />
            {kind === "agent" ? <a href={href({ view: "agents", id })}>{id}</a> : <span>{id}</span>}
            {kind === "agent" && (
              <button
                type="button"
                class="quiet small"
                aria-label={`Remove ${id}`}
                disabled={isBusy}
                onClick={() => change(() => removeAgent(channel.id, id))}
              >
                ✕
              </button>
            )}
          </li>
        ))}
        {channel.members.length === 0 && <li class="faint">No members yet.</li>}
      </ul>
      {others.length > 0 && (
        <label class="add">
          Add an agent
          <select
            value=""
            disabled={isBusy}
            onChange={(event) => {
              const id = event.currentTarget.value;
              if (id) change(() => addAgent(channel.id, id));
            }}
          >
            <option value="">choose…</option>
            {others.map(({ id, displayName }) => (
              <option key={id} value={id}>
                {displayName}
              </option>
            ))}
          </select>
        </label>
      )}
      <Failure text={failure} />
    </aside>
  );
}
