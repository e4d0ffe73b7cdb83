/** What a search over all chats found: chats that are called like that, and messages with the words marked. */

import type { ComponentChildren } from "preact";
import { search } from "../../api/calls";
import type { SearchPage } from "../../api/wire";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";
import { Marked } from "../../parts/text/marked";
import { ago } from "../../parts/text/words";
import { useReading } from "../../state/requests";
import { href, type Found as Place } from "../../state/route";

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
        {found.messages.map((hit) => (
          <Hit key={hit.message_id} id={hit.thread_id} title={hit.title ?? "New chat"} place={placeOf(hit, text)}>
            <span class="hit">
              <Marked text={hit.text} marks={hit.marks} />
            </span>
            <span class="faint">
              {hit.role === "user" ? "asked" : "answered"} {ago(hit.created_at)}
            </span>
          </Hit>
        ))}
      </ul>
      {found.next && <p class="faint pad">These are the newest. More words find less.</p>}
    </>
  );
}

/** Where a message stands in its chat. */
const placeOf = ({ run_id: run, role }: SearchPage["messages"][number], words: string): Place | undefined =>
  run === null ? undefined : { run, part: role === "user" ? "question" : "answer", words };

type Row = { id: string; title: ComponentChildren; place?: Place | undefined; children?: ComponentChildren };

function Hit({ id, title, place, children }: Row) {
  return (
    <li>
      <a href={href({ view: "chats", id, ...(place && { found: place }) })}>
        <span class="title">{title}</span>
        {children}
      </a>
    </li>
  );
}
