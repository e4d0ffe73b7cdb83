"""The feed of conversations: written with its cause, numbered later."""

from runyard.domain.conversations.feed import OF_MESSAGES, Entry, Window
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx


async def unnumbered(tx: Tx) -> tuple[int, bool]:
    """Return the last number of the feed, and whether an entry has no number."""
    [head] = await tx.rows(tx.q.unnumbered_feed)
    return int(head["last"]), bool(head["has_new"])


async def number(tx: Tx, limit: int) -> int:
    """Number the new rows under the lock of the feed's head, so that numbers become visible in order."""
    [locked] = await tx.rows(tx.q.lock_feed)
    numbered = await tx.rows(tx.q.number_feed, locked["last"], limit)
    last = locked["last"] + len(numbered)
    await tx.rows(tx.q.move_feed_head, last)
    return int(last)


async def start(tx: Tx) -> int:
    [head] = await tx.rows(tx.q.feed_start)
    return int(head["dropped"])


async def read(tx: Tx, caller: str, after: int, limit: int) -> Window:
    rows = await tx.rows(tx.q.read_feed, caller, after, limit)
    seen = [_entry(row) for row in rows if row["seen"] and (row["kind"] not in OF_MESSAGES or row["text"] is not None)]
    return Window(seen, rows[-1]["no"] if rows else after)


def _entry(row: _rows.Row) -> Entry:
    message = None
    if row["kind"] in OF_MESSAGES:
        message = _rows.message(row)
    return Entry(
        no=row["no"],
        kind=row["kind"],
        thread_id=str(row["thread_id"]),
        thread_kind=row["thread_kind"],
        actor=row["actor"],
        role=row["actor_role"],
        message_id=_rows.text_id(row["message_id"]),
        run_id=_rows.text_id(row["of_run"]),
        emoji=row["emoji"],
        message=message,
        created_at=row["happened_at"],
    )
