/** The part of a dialog that deletes what the dialog is about. A second click confirms it. */

import { useState } from "preact/hooks";
import { useDoing } from "../state/requests";
import { Failure } from "./failure";

type Deleting = {
  /** What is deleted, as in "Delete chat". */
  what: string;
  /** The words of the second button. */
  confirm: string;
  remove: () => Promise<void>;
};

export function DeleteSection({ what, confirm, remove }: Deleting) {
  const [isSure, setSure] = useState(false);
  const { isBusy, failure, start } = useDoing();
  return (
    <section class="settings" aria-label="Delete">
      <h3>Delete</h3>
      <p class="faint">Deletes the {what} with its messages and runs. It cannot be undone.</p>
      <div class="buttons">
        {isSure ? (
          <>
            <button type="button" class="danger" disabled={isBusy} onClick={() => start(remove)}>
              {confirm}
            </button>
            <button type="button" onClick={() => setSure(false)}>
              Keep it
            </button>
          </>
        ) : (
          <button type="button" onClick={() => setSure(true)}>
            Delete {what}
          </button>
        )}
      </div>
      <Failure text={failure} />
    </section>
  );
}
