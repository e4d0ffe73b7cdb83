"""Removes single defences, for tests only: proof that the checker and the chaos run detect what each prevents.

`REMOVE` maps the name of a defence to what removes it from the process that calls it. A pod removes those that its
variable `UNSAFE` names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import msgspec

import runyard.app.process
import runyard.app.wiring
import runyard.engine.running.worker
import runyard.stores.postgres.connections
import runyard.stores.postgres.store
import runyard.stores.transactions.log.log
import runyard.stores.transactions.queue.claims
import runyard.stores.transactions.queue.intake
from runyard.domain.runs import append as appending
from runyard.domain.runs.append import Appended, Outcome, Part
from runyard.domain.runs.run import Run
from runyard.engine.running.worker import Worker
from runyard.stores.postgres.connections import Connections, Limits
from runyard.stores.postgres.store import PostgresStore, PostgresTx
from runyard.stores.transactions.tx import Tx

FOR_EVER = 24 * 3600.0


def without_fence() -> None:
    """Let a worker that once owned a run write to it for ever. Batches count per fence, so a foreign one is never a
    repeat."""

    def judge(part: Part, run: Run | None, answered: bool = False) -> Outcome:
        if run is not None and part.fence != run.fence:
            return Appended(run.last_seq + 1, run.last_seq + len(part.drafts))
        return appending.judge(part, run, answered)

    runyard.stores.transactions.log.log.judge = judge  # type: ignore[attr-defined]
    _rewrite_appends(
        ("last_batch = p.batch,", "last_batch = case when r.fence = p.fence then p.batch else r.last_batch end,"),
        ("r.fence = p.fence and r.last_batch = p.batch - 1", "(r.fence <> p.fence or r.last_batch = p.batch - 1)"),
    )


def without_batch() -> None:
    """Write a repeat after a lost answer again."""

    def judge(part: Part, run: Run | None, answered: bool = False) -> Outcome:
        if run is not None:
            part = msgspec.structs.replace(part, batch=run.last_batch + 1)
        return appending.judge(part, run, answered)

    runyard.stores.transactions.log.log.judge = judge  # type: ignore[attr-defined]
    _rewrite_appends(("and r.last_batch = p.batch - 1", ""))


def deaf() -> None:
    """Let a worker continue with its runs when its lease has run out."""

    async def ignore(_: Worker) -> None: ...

    Worker._lose_lease = ignore  # type: ignore[assignment, method-assign]


def without_deadlines() -> None:
    """Let every statement wait for its answer for ever, as before connections were watched for silence."""
    connect = Connections.__init__

    def patient(self: Connections, dsn: str, size: int, limits: Limits, **settings: str) -> None:
        connect(self, dsn, size, Limits(FOR_EVER, FOR_EVER, FOR_EVER), **settings)

    async def wait(work: Awaitable[object]) -> None:
        await work

    def nothing(*_: Any) -> None: ...

    Connections.__init__ = patient  # type: ignore[method-assign]
    PostgresStore._network_went_silent = nothing  # type: ignore[method-assign, assignment]
    runyard.stores.postgres.connections.KEEPALIVE = ()  # type: ignore[assignment]
    runyard.app.process._within_last_seconds = wait
    runyard.engine.running.worker.RELEASE_SECONDS = FOR_EVER


def without_cancellation() -> None:
    """Roll back over a connection that broke while its task was cancelled: the error takes the place of the cancel."""

    @asynccontextmanager
    async def transaction(connection: asyncpg.Connection[Any]) -> AsyncIterator[None]:
        async with connection.transaction():
            yield

    runyard.stores.postgres.store._transaction = transaction


def without_claim_lock() -> None:
    """Delete a worker's row while a claim of it may still commit, and look for no run whose worker has no row."""

    async def retire(tx: Tx, worker_id: str) -> None:
        await tx.rows(tx.q.delete_workers, [worker_id])

    runyard.stores.transactions.queue.claims.retire = retire
    _rewrite(lock_ready_lanes=("now_ms() for key share\n", "now_ms()\n"), stray_runs=("status = 'running'", "false"))


def without_order_in_a_commit() -> None:
    """Judge every part of a commit against the row as it was before that commit."""

    class Forgetful(dict[str, Run]):
        def get(self, key: str, default: Any = None) -> Any:
            return default

    changes = runyard.stores.transactions.log.log._Changes
    create = changes.__init__

    def forget(self: Any, lanes: Any) -> None:
        create(self, lanes)
        self.runs = Forgetful()

    changes.__init__ = forget  # type: ignore[method-assign]


def without_database_wait() -> None:
    """Pass an outage of the database of one second on to the agent, as an error."""

    def at_once(target: Any, seconds: float) -> Any:
        return target

    runyard.app.wiring.retrying = at_once  # type: ignore[attr-defined]


def without_clock_check() -> None:
    """Accept a server whose clock is far ahead, and the ids that it makes."""

    async def accept(_: PostgresStore) -> None: ...

    PostgresStore._check_clock = accept  # type: ignore[method-assign, assignment]
    runyard.stores.transactions.queue.intake.CLOCK_TOLERANCE_MS = 10**15


def _rewrite_appends(*changes: tuple[str, str]) -> None:
    for name, sql in PostgresStore.hot_path.items():
        if name.startswith("append"):
            PostgresStore.hot_path[name] = _changed(name, sql, changes)


def _rewrite(**changes: tuple[str, str]) -> None:
    """Change named statements of Postgres."""
    rewritten = {name: _changed(name, getattr(PostgresTx.q, name), [change]) for name, change in changes.items()}
    PostgresTx.q = msgspec.structs.replace(PostgresTx.q, **rewritten)


def _changed(name: str, sql: str, changes: Sequence[tuple[str, str]]) -> str:
    for old, new in changes:
        if sql.count(old) != 1:
            raise SystemExit(f"tests/support/faults/defences.py: the statement `{name}` no longer holds {old!r} once")
        sql = sql.replace(old, new)
    return sql


REMOVE: Mapping[str, Callable[[], None]] = {
    "fence": without_fence,
    "batch": without_batch,
    "lease": deaf,
    "silent-network": without_deadlines,
    "cancellation": without_cancellation,
    "claim-in-flight": without_claim_lock,
    "one-by-one": without_order_in_a_commit,
    "database-wait": without_database_wait,
    "clock-check": without_clock_check,
}
