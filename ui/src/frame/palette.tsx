/** The command palette: Ctrl-K, a few letters, Enter. Places, agents to talk to, chats, and runs by their id. */

import { useEffect, useState } from "preact/hooks";
import { agents } from "../api/calls";
import { useCell } from "../state/cell";
import { about, offered, wantedAgent } from "../views/chats/offered";
import { titles } from "../views/chats/titles";
import { useReading } from "../state/requests";
import { go, type Route } from "../state/route";
import { Dialog } from "./dialog";

type Command = { name: string; hint: string; act: () => void };

const MOST = 12;
const PLACES: [name: string, route: Route][] = [
  ["New chat", { view: "chats" }],
  ["Channels", { view: "channels" }],
  ["Runs", { view: "runs" }],
  ["Overview", { view: "overview" }],
  ["Inbox", { view: "approvals" }],
];
const RUN_ID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

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
        placeholder="A place, an agent, a chat, or the id of a run"
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

/** The commands in which every word of the text occurs. */
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
  const id = text.trim();
  const all: Command[] = [
    ...(RUN_ID.test(id) ? [{ name: id, hint: "run", act: () => go({ view: "runs", id }) }] : []),
    ...PLACES.map(([name, route]) => ({ name, hint: "place", act: () => go(route) })),
    ...talk,
    ...[...chats].map(([id, title]) => ({ name: title, hint: "chat", act: () => go({ view: "chats", id }) })),
  ];
  return all.filter(({ name, hint }) => words.every((word) => `${name} ${hint}`.toLowerCase().includes(word)));
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
