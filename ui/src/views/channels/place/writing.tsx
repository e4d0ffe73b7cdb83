/** The message field of a channel, a DM or a thread. */

import { say, type Place } from "../../../api/channels";
import { Composer, type Send } from "../../chats/composer";
import { useDoing } from "../../../state/requests";
import { add } from "../feed/live";

export function Writing({ place, parentId, placeholder }: { place: Place; parentId?: string; placeholder: string }) {
  const { isBusy, failure, start } = useDoing();
  const send: Send = (text, _, clear) =>
    start(async () => {
      const posted = await say(place, text, parentId);
      clear();
      add(posted);
    });
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
