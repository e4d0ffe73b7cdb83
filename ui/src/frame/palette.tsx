/**
 * The command palette: Ctrl-K, a few letters, Enter. Places, agents to talk to, chats by their titles and messages, and
 * runs by their id, or by 8 or more characters of it.
 */

import { useEffect, useState } from "preact/hooks";
import { agents, runIds, search } from "../api/calls";
import type { SearchPage } from "../api/wire";
import { useCell } from "../state/cell";
import { placeOfHit } from "../views/chats/found";
import { about, offered, wantedAgent } from "../views/chats/offered";
import { titles } from "../views/chats/titles";
import { useLater } from "../state/later";
import { useReading } from "../state/requests";
import { go, href, type Route } from "../state/route";
import { brief } from "../parts/text/words";
import { Dialog } from "./dialog";
import { Failure } from "./failure";

type Command = { name: string; hint: string; act: () => void };
type Found = { name: string; hint: string; to: Route };

const MOST = 12;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ID_PART = /^[0-9a-f-]{8,35}$/;
const NOTHING: SearchPage = { threads: [], messages: [], next: null };
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
  const { commands, isPending, failures } = useCommands(text);
  const found = commands.slice(0, MOST);
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
        placeholder="A place, an agent, words of a chat, or 8 characters of a run's id"
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
      {failures.map((failure) => (
        <Failure key={failure} text={failure} />
      ))}
      {found.length === 0 && isPending && (
        <p class="faint" role="status">
          Searching…
        </p>
      )}
      {found.length === 0 && !isPending && failures.length === 0 && <p class="faint">Nothing is called like that.</p>}
    </Dialog>
  );
}

type Commands = { commands: Command[]; isPending: boolean; failures: string[] };

/** The commands in which every word of the text occurs, then what the server finds. Each request fails alone. */
function useCommands(text: string): Commands {
  const wanted = text.trim();
  const later = useLater(wanted);
  const known = useReading(agents, []);
  const part = idPartIn(later);
  const said = useReading(async () => (later ? search(later) : NOTHING), [later]);
  const ids = useReading(async () => (part ? runIds(part) : []), [part]);
  const chats = useCell(titles);
  const words = wanted.toLowerCase().split(/\s+/);
  const id = idIn(wanted);
  const talk = offered(known.value ?? []).map((agent) => ({
    name: `Talk to ${agent.displayName}`,
    hint: about(agent) || "agent",
    act: () => {
      wantedAgent.set(agent.id);
      go({ view: "chats" });
    },
  }));
  const all: Command[] = [
    ...(id ? [{ name: id, hint: "run", act: () => go({ view: "runs", id }) }] : []),
    ...PLACES.map(([name, route]) => ({ name, hint: "place", act: () => go(route) })),
    ...talk,
    ...[...chats].map(([id, title]) => ({ name: title, hint: "chat", act: () => go({ view: "chats", id }) })),
  ];
  const fits = ({ name, hint }: Command) =>
    words.every((word) => `${name} ${hint}`.toLowerCase().includes(word));
  const loaded = new Set([...chats].map(([id]) => href({ view: "chats", id })));
  const isSettled = later === wanted;
  const found = isSettled ? [...asRuns(ids.value ?? []), ...asHits(said.value ?? NOTHING, later)] : [];
  const readings = [known, said, ids];
  return {
    commands: [
      ...all.filter(fits),
      ...found
        .map(({ name, hint, to }) => ({ name, hint, act: () => go(to), isListed: loaded.has(href(to)) }))
        .filter((command) => !command.isListed || !fits(command)),
    ],
    isPending: !isSettled || readings.some(({ value, failure }) => value === undefined && failure === undefined),
    failures: [...new Set(readings.flatMap(({ failure }) => failure ?? []))],
  };
}

/** The whole id that the text is; undefined for anything else. */
export const idIn = (text: string): string | undefined => {
  const id = text.toLowerCase();
  return ID.test(id) ? id : undefined;
};

/** The part of an id that the text may be; undefined for a whole id and for less than the server looks up. */
export const idPartIn = (text: string): string | undefined => {
  const part = text.toLowerCase();
  return ID_PART.test(part) ? part : undefined;
};

const asRuns = (ids: string[]): Found[] => ids.map((id) => ({ name: id, hint: "run", to: { view: "runs", id } }));

const asHits = ({ threads, messages }: SearchPage, text: string): Found[] => [
  ...threads.map(({ thread_id: id, title }) => ({ name: title, hint: "chat", to: { view: "chats", id } as const })),
  ...messages.map((hit) => ({
    name: brief(hit.text),
    hint: `message in ${hit.title ?? "a new chat"}`,
    to: placeOfHit(hit, text),
  })),
];

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
