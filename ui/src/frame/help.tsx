/** Keys that work everywhere, and the list of all keys. */

import { useEffect, useState, type Dispatch, type StateUpdater } from "preact/hooks";
import { go } from "../state/route";
import { Dialog } from "./dialog";

const KEYS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["g c", "chats"],
      ["g h", "channels"],
      ["g r", "runs"],
      ["g o", "overview"],
      ["g a", "inbox"],
      ["n", "new chat"],
      ["/", "search"],
      ["Ctrl K", "go to a place, an agent, a chat or a run"],
      ["?", "this list"],
    ],
  ],
  [
    "Writing",
    [
      ["Enter", "send"],
      ["Shift Enter", "new line"],
      ["Esc", "leave an edit"],
    ],
  ],
  [
    "Inbox",
    [
      ["j k", "next, previous"],
      ["a", "approve"],
      ["e", "edit the input, or fill in the answer"],
      ["r", "reject"],
      ["y", "confirm a call that may happen twice"],
      ["o", "open the run"],
    ],
  ],
  [
    "A run",
    [
      ["← →", "an event back or on, on the slider"],
      ["Home End", "the first, the last event"],
    ],
  ],
];

export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <div class="keys">
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    {key.split(" ").map((each) => (
                      <kbd key={each}>{each}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const PLACES: Record<string, () => void> = {
  c: () => go({ view: "chats" }),
  h: () => go({ view: "channels" }),
  r: () => go({ view: "runs" }),
  o: () => go({ view: "overview" }),
  a: () => go({ view: "approvals" }),
};

/** Whether the help is open; also listens to the keys that work everywhere. */
export function useShortcuts(): [boolean, Dispatch<StateUpdater<boolean>>] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    let hasG = false;
    return onKey((key, event) => {
      if (event.repeat) return;
      const place = hasG ? PLACES[key] : undefined;
      hasG = key === "g";
      if (place) place();
      else if (key === "?") setOpen(true);
      else if (key === "n") go({ view: "chats" });
      else if (key === "/") document.querySelector<HTMLElement>("input[type=search]")?.focus();
      else return;
      event.preventDefault();
    }, true);
  }, []);
  return [isOpen, setOpen];
}

/**
 * Calls `take` for keys that are pressed while no field is written in and no dialog is open. A key goes to one taker:
 * the one that is `first` (the second key of "g a" approves nothing), else the one that prevents the default.
 */
export function onKey(take: (key: string, event: KeyboardEvent) => void, isFirst = false): () => void {
  const listen = (event: KeyboardEvent) => {
    const at = event.target instanceof Element ? event.target : document.body;
    const isWriting = at.closest("input:not([type=radio], [type=checkbox]), textarea, select") !== null;
    const isTaken = event.defaultPrevented || document.querySelector("dialog[open]") !== null;
    if (isWriting || isTaken || event.ctrlKey || event.metaKey || event.altKey) return;
    take(event.key, event);
  };
  addEventListener("keydown", listen, isFirst);
  return () => removeEventListener("keydown", listen, isFirst);
}
