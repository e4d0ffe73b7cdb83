/** The feed, followed while a view of channels is open. */

import { useEffect } from "preact/hooks";
import { messages, type Place } from "../../../api/channels";
import type { Message } from "../../../api/wire";
import { Cell, useCell } from "../../../state/cell";
import { follow } from "../../../log/follow/follow";
import { allOf, EMPTY, EVENTS, withEntry, withMessages, type ChannelState, type Entry } from "./feed";
import { lookSoon } from "./unread";

const state = new Cell<ChannelState>(EMPTY);

/** The state, with the earlier messages of `place`. */
export function useChannelState(place: Place | undefined): ChannelState {
  useEffect(
    () =>
      follow({
        path: "/api/sse",
        take: (frames) => {
          const entries = frames
            .filter((frame) => EVENTS.has(frame.event))
            .map(({ event, data }) => ({ event, data: JSON.parse(data) }) as Entry);
          state.set(entries.reduce(withEntry, state.get()));
          if (entries.some(({ event }) => event.startsWith("message_"))) lookSoon();
          return false;
        },
        opened: () => void (place && load(place).catch(() => undefined)),
        failed: () => undefined,
      }),
    [place?.kind, place?.id],
  );
  return useCell(state);
}

/** Read the last messages of a place, or those before one. */
export async function load(place: Place, before?: string): Promise<void> {
  const page = await messages(place, before);
  const found = withMessages(state.get(), page.messages);
  const isKnown = before === undefined && found.hasEarlier.has(place.id);
  const hasEarlier = isKnown ? found.hasEarlier : new Map(found.hasEarlier).set(place.id, page.next !== null);
  state.set({ ...found, hasEarlier });
}

export const add = (message: Message): void => state.set(withMessages(state.get(), [message]));

const MOST_PAGES = 20;

/** Read earlier messages until this one is among them; false if it is not found. */
export async function loadUpTo(place: Place, id: string): Promise<boolean> {
  for (let page = 0; page < MOST_PAGES && !state.get().messages.has(id); page += 1) {
    if (!state.get().hasEarlier.get(place.id)) return false;
    await load(place, allOf(state.get(), place.id)[0]?.id);
  }
  return state.get().messages.has(id);
}
