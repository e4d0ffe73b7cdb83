/** A message and its replies, beside the channel: with the runs that its replies started. */

import type { Place } from "../../../api/channels";
import { messagesOf, type ChannelState } from "../feed/feed";
import { MessageCard, type Rights } from "./message";
import { endedBadly, timeline } from "../feed/timeline";
import { TimelineItem } from "./timeline-item";
import { Typing, Waiting, type Work } from "./work";
import { Writing } from "./writing";

type Shown = {
  state: ChannelState;
  place: Place;
  parentId: string;
  work: Work;
  rights: Rights;
  owner: string;
  close: () => void;
};

export function Thread({ state, place, parentId, work, rights, owner, close }: Shown) {
  const parent = state.messages.get(parentId);
  const replies = messagesOf(state, place.id, parentId);
  const isHere = (trigger: string | null | undefined) =>
    trigger === parentId || replies.some(({ id }) => id === trigger);
  const triggers = new Map(work.runs.map(({ id, triggerMessageId }) => [id, triggerMessageId]));
  const items = timeline({
    messages: replies,
    runs: endedBadly(work.runs, state.messages, parentId, undefined),
    readId: undefined,
    me: rights.me,
  });
  return (
    <aside class="beside" aria-label="Thread">
      <header>
        <h2>Thread</h2>
        <button type="button" class="quiet" aria-label="Close thread" onClick={close}>
          ✕
        </button>
      </header>
      <div class="scroll">
        <div class="messages">
          {parent && <MessageCard message={parent} rights={rights} />}
          {items.map((item) => (
            <TimelineItem key={item.key} item={item} rights={rights} />
          ))}
        </div>
      </div>
      <Waiting
        runs={work.waiting.filter(({ triggerMessageId }) => isHere(triggerMessageId))}
        owner={owner}
        isMine={rights.isOwner}
      />
      <Typing working={work.typing.filter(({ runId }) => isHere(triggers.get(runId)))} />
      <Writing place={place} parentId={parentId} placeholder="Reply" />
    </aside>
  );
}
