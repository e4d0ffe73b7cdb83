/** The owner and the scopes of the key, and signing out. */

import { useState } from "preact/hooks";
import { me } from "../api/calls";
import { forgetKey, hasKey } from "../api/key";
import { useReading } from "../state/requests";
import { href } from "../state/route";
import { Dialog } from "./dialog";

export function Account() {
  const { value: who } = useReading(me, []);
  const [isOpen, setOpen] = useState(false);
  if (who === undefined) return null;
  return (
    <>
      <button
        type="button"
        class="quiet account"
        aria-label={`Signed in as ${who.owner}`}
        onClick={() => setOpen(true)}
      >
        <span aria-hidden="true">{who.owner}</span>
      </button>
      {isOpen && (
        <Dialog title="Account" close={() => setOpen(false)}>
          <dl class="facts">
            <dt>owner</dt>
            <dd>{who.owner}</dd>
            <dt>scopes</dt>
            <dd>{who.scopes.join(", ")}</dd>
          </dl>
          <p>
            <a href={href({ view: "overview" })} onClick={() => setOpen(false)}>
              Your runs and what they cost
            </a>
          </p>
          {hasKey() ? (
            <div class="buttons">
              <button type="button" onClick={() => forgetKey()}>
                Sign out
              </button>
            </div>
          ) : (
            <p class="faint">This server needs no key.</p>
          )}
        </Dialog>
      )}
    </>
  );
}
