/** The list of channels, DMs and agents, and a button to open another. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Agent, Channel, Dm } from "../../api/wire";
import { href, type Route } from "../../state/route";
import { useCell } from "../../state/cell";
import { NewChannel, NewDm } from "./open";
import { unread } from "./feed/unread";

type Listed = {
  channels: Channel[];
  dms: Dm[];
  agents: Agent[];
  selected: string | undefined;
  again: () => Promise<void>;
};

export function Places({ channels, dms, agents, selected, again }: Listed) {
  const counts = useCell(unread);
  const [opening, setOpening] = useState<"channel" | "dm">();
  const close = () => setOpening(undefined);
  return (
    <>
      <Group title="Channels" more="New channel" open={() => setOpening("channel")}>
        {channels.map(({ id, name, kind }) => (
          <Row
            key={id}
            to={{ view: "channels", id }}
            isHere={id === selected}
            name={`# ${name}`}
            more={kind === "private" ? "private" : ""}
            unread={counts.get(id)?.count ?? 0}
          />
        ))}
      </Group>
      <Group title="Direct messages" more="New direct message" open={() => setOpening("dm")}>
        {dms.map((dm) => (
          <Row
            key={dm.id}
            to={{ view: "dms", id: dm.id }}
            isHere={dm.id === selected}
            name={dmName(dm)}
            unread={counts.get(dm.id)?.count ?? 0}
          />
        ))}
      </Group>
      <Group title="Agents">
        {agents.map(({ id, displayName }) => (
          <Row key={id} to={{ view: "agents", id }} isHere={id === selected} name={displayName} />
        ))}
      </Group>
      {opening === "channel" && <NewChannel agents={agents} close={close} opened={again} />}
      {opening === "dm" && <NewDm agents={agents} close={close} opened={again} />}
    </>
  );
}

/** A DM is called after the agents in it. */
export const dmName = ({ participants }: Dm): string =>
  participants
    .filter((each) => each.kind === "agent")
    .map((each) => each.id)
    .join(" and ");

type Grouped = { title: string; more?: string; open?: () => void; children: ComponentChildren };

function Group({ title, more, open, children }: Grouped) {
  return (
    <section>
      <h2>
        {title}
        {open && (
          <button type="button" class="quiet small" aria-label={more} title={more} onClick={open}>
            +
          </button>
        )}
      </h2>
      <ul class="rows">{children}</ul>
    </section>
  );
}

type Shown = { to: Route; isHere: boolean; name: string; more?: string; unread?: number };

const MOST = 99;

const Row = ({ to, isHere, name, more, unread: count = 0 }: Shown) => (
  <li>
    <a href={href(to)} aria-current={isHere ? "page" : undefined} class={count > 0 ? "unread" : undefined}>
      <span class="title">
        {name} {more && <span class="faint">{more}</span>}
      </span>
      {count > 0 && (
        <span class="badge" aria-label={`${count > MOST ? `more than ${MOST}` : count} unread`} role="img">
          {count > MOST ? `${MOST}+` : count}
        </span>
      )}
    </a>
  </li>
);
