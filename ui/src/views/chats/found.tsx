/** What a search found: chats that are called like that, and messages of chats, channels and DMs, with marks. */

import type { ComponentChildren } from "preact";
import { search } from "../../api/calls";
import type { SearchPage } from "../../api/wire";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";
import { Marked } from "../../parts/text/marked";
import { ago } from "../../parts/text/words";
import { useReading } from "../../state/requests";
import { href, type Route } from "../../state/route";

export function Found({ text }: { text: string }) {
  const { value: found, failure, again } = useReading(() => search(text), [text]);
  if (failure) return <Failure text={failure} again={again} />;
  if (!found) return <Loading />;
  if (found.threads.length + found.messages.length === 0) return <p class="faint pad">No message has these words.</p>;
  return (
    <>
      <ul class="rows" aria-label="Found">
        {found.threads.map(({ thread_id, title, marks }) => (
          <Hit key={thread_id} to={{ view: "chats", id: thread_id }} title={<Marked text={title} marks={marks} />} />
        ))}
        {found.messages.map((hit) => (
          <Hit key={hit.message_id} to={placeOfHit(hit, text)} title={hit.title ?? "New chat"}>
            <span class="hit">
              <Marked text={hit.text} marks={hit.marks} />
            </span>
            <span class="faint">
              {said(hit)} {ago(hit.created_at)}
            </span>
          </Hit>
        ))}
      </ul>
      {found.next && <p class="faint pad">These are the newest. More words find less.</p>}
    </>
  );
}

type Message = SearchPage["messages"][number];

const said = ({ kind, role }: Message): string =>
  kind !== "chat" ? "posted" : role === "user" ? "asked" : "answered";

/** Where a message stands: in its chat, or in its channel or DM. */
export function placeOfHit({ kind, thread_id: id, message_id, run_id: run, role }: Message, words: string): Route {
  if (kind !== "chat") return { view: "messages", id: message_id };
  const part = role === "user" ? "question" : "answer";
  return { view: "chats", id, ...(run !== null && { found: { run, part, words } }) };
}

function Hit({ to, title, children }: { to: Route; title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <li>
      <a href={href(to)}>
        <span class="title">{title}</span>
        {children}
      </a>
    </li>
  );
}
