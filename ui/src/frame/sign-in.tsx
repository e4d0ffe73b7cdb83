/** Asks for an API key if the server needs one. */

import { useState } from "preact/hooks";
import { give, needsKey } from "../api/key";
import { useCell } from "../state/cell";
import { Dialog } from "./dialog";

export function SignIn() {
  const [key, setKey] = useState("");
  return (
    <Dialog title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim()) give(key);
        }}
      >
        <p>
          This server needs an API key. Its operator creates one with <code>runyard keys create</code>.
        </p>
        <label>
          API key
          <input
            type="text"
            class="mono secret"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        {useCell(needsKey) === "refused" && (
          <p class="failure" role="alert">
            The server does not take this key: it is mistyped, revoked or expired.
          </p>
        )}
        <p class="faint">It is kept in this tab alone, until you close it.</p>
        <div class="buttons">
          <button class="primary" disabled={!key.trim()}>
            Sign in
          </button>
        </div>
      </form>
    </Dialog>
  );
}
