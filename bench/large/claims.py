"""Claiming a run when a thousand are queued, and when a million are: how long it takes, and how many buffers its
statements touch.

Two runs are queued in each lane. After each batch the claimed runs are released, so that the queue stays as long as it
was."""

import json
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import asyncpg

from bench.report.results import Row, percentile
from runyard.domain.runs.append import Appended, Release
from runyard.stores.postgres.arrays import columns
from runyard.stores.postgres.connections import SETTINGS
from runyard.stores.postgres.store import PostgresStore, PostgresTx, one_statement
from runyard.stores.rows import Row as SqlRow
from runyard.stores.transactions.queue import claims
from runyard.stores.transactions.tx import Write
from tests.store.factories import MINUTE, Writer, a_post, a_thread, a_worker

PER_LANE = 2
LEASE_MS = 60 * MINUTE


async def template(store: PostgresStore) -> int:
    """A thread in which two runs are queued."""
    thread = await store.create_thread(a_thread())
    await store.accept([a_post(thread) for _ in range(PER_LANE)])
    return 8


async def batch(store: PostgresStore, dsn: str, queued: int, claims_each: int) -> Row:
    worker = await a_worker(store, LEASE_MS)
    took, taken = [], []
    for _ in range(claims_each):
        begun = perf_counter()
        found = await store.claim(worker, 1, suspects=False)
        took.append((perf_counter() - begun) * 1e3)
        taken += [claim.run for claim in found]
    if len(taken) != claims_each:
        raise AssertionError(f"{len(taken)} of {claims_each} claims got a run")
    outcomes = await store.append([Writer(run).part(move=Release()) for run in taken])
    if not all(isinstance(outcome, Appended) for outcome in outcomes):
        raise AssertionError("a run could not be released")
    return Row(
        case="claim",
        server="postgres",
        size=queued,
        runs=claims_each,
        took_ms_p50=percentile(took, 0.5),
        took_ms_p99=percentile(took, 0.99),
        buffers=await buffers(dsn, worker),
    )


async def buffers(dsn: str, worker: str) -> int:
    """How many buffers the statements of one claim touch; it is rolled back."""
    connection = await asyncpg.connect(dsn, server_settings=SETTINGS)
    try:
        transaction = connection.transaction()
        await transaction.start()
        explained = ExplainedTx(connection)
        await claims.claim(explained, worker, 1, False, {})
        await transaction.rollback()
        return explained.buffers
    finally:
        await connection.close()


class ExplainedTx(PostgresTx):
    """Has every statement explained (which does it) before it is done, and counts the buffers it touched."""

    def __init__(self, connection: "asyncpg.Connection[Any]") -> None:
        super().__init__(connection)
        self.buffers = 0

    async def rows(self, sql: str, *params: Any) -> Sequence[SqlRow]:
        await self._explain(sql, *params)
        return await super().rows(sql, *params)

    async def together(self, *writes: Write) -> None:
        wanted = [(sql, rows) for sql, rows in writes if rows]
        params = [column for _, rows in wanted for column in columns(rows)]
        await self._explain(one_statement(tuple(sql for sql, _ in wanted)), *params)

    async def _explain(self, sql: str, *params: Any) -> None:
        [plan] = json.loads(await self._connection.fetchval(f"explain (analyze, buffers, format json) {sql}", *params))
        self.buffers += plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
