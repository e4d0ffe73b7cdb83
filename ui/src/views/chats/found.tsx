/** What a search over all chats found: chats that are called like that, and messages with the words marked. */

import type { ComponentChildren } from "preact";
import { search } from "../../api/calls";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";
import { Marked } from "../../parts/text/marked";
import { ago } from "../../parts/text/words";
import { useReading } from "../../state/requests";
import { href } from "../../state/route";

export function Found({ text }: { text: string }) {
  const { value: found, failure, again } = useReading(() => search(text), [text]);
  if (failure) return <Failure text={failure} again={again} />;
  if (!found) return <Loading />;
  if (found.threads.length + found.messages.length === 0) return <p class="faint pad">No message has these words.</p>;
  return (
    <>
      <ul class="rows" aria-label="Found">
        {found.threads.map(({ thread_id, title, marks }) => (
          <Hit key={thread_id} id={thread_id} title={<Marked text={title} marks={marks} />} />
        ))}
        {found.messages.map(({ message_id, thread_id, title, text, marks, role, created_at }) => (
          <Hit key={message_id} id={thread_id} title={title ?? "New chat"}>
            <span class="hit">
              <Marked text={text} marks={marks} />
            </span>
            <span class="faint">
              {role === "user" ? "asked" : "answered"} {ago(created_at)}
            </span>
          </Hit>
        ))}
      </ul>
      {found.next && <p class="faint pad">These are the newest. More words find less.</p>}
    </>
  );
}

function Hit({ id, title, children }: { id: string; title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <li>
      <a href={href({ view: "chats", id })}>
        <span class="title">{title}</span>
        {children}
      </a>
    </li>
  );
}
