/** A message in a channel or DM, with its reactions and actions. */

import { useState } from "preact/hooks";
import { deleteMessage, editMessage, react } from "../../../api/channels";
import type { Message, Reaction } from "../../../api/wire";
import { Dialog } from "../../../frame/dialog";
import { Failure } from "../../../frame/failure";
import { useDoing } from "../../../state/requests";
import { href } from "../../../state/route";
import { Markdown } from "../../../parts/text/markdown";
import { clock, exact, short } from "../../../parts/text/words";
import { Face } from "./face";
import { add } from "../feed/live";

const EMOJI = ["👍", "❤️", "🎉", "👀", "✅", "🤔"];

/** What the reader may do: change their own messages, delete those and all in a channel of theirs, open its runs. */
export type Rights = { me: string | undefined; isOwner: boolean };

type Shown = {
  message: Message;
  rights: Rights;
  replies?: number;
  openThread?: (() => void) | undefined;
  isTarget?: boolean;
};

export function MessageCard({ message, rights, replies = 0, openThread, isTarget = false }: Shown) {
  const [isEditing, setEditing] = useState(false);
  const { userId, isAgent, createdAt, text, editedAt, deletedAt } = message;
  return (
    <article
      class={deletedAt ? "message deleted" : "message"}
      aria-label={`Message of ${userId}`}
      aria-current={isTarget || undefined}
      data-message={message.id}
    >
      <Face id={userId} isAgent={isAgent} />
      <div class="said">
        <p class="who">
          {isAgent ? <a href={href({ view: "agents", id: userId })}>{userId}</a> : <strong>{userId}</strong>}
          <time class="faint" dateTime={createdAt} title={exact(createdAt)}>
            {clock(createdAt)}
          </time>
          {editedAt && !deletedAt && (
            <span class="faint" title={exact(editedAt)}>
              edited
            </span>
          )}
        </p>
        {deletedAt ? (
          <p class="faint">
            <em title={exact(deletedAt)}>deleted</em>
          </p>
        ) : isEditing ? (
          <Editing message={message} close={() => setEditing(false)} />
        ) : (
          <Markdown text={text} />
        )}
        <Reactions message={message} />
        {replies > 0 && openThread && (
          <button type="button" class="quiet small replies" onClick={openThread}>
            {replies === 1 ? "1 reply" : `${replies} replies`}
          </button>
        )}
      </div>
      {!isEditing && !deletedAt && (
        <Tools message={message} rights={rights} openThread={openThread} edit={() => setEditing(true)} />
      )}
    </article>
  );
}

/** The text of a message, to be changed: Enter saves, Escape leaves it as it was. */
function Editing({ message, close }: { message: Message; close: () => void }) {
  const [text, setText] = useState(message.text);
  const { isBusy, failure, start } = useDoing();
  const save = () =>
    start(async () => {
      const changed = await editMessage(message.id, text.trim());
      add(changed);
      close();
    });
  const isReady = text.trim() !== "" && text.trim() !== message.text && !isBusy;
  return (
    <form
      class="editing"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) save();
      }}
    >
      <textarea
        aria-label="Edited message"
        rows={Math.min(8, text.split("\n").length + 1)}
        value={text}
        ref={(area) => {
          if (area && document.activeElement !== area && !isBusy) area.focus();
        }}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          if (isReady) save();
        }}
      />
      <div class="buttons">
        <button class="small primary" disabled={!isReady}>
          Save
        </button>
        <button type="button" class="quiet small" onClick={close}>
          Cancel
        </button>
      </div>
      <Failure text={failure} />
    </form>
  );
}

function Deleting({ message, close }: { message: Message; close: () => void }) {
  const { isBusy, failure, start } = useDoing();
  return (
    <Dialog title="Delete message" close={close}>
      <p>
        The message is deleted for all readers; its replies stay. What agents have read stays in the logs of their runs.
      </p>
      <Failure text={failure} />
      <div class="buttons">
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          onClick={() => start(() => deleteMessage(message.id).then(close))}
        >
          Delete
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

function Reactions({ message }: { message: Message }) {
  const { start } = useDoing();
  const given = counted(message.reactions ?? []);
  if (given.length === 0) return null;
  return (
    <div class="reactions" role="group" aria-label="Reactions">
      {given.map(([emoji, who]) => (
        <button
          key={emoji}
          type="button"
          class="reaction"
          title={who.join(", ")}
          aria-label={`${emoji} ${who.length} by ${who.join(", ")}`}
          onClick={() => start(() => react(message.id, emoji))}
        >
          {emoji} {who.length}
        </button>
      ))}
    </div>
  );
}

type Acting = Pick<Shown, "message" | "rights" | "openThread"> & { edit: () => void };

/** The actions of a message, shown on hover. */
function Tools({ message, rights: { me, isOwner }, openThread, edit }: Acting) {
  const [isOpen, setOpen] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const { start } = useDoing();
  const give = (emoji: string) => start(() => react(message.id, emoji).then(() => setOpen(false)));
  const isMine = !message.isAgent && message.userId === me;
  return (
    <div class="message-tools">
      {isOpen ? (
        EMOJI.map((emoji) => (
          <button
            key={emoji}
            type="button"
            class="quiet small"
            aria-label={`React with ${emoji}`}
            onClick={() => give(emoji)}
          >
            {emoji}
          </button>
        ))
      ) : (
        <button type="button" class="quiet small" aria-label="Add reaction" onClick={() => setOpen(true)}>
          ☺︎+
        </button>
      )}
      {openThread && (
        <button type="button" class="quiet small" aria-label="Reply in thread" onClick={openThread}>
          Reply
        </button>
      )}
      {isMine && (
        <button type="button" class="quiet small" aria-label="Edit message" onClick={edit}>
          Edit
        </button>
      )}
      {(isMine || isOwner) && (
        <button type="button" class="quiet small" aria-label="Delete message" onClick={() => setDeleting(true)}>
          Delete
        </button>
      )}
      {message.runId && isOwner && (
        <a
          class="button quiet small"
          href={href({ view: "runs", id: message.runId })}
          aria-label={`Run ${short(message.runId)} wrote this`}
        >
          Run
        </a>
      )}
      {isDeleting && <Deleting message={message} close={() => setDeleting(false)} />}
    </div>
  );
}

function counted(reactions: readonly Reaction[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { emoji, userId } of reactions) found.set(emoji, [...(found.get(emoji) ?? []), userId]);
  return [...found];
}
