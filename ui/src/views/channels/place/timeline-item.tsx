/** One line of a channel: a message, the beginning of a day, the mark before what is new, or a run that ended badly. */

import { dayName } from "../../../parts/text/words";
import { MessageCard, type Rights } from "./message";
import type { Item } from "../feed/timeline";
import { EndedBadly } from "./work";

type Shown = { item: Item; rights: Rights; replies?: number; openThread?: () => void; isTarget?: boolean };

export function TimelineItem({ item, rights, ...more }: Shown) {
  switch (item.kind) {
    case "day":
      return (
        <h2 class="day">
          <time dateTime={item.at.slice(0, 10)}>{dayName(item.at)}</time>
        </h2>
      );
    case "new":
      return (
        <p class="new-mark" role="separator" aria-label="New messages">
          New
        </p>
      );
    case "run":
      return <EndedBadly run={item.run} isMine={rights.isOwner} />;
    case "message":
      return <MessageCard message={item.message} rights={rights} {...more} />;
  }
}
