/**
 * Everything that waits for a decision or an answer, in one list that can be worked through with the keyboard.
 *
 * A key press decides one item: the one that is selected, has the focus and is wholly on screen. Anything else that a
 * key could mean only brings the selected item into view. Arrivals, and decisions made elsewhere, never move the
 * selection.
 */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCell } from "../../state/cell";
import { onKey } from "../../frame/help";
import { useQuery } from "../../state/query";
import { href } from "../../state/route";
import type { WaitRow } from "../../api/wire";
import { Decide, titleOf as titleOfApproval, wording } from "../../parts/run/approval";
import { question, TimeLeft, titleOf } from "../../parts/run/wait";
import { Input } from "../../parts/text/input";
import { ago, short } from "../../parts/text/words";
import { arrange, idOf, neighbour, successor, type Item } from "./arrange";
import { bringIntoView, isInView } from "./in-view";
import { AnswerForm } from "../../parts/waits/answer";
import { filterOf, fits, type Filter } from "./filter";
import { Filters } from "./filters";
import { useSteadyClicks } from "./steady";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";
import { LedHere } from "./led-here";
import { followWaits, look, lookFailure, remove, waiting } from "./waiting";

/** Keys that press the button or link of the selected item that carries them as `data-key`. */
const PRESSES = new Set(["a", "e", "r", "o", "y"]);

/** `target`: the item that the address names. It is selected first. */
export function Inbox({ target }: { target: string | undefined }) {
  const found = useCell(waiting);
  const failure = useCell(lookFailure);
  const list = useRef<HTMLUListElement>(null);
  const [query, setFilter] = useQuery();
  const filter = filterOf(query);
  const { items, selected, select, finish } = useSelection(list, filter, target);
  const steady = useSteadyClicks(items.map(idOf));

  useEffect(() => void look().catch(() => undefined), []);
  useEffect(followWaits, []);
  // Not `useEffect`, which runs after the screen is drawn: a key that is pressed between would meet the list of before.
  useLayoutEffect(() =>
    onKey((key, event) => {
      const by = key === "j" ? 1 : key === "k" ? -1 : 0;
      if (!by && !PRESSES.has(key)) return;
      event.preventDefault();
      if (event.repeat) return;
      const card = cardOf(list.current, selected);
      if (by || !card) return select(neighbour(items, selected, by || 1));
      if (!card.contains(document.activeElement)) return select(selected);
      if (!isInView(card)) return bringIntoView(card, "end");
      const pressed = card.querySelector<HTMLElement>(`[data-key="${key}"]`);
      if (pressed) return pressed.click();
      if (key === "e") card.querySelector<HTMLElement>(".answer-form :is(input, select, textarea)")?.focus();
    }),
  );

  const count = found?.length ?? 0;
  const isFiltered = Object.values(filter).some((chosen) => chosen !== undefined);
  const isGone = target !== undefined && found !== undefined && !items.some((item) => idOf(item) === target);
  return (
    <main class="view page">
      <div class="column">
        <h1>Inbox</h1>
        {found && <p class="lead">{count ? `${count} waiting for you.` : "No run waits for you."}</p>}
        {found === undefined && !failure && <Loading />}
        <Failure text={failure} again={() => look().catch(() => undefined)} />
        {isGone && (
          <p class="notice" role="status">
            The item that the address names does not wait: it was answered, it expired, or it belongs to another owner.
          </p>
        )}
        {(count > 1 || isFiltered) && <Filters rows={found ?? []} filter={filter} choose={setFilter} />}
        {isFiltered && items.length === 0 && count > 0 && <p class="faint">No item fits this filter.</p>}
        <ul class="inbox" aria-label="Waiting" ref={list} onClickCapture={steady}>
          {items.map((item) => (
            <Row
              key={idOf(item)}
              item={item}
              isCurrent={idOf(item) === selected}
              choose={() => select(idOf(item), false)}
              done={(isDecided) => finish(idOf(item), isDecided)}
            />
          ))}
        </ul>
        {items.length > 0 && (
          <p class="faint keys-hint">
            <kbd>j</kbd> <kbd>k</kbd> move · <kbd>a</kbd> approve · <kbd>e</kbd> edit, or fill in ·{" "}
            <kbd>r</kbd> reject · <kbd>y</kbd> confirm · <kbd>o</kbd> open
          </p>
        )}
      </div>
    </main>
  );
}

type Select = (id: string | undefined, hasToFocus?: boolean) => void;
type Finish = (id: string, isDecided: boolean) => Promise<void>;
type Selection = { items: Item[]; selected: string | undefined; select: Select; finish: Finish };

/**
 * The items in their order, and the selected one. Only a person selects, except for the first item of the first list.
 */
function useSelection(
  list: { current: HTMLUListElement | null },
  filter: Filter,
  target: string | undefined,
): Selection {
  const found = useCell(waiting);
  const [selected, setSelected] = useState<string>();
  const shown = useRef<Item[]>([]);
  const hasBegun = useRef(false);
  const hasToFocus = useRef(false);
  const [, redraw] = useState<object>();
  shown.current = arrange(shown.current, found ?? [], selected);
  const items = shown.current.filter(({ row }) => fits(row, filter));
  const visible = useRef(items);
  visible.current = items;

  const select: Select = (id, focused = true) => {
    hasToFocus.current = focused;
    setSelected(id);
    redraw({}); // also if it is selected already: the focus has to come back
  };
  const finish: Finish = async (id, isDecided) => {
    if (!isDecided) return look();
    setSelected((now) => {
      if (now !== id) return now;
      hasToFocus.current = true;
      return successor(visible.current, id);
    });
    remove(id);
  };
  useLayoutEffect(() => {
    if (hasBegun.current || found === undefined) return;
    hasBegun.current = true;
    const first = items.find((item) => idOf(item) === target) ?? items[0];
    if (first) select(idOf(first), document.activeElement?.closest("input, textarea, select, dialog") == null);
  }, [found === undefined]);
  useLayoutEffect(() => {
    const card = cardOf(list.current, selected);
    if (!hasToFocus.current || !card) return; // it may have been selected a moment ago, by the effect above
    hasToFocus.current = false;
    card.focus({ preventScroll: true });
    bringIntoView(card, "start");
  });
  return { items, selected, select, finish };
}

const cardOf = (list: HTMLUListElement | null, id: string | undefined): HTMLElement | null =>
  id === undefined ? null : (list?.querySelector(`[data-wait="${CSS.escape(id)}"] > [role=group]`) ?? null);

type Shown = { item: Item; isCurrent: boolean; choose: () => void; done: (isDecided: boolean) => Promise<void> };

function Row({ item: { row, isGone }, isCurrent, choose, done }: Shown) {
  return (
    <li
      class={`approval${isCurrent ? " current" : ""}${isGone ? " gone" : ""}`}
      aria-current={isCurrent}
      data-wait={row.wait_id}
      onFocusIn={() => isCurrent || choose()}
      onClick={() => isCurrent || choose()}
    >
      <div role="group" aria-label={nameOf(row)} tabIndex={-1}>
        <p class="asks">
          {askedBy(row)}
          <span class="faint">
            {row.agent && <b class="agent">{row.agent}</b>} {ago(row.created_at)} ·{" "}
            <a href={href({ view: "runs", id: row.run_id })} data-key="o">
              run {short(row.run_id)}
            </a>
            <Deadline at={row.expires_at} />
          </span>
        </p>
        {row.question && <LedHere id={row.wait_id} question={row.question} isCut={row.question_cut} />}
        {row.input !== null && <Input input={row.input} />}
        {isGone ? (
          <p class="faint" role="status">
            No longer waiting: it was answered elsewhere, it expired, or its run ended.
          </p>
        ) : (
          <Reply row={row} done={done} />
        )}
      </div>
    </li>
  );
}

const Deadline = ({ at }: { at: string | null }) =>
  at === null ? null : (
    <>
      {" "}
      · <TimeLeft until={Date.parse(at)} /> left
    </>
  );

/** An approval in the words of the card; undefined for anything else that waits. */
function approvalOf({ wait_id: id, kind, name: tool, input }: WaitRow) {
  if (kind === "question" || kind === "client_tool") return undefined;
  return { id, kind: kind === "confirmation" ? ("question" as const) : kind, tool, input };
}

function askedBy(row: WaitRow): string {
  const approval = approvalOf(row);
  return approval ? wording(approval) : question(row);
}

function nameOf(row: WaitRow): string {
  const approval = approvalOf(row);
  return approval ? titleOfApproval(approval) : titleOf(row);
}

function Reply({ row, done }: { row: WaitRow; done: Shown["done"] }) {
  const approval = approvalOf(row);
  if (approval) return <Decide approval={approval} done={done} />;
  const kind = row.kind === "client_tool" ? row.kind : "question";
  const wait = { id: row.wait_id, kind, name: row.name, schema: row.answer_schema ?? undefined } as const;
  return <AnswerForm wait={wait} done={done} />;
}
