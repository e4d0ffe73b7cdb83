/** The chats there are, last activity first, or what a search over all of them found. */

import { useEffect, useState } from "preact/hooks";
import { threads } from "../../api/calls";
import type { ThreadRow } from "../../api/wire";
import { useReading } from "../../state/requests";
import { useCell } from "../../state/cell";
import { href } from "../../state/route";
import { ago } from "../../parts/text/words";
import { useLater } from "../../state/later";
import { Found } from "./found";
import { learn, titles } from "./titles";
import { Failure } from "../../frame/failure";

const EVERY = 10_000;
const PAGE = 50;

export function ChatList({ selected, changes }: { selected: string | undefined; changes: number }) {
  const [search, setSearch] = useState("");
  const [pages, setPages] = useState(1);
  const { value: found, failure, again } = useReading(() => some(pages), [pages], EVERY);
  const known = useCell(titles);
  useEffect(() => void again(), [changes]);
  useEffect(() => learn(found?.rows ?? []), [found]);
  const wanted = useLater(search.trim());
  const rows = found?.rows ?? [];
  return (
    <>
      <div class="side-head">
        <a class="button primary" href={href({ view: "chats" })}>
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
      {wanted ? (
        <Found text={wanted} />
      ) : (
        <>
          <Failure text={failure} />
          <ul class="rows">
            {rows.map((row) => (
              <Row
                key={row.thread_id}
                row={row}
                title={known.get(row.thread_id)}
                isSelected={row.thread_id === selected}
              />
            ))}
          </ul>
          {found && rows.length === 0 && <p class="faint pad">Nothing has been said yet.</p>}
          {found?.hasMore && (
            <button type="button" class="quiet" onClick={() => setPages(pages + 1)}>
              Earlier chats
            </button>
          )}
        </>
      )}
    </>
  );
}

function Row({ row, title, isSelected }: { row: ThreadRow; title: string | undefined; isSelected: boolean }) {
  return (
    <li>
      <a href={href({ view: "chats", id: row.thread_id })} aria-current={isSelected ? "page" : undefined}>
        <span class="title">{title ?? "New chat"}</span>
        <span class="faint">{[row.agent, ago(lastActivity(row))].filter(Boolean).join(" · ")}</span>
      </a>
    </li>
  );
}

/** When the newest run of a chat was started: ids begin with the time. */
const lastActivity = ({ head_run_id, thread_id }: ThreadRow): number =>
  Math.max(...[head_run_id ?? thread_id, thread_id].map((id) => parseInt(id.replace("-", "").slice(0, 12), 16)));

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
