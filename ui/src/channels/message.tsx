/** A message in a channel or DM, with its reactions. */

import { useState } from "preact/hooks";
import { react } from "../api/channels";
import type { Message, Reaction } from "../api/wire";
import { useDoing } from "../requests";
import { href } from "../route";
import { Markdown } from "../text/markdown";
import { clock } from "../text/words";
import { Face } from "./face";

const EMOJI = ["👍", "❤️", "🎉", "👀", "✅", "🤔"];

type Shown = { message: Message; replies?: number; openThread?: (() => void) | undefined; isTarget?: boolean };

export function MessageCard({ message, replies = 0, openThread, isTarget = false }: Shown) {
  const { userId, isAgent, createdAt, text } = message;
  return (
    <article
      class="message"
      aria-label={`Message of ${userId}`}
      aria-current={isTarget || undefined}
      data-message={message.id}
    >
      <Face id={userId} isAgent={isAgent} />
      <div class="said">
        <p class="who">
          {isAgent ? <a href={href({ view: "agents", id: userId })}>{userId}</a> : <strong>{userId}</strong>}
          <time class="faint" dateTime={createdAt}>
            {clock(createdAt)}
          </time>
        </p>
        <Markdown text={text} />
        <Reactions message={message} />
        {replies > 0 && openThread && (
          <button type="button" class="quiet small replies" onClick={openThread}>
            {replies === 1 ? "1 reply" : `${replies} replies`}
          </button>
        )}
      </div>
      <Tools message={message} openThread={openThread} />
    </article>
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
          aria-label={`${emoji} by ${who.join(", ")}`}
          onClick={() => start(() => react(message.id, emoji))}
        >
          {emoji} {who.length}
        </button>
      ))}
    </div>
  );
}

/** The actions of a message, shown on hover. */
function Tools({ message, openThread }: { message: Message; openThread: (() => void) | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { start } = useDoing();
  const give = (emoji: string) => start(() => react(message.id, emoji).then(() => setOpen(false)));
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
    </div>
  );
}

function counted(reactions: readonly Reaction[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { emoji, userId } of reactions) found.set(emoji, [...(found.get(emoji) ?? []), userId]);
  return [...found];
}
