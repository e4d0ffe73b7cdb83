/**
 * The command palette: Ctrl-K, a few letters, Enter. Places, agents to talk to, chats by their titles and messages, and
 * runs by a part of their id.
 */

import { useEffect, useState } from "preact/hooks";
import { agents, runs, search } from "../api/calls";
import { useCell } from "../state/cell";
import { placeOfHit } from "../views/chats/found";
import { about, offered, wantedAgent } from "../views/chats/offered";
import { titles } from "../views/chats/titles";
import { useLater } from "../state/later";
import { useReading } from "../state/requests";
import { go, href, type Route } from "../state/route";
import { brief } from "../parts/text/words";
import { Dialog } from "./dialog";

type Command = { name: string; hint: string; act: () => void };
type Found = { name: string; hint: string; to: Route };

const MOST = 12;
const MOST_RUNS = 5;
const ID_PART = /^[0-9a-f][0-9a-f-]{3,35}$/i;
const PLACES: [name: string, route: Route][] = [
  ["New chat", { view: "chats" }],
  ["Channels", { view: "channels" }],
  ["Runs", { view: "runs" }],
  ["Overview", { view: "overview" }],
  ["Inbox", { view: "approvals" }],
];

export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useCommands(text).slice(0, MOST);
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    close();
    command.act();
  };
  const press = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by) setAt(Math.min(Math.max(chosen + by, 0), found.length - 1));
    else if (event.key === "Enter" && !event.isComposing) run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" close={close}>
      <input
        type="search"
        aria-label="Command"
        aria-controls="commands"
        aria-activedescendant={found.length ? `command-${chosen}` : undefined}
        placeholder="A place, an agent, words of a chat, or a part of a run's id"
        value={text}
        autofocus
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul class="commands" id="commands" role="listbox" aria-label="Commands">
        {found.map((command, place) => (
          <li
            key={`${command.hint} ${command.name} ${place}`}
            id={`command-${place}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => run(command)}
          >
            <span>{command.name}</span>
            <span class="faint">{command.hint}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="faint">Nothing is called like that.</p>}
    </Dialog>
  );
}

/** The commands in which every word of the text occurs, then what the server finds. */
function useCommands(text: string): Command[] {
  const { value: known } = useReading(agents, []);
  const chats = useCell(titles);
  const words = text.trim().toLowerCase().split(/\s+/);
  const talk = offered(known ?? []).map((agent) => ({
    name: `Talk to ${agent.displayName}`,
    hint: about(agent) || "agent",
    act: () => {
      wantedAgent.set(agent.id);
      go({ view: "chats" });
    },
  }));
  const wanted = text.trim();
  const later = useLater(wanted);
  const { value: found } = useReading(() => look(later), [later]);
  const all: Command[] = [
    ...PLACES.map(([name, route]) => ({ name, hint: "place", act: () => go(route) })),
    ...talk,
    ...[...chats].map(([id, title]) => ({ name: title, hint: "chat", act: () => go({ view: "chats", id }) })),
  ];
  const fits = ({ name, hint }: Command) =>
    words.every((word) => `${name} ${hint}`.toLowerCase().includes(word));
  const loaded = new Set([...chats].map(([id]) => href({ view: "chats", id })));
  return [
    ...all.filter(fits),
    ...(later === wanted ? (found ?? []) : [])
      .map(({ name, hint, to }) => ({ name, hint, act: () => go(to), isListed: loaded.has(href(to)) }))
      .filter((command) => !command.isListed || !fits(command)),
  ];
}

/** Chats and messages with these words, and runs whose id begins or ends with them. */
async function look(text: string): Promise<Found[]> {
  if (!text) return [];
  const isId = ID_PART.test(text);
  const [said, ids] = await Promise.all([
    search(text),
    isId ? runs({ id_part: text.toLowerCase(), limit: MOST_RUNS }) : undefined,
  ]);
  return [
    ...(ids?.runs ?? []).map(({ run_id: id, agent }) => ({
      name: id,
      hint: `run of ${agent}`,
      to: { view: "runs", id } as const,
    })),
    ...said.threads.map(({ thread_id: id, title }) => ({
      name: title,
      hint: "chat",
      to: { view: "chats", id } as const,
    })),
    ...said.messages.map((hit) => ({
      name: brief(hit.text),
      hint: `message in ${hit.title ?? "a new chat"}`,
      to: placeOfHit(hit, text),
    })),
  ];
}

/** Whether the palette is open; also listens to Ctrl-K, everywhere. */
export function usePalette(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) setOpen(true);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  return [isOpen, setOpen];
}
