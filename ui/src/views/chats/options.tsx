/** What one can do with a whole chat: rename it, export it, delete it. */

import { useState } from "preact/hooks";
import { deleteThread, exportThread, renameThread } from "../../api/calls";
import { DeleteSection } from "../../frame/delete";
import { Dialog } from "../../frame/dialog";
import { Failure } from "../../frame/failure";
import { save } from "../../parts/files/transfer";
import { useDoing } from "../../state/requests";
import { go } from "../../state/route";
import { call, forget } from "./titles";

type Chat = { threadId: string; title: string; changed: () => void };

export function ChatOptions(chat: Chat) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        Options
      </button>
      {isOpen && (
        <Dialog title="Chat options" close={() => setOpen(false)}>
          <Rename {...chat} close={() => setOpen(false)} />
          <Export {...chat} />
          <Delete {...chat} />
        </Dialog>
      )}
    </>
  );
}

function Rename({ threadId, title, changed, close }: Chat & { close: () => void }) {
  const [text, setText] = useState(title);
  const { isBusy, failure, start } = useDoing();
  const rename = () =>
    start(async () => {
      const named = await renameThread(threadId, text);
      call(threadId, named.title ?? text);
      changed();
      close();
    });
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault();
        rename();
      }}
    >
      <label>
        Title
        <input
          type="text"
          maxlength={200}
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={isBusy || !text.trim()}>
        Save title
      </button>
      <Failure text={failure} />
    </form>
  );
}

function Export({ threadId, title }: Chat) {
  const { isBusy, failure, start } = useDoing();
  const write = (format: "markdown" | "json") =>
    start(async () => save(await exportThread(threadId, format), fileName(title, format === "json" ? "json" : "md")));
  return (
    <section class="settings" aria-label="Export">
      <h3>Export</h3>
      <p class="faint">All messages and the feedback, as a file.</p>
      <div class="buttons">
        <button type="button" disabled={isBusy} onClick={() => write("markdown")}>
          Markdown
        </button>
        <button type="button" disabled={isBusy} onClick={() => write("json")}>
          JSON
        </button>
      </div>
      <Failure text={failure} />
    </section>
  );
}

function Delete({ threadId, changed }: Chat) {
  const remove = async () => {
    await deleteThread(threadId);
    forget(threadId);
    changed();
    go({ view: "chats" });
  };
  return <DeleteSection what="chat" confirm="Delete for good" remove={remove} />;
}

/** A name for a file: letters and digits of the title. */
const fileName = (title: string, ending: string): string =>
  `${title.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join("-").slice(0, 60) || "chat"}.${ending}`;
