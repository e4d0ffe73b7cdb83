/** The address of a message by its id alone: finds out where it was said, and goes there. */

import { useEffect } from "preact/hooks";
import { message } from "../../../api/channels";
import { Failure } from "../../../frame/failure";
import { Loading, Missing } from "../../../frame/states";
import { useReading } from "../../../state/requests";
import { href } from "../../../state/route";
import { placeOf } from "../feed/feed";

export function MessagePlace({ id }: { id: string }) {
  const { value: found, failure, isMissing, again } = useReading(() => message(id), [id]);
  useEffect(() => {
    if (found === undefined) return;
    const to = href({ view: found.channelId ? "channels" : "dms", id: placeOf(found), message: id });
    location.replace(to);
  }, [found]);
  if (isMissing)
    return (
      <main class="view page">
        <Missing what="message" to={{ view: "channels" }} name="All channels" />
      </main>
    );
  return (
    <main class="view page">
      <h1 class="unseen">Message</h1>
      {failure === undefined ? <Loading /> : <Failure text={failure} again={again} />}
    </main>
  );
}
