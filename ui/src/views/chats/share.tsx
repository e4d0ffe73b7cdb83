/** Share a chat: links that show it to readers without a key, until they expire or are revoked. */

import { useState } from "preact/hooks";
import { me, revokeShare, share, shares } from "../../api/calls";
import type { ShareRow } from "../../api/wire";
import { Dialog } from "../../frame/dialog";
import { Failure } from "../../frame/failure";
import { useDoing, useReading } from "../../state/requests";
import { CopyButton } from "../../parts/text/code";
import { day } from "../../parts/text/words";

const SPANS = [1, 7, 30];

export function ShareButton({ threadId }: { threadId: string }) {
  const { value: who } = useReading(me, []);
  const [isOpen, setOpen] = useState(false);
  if (!who?.can_share) return null;
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        Share
      </button>
      {isOpen && <Sharing threadId={threadId} close={() => setOpen(false)} />}
    </>
  );
}

function Sharing({ threadId, close }: { threadId: string; close: () => void }) {
  const [days, setDays] = useState(7);
  const [link, setLink] = useState<string>();
  const { value: found, failure, again } = useReading(() => shares(threadId), [threadId]);
  const making = useDoing();
  const make = () =>
    making.start(async () => {
      const { path } = await share(threadId, days);
      setLink(new URL(path, location.href).href);
      await again();
    });
  return (
    <Dialog title="Share this chat" close={close}>
      <div class="sharing">
        <p>
          Readers of the link see the messages that are here now, without a key. Later messages, tools and other chats
          stay private.
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            make();
          }}
        >
          <label class="inline">
            Valid for
            <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
              {SPANS.map((span) => (
                <option key={span} value={span}>
                  {span === 1 ? "1 day" : `${span} days`}
                </option>
              ))}
            </select>
          </label>
          <button class="primary" disabled={making.isBusy}>
            Create link
          </button>
        </form>
        {link && (
          <div class="made">
            <label>
              Link (shown once)
              <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
            </label>
            <CopyButton text={() => link} label="Copy link" />
          </div>
        )}
        <Failure text={making.failure ?? failure} />
        {found && found.length > 0 && <Links threadId={threadId} found={found} changed={again} />}
      </div>
    </Dialog>
  );
}

function Links({ threadId, found, changed }: { threadId: string; found: ShareRow[]; changed: () => Promise<void> }) {
  const { isBusy, failure, start } = useDoing();
  const revoke = (id: string) =>
    start(async () => {
      await revokeShare(threadId, id);
      await changed();
    });
  return (
    <>
      <h3>Links that are valid</h3>
      <ul class="links" aria-label="Links to this chat">
        {found.map((row) => (
          <li key={row.share_id}>
            <span>
              made {day(row.created_at)}, until {day(row.expires_at)}
            </span>
            <button type="button" class="small stop" disabled={isBusy} onClick={() => revoke(row.share_id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
      <Failure text={failure} />
    </>
  );
}
