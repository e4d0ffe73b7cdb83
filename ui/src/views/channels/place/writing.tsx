/** The message field of a channel, a DM or a thread. */

import { say, type Place } from "../../../api/channels";
import { Composer } from "../../chats/composer";
import { useDoing } from "../../../state/requests";
import { add } from "../feed/live";

export function Writing({ place, parentId, placeholder }: { place: Place; parentId?: string; placeholder: string }) {
  const { isBusy, failure, start } = useDoing();
  const send = (text: string) => start(async () => add(await say(place, text, parentId)));
  return (
    <Composer
      send={send}
      isBusy={isBusy}
      failure={failure}
      placeholder={placeholder}
      draft={[place.id, parentId].join(" ")}
    />
  );
}
