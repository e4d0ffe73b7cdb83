/** The feed, followed while a view of channels is open. */

import { useEffect } from "preact/hooks";
import { runs } from "../api/calls";
import { messages, type Place } from "../api/channels";
import { Cell, useCell } from "../cell";
import { follow } from "../log/follow";
import { EMPTY, withMessages, withEntry, type Entry, type ChannelState } from "./feed";

const state = new Cell<ChannelState>(EMPTY);
const KINDS = new Set(["message_created", "reaction_added", "agent_typing", "agent_done"]);

/** The state, with the earlier messages of `place`. */
export function useChannelState(place: Place | undefined): ChannelState {
  useEffect(
    () =>
      follow({
        path: "/api/sse",
        take: (frames) => {
          const entries = frames.filter((frame) => KINDS.has(frame.event));
          state.set(
            entries.reduce(
              (before, { event, data }) => withEntry(before, { event, data: JSON.parse(data) } as Entry),
              state.get(),
            ),
          );
          return false;
        },
        opened: () => void Promise.all([place && load(place), lookWhoWorks()]).catch(() => undefined),
        failed: () => undefined,
      }),
    [place?.kind, place?.id],
  );
  return useCell(state);
}

export async function load(place: Place, before?: string): Promise<boolean> {
  const page = await messages(place, before);
  state.set(withMessages(state.get(), page.messages));
  return page.next !== null;
}

export const add = (message: Parameters<typeof withMessages>[1][number]): void => state.set(withMessages(state.get(), [message]));

/** Who began before the feed was opened is at work too. */
async function lookWhoWorks(): Promise<void> {
  const page = await runs({ status: "running", limit: 100 });
  const typing = page.runs.map((run) => [run.run_id, { agentId: run.agent, placeId: run.thread_id ?? "" }] as const);
  state.set({ ...state.get(), typing: new Map(typing) });
}
