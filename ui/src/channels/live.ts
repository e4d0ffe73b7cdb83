/** The feed, followed while a view of channels is open. */

import { useEffect } from "preact/hooks";
import { runs } from "../api/calls";
import { messages, type Place } from "../api/channels";
import { Cell, useCell } from "../cell";
import { follow } from "../log/follow";
import { EMPTY, loaded, told, type Entry, type Office } from "./feed";

const office = new Cell<Office>(EMPTY);
const KINDS = new Set(["message_created", "reaction_added", "agent_typing", "agent_done"]);

/** The office, with what was said in `place` before one came. */
export function useOffice(place: Place | undefined): Office {
  useEffect(
    () =>
      follow({
        path: "/api/sse",
        take: (frames) => {
          const entries = frames.filter((frame) => KINDS.has(frame.event));
          office.set(
            entries.reduce(
              (before, { event, data }) => told(before, { event, data: JSON.parse(data) } as Entry),
              office.get(),
            ),
          );
          return false;
        },
        opened: () => void Promise.all([place && load(place), lookWhoWorks()]).catch(() => undefined),
        failed: () => undefined,
      }),
    [place?.kind, place?.id],
  );
  return useCell(office);
}

export async function load(place: Place, before?: string): Promise<boolean> {
  const page = await messages(place, before);
  office.set(loaded(office.get(), page.messages));
  return page.next !== null;
}

export const add = (message: Parameters<typeof loaded>[1][number]): void => office.set(loaded(office.get(), [message]));

/** Who began before the feed was opened is at work too. */
async function lookWhoWorks(): Promise<void> {
  const page = await runs({ status: "running", limit: 100 });
  const typing = page.runs.map((run) => [run.run_id, { agentId: run.agent, placeId: run.thread_id ?? "" }] as const);
  office.set({ ...office.get(), typing: new Map(typing) });
}
