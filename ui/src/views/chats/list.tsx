/** The chats there are, newest first, and those in which something was said. */

import { useEffect, useState } from "preact/hooks";
import { threads } from "../../api/calls";
import type { ThreadRow } from "../../api/wire";
import { useReading } from "../../state/requests";
import { useCell } from "../../state/cell";
import { href } from "../../state/route";
import { ago } from "../../parts/text/words";
import { learn, said } from "./titles";
import { Failure } from "../../frame/failure";

const EVERY = 10_000;
const PAGE = 50;

export function ChatList({ selected, changes }: { selected: string | undefined; changes: number }) {
  const [search, setSearch] = useState("");
  const [pages, setPages] = useState(1);
  const { value: found, failure, again } = useReading(() => some(pages), [pages], EVERY);
  const known = useCell(said);
  useEffect(() => void again(), [changes]);
  useEffect(() => learn((found?.rows ?? []).map((row) => row.thread_id)), [found, changes]);

  const wanted = search.trim().toLowerCase();
  const rows = (found?.rows ?? []).filter((row) => !wanted || known.get(row.thread_id)?.words.includes(wanted));
  return (
    <>
      <div class="side-head">
        <a class="button primary" role="button" href={href({ view: "chats" })}>
          New chat
        </a>
        <input
          type="search"
          aria-label="Search chats"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      <Failure text={failure} />
      <ul class="rows">
        {rows.map((row) => (
          <Row
            key={row.thread_id}
            row={row}
            title={known.get(row.thread_id)?.title}
            isSelected={row.thread_id === selected}
          />
        ))}
      </ul>
      {found && rows.length === 0 && (
        <p class="faint pad">{wanted ? "Nothing was said like that." : "Nothing has been said yet."}</p>
      )}
      {found?.hasMore && (
        <button type="button" class="quiet" onClick={() => setPages(pages + 1)}>
          Earlier chats
        </button>
      )}
    </>
  );
}

function Row({ row, title, isSelected }: { row: ThreadRow; title: string | undefined; isSelected: boolean }) {
  return (
    <li>
      <a href={href({ view: "chats", id: row.thread_id })} aria-current={isSelected ? "page" : undefined}>
        <span class="title">{title ?? "New chat"}</span>
        <span class="faint">{[row.agent, ago(row.created_at)].filter(Boolean).join(" · ")}</span>
      </a>
    </li>
  );
}

async function some(pages: number): Promise<{ rows: ThreadRow[]; hasMore: boolean }> {
  const rows: ThreadRow[] = [];
  let next: string | null | undefined;
  for (let page = 0; page < pages && next !== null; page += 1) {
    const found = await threads(PAGE, next);
    rows.push(...found.threads);
    next = found.next;
  }
  return { rows, hasMore: next !== null };
}
