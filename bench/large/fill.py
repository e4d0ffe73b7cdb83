"""Fills a database by cloning what the real store wrote (`clone.sql`)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncpg

from runyard.base.clock import SystemClock
from runyard.stores.postgres.store import PostgresStore

CLONE = Path(__file__).with_name("clone.sql")
AT_ONCE = 20_000  # rows, more or less


async def filled(
    dsn: str, template: Callable[[PostgresStore], Awaitable[int]], clones: int, say: Callable[[str], None]
) -> PostgresStore:
    """An open store on a database with the rows that `template` wrote and clones of them.

    `template` returns how many rows it wrote, more or less."""
    store = PostgresStore(dsn, SystemClock())
    await store.open()
    rows = await template(store)
    await store.publish([each.mark(rows) for each in await store.unpublished(0, rows)])  # as its outbox would have
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(CLONE.read_text())
        await connection.execute("select take_template()")
        step = max(1, AT_ONCE // rows)
        for last in range(clones, 0, -step):
            await connection.execute(f"select clone({max(1, last - step + 1)}, {last})")
            say(f"{min(1, (clones - last + step) / clones):6.0%}")
        for command in ("vacuum analyze", "checkpoint"):
            await connection.execute(command)
    finally:
        await connection.close()
    return store
