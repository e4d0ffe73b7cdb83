/** Who is in a channel, and who could be. Its owner adds and removes. */

import { useState } from "preact/hooks";
import { addMember, removeMember } from "../../../api/channels";
import type { Agent, Channel, Member } from "../../../api/wire";
import { Failure } from "../../../frame/failure";
import { useDoing } from "../../../state/requests";
import { href } from "../../../state/route";
import { Face } from "./face";

type Listed = { channel: Channel; agents: Agent[]; isMine: boolean; changed: () => Promise<void> };

export const Members = (given: Listed) => (
  <aside class="beside" aria-label="Members">
    <header>
      <h2>Members</h2>
    </header>
    <MemberList {...given} />
  </aside>
);

export function MemberList({ channel, agents, isMine, changed }: Listed) {
  const { isBusy, failure, start } = useDoing();
  const change = (act: () => Promise<unknown>) => start(() => act().then(changed));
  return (
    <>
      <ul class="members">
        {channel.members.map((member) => (
          <li key={`${member.kind} ${member.id}`}>
            <Face id={member.id} isAgent={member.kind === "agent"} />
            {member.kind === "agent" ? (
              <a href={href({ view: "agents", id: member.id })}>{member.id}</a>
            ) : (
              <span>{member.id}</span>
            )}
            {isMine && (
              <button
                type="button"
                class="quiet small"
                aria-label={`Remove ${member.id}`}
                disabled={isBusy}
                onClick={() => change(() => removeMember(channel.id, member))}
              >
                ✕
              </button>
            )}
          </li>
        ))}
        {channel.members.length === 0 && <li class="faint">No members yet.</li>}
      </ul>
      {isMine && (
        <Adding
          channel={channel}
          agents={agents}
          isBusy={isBusy}
          add={(who) => change(() => addMember(channel.id, who))}
        />
      )}
      <Failure text={failure} />
    </>
  );
}

type Adds = { channel: Channel; agents: Agent[]; isBusy: boolean; add: (who: Member) => void };

function Adding({ channel, agents, isBusy, add }: Adds) {
  const [person, setPerson] = useState("");
  const inside = new Set(channel.members.filter(({ kind }) => kind === "agent").map(({ id }) => id));
  const others = agents.filter(({ id }) => !inside.has(id));
  return (
    <>
      {others.length > 0 && (
        <label class="add">
          Add an agent
          <select
            value=""
            disabled={isBusy}
            onChange={(event) => {
              const id = event.currentTarget.value;
              if (id) add({ id, kind: "agent" });
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
      {channel.kind === "private" && (
        <form
          class="add"
          onSubmit={(event) => {
            event.preventDefault();
            if (!person.trim()) return;
            add({ id: person.trim(), kind: "user" });
            setPerson("");
          }}
        >
          <label>
            Add a person
            <span class="line">
              <input
                aria-label="Add a person"
                placeholder="owner of an API key"
                maxLength={64}
                value={person}
                onInput={(event) => setPerson(event.currentTarget.value)}
              />
              <button disabled={isBusy || !person.trim()}>Add</button>
            </span>
          </label>
        </form>
      )}
    </>
  );
}
