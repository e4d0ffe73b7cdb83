"""Claims and appends while old runs are dropped, against the same without a sweep: alternately, in one database.

Everything that has ended counts as old, so that the sweep has batches to drop for as long as the measurement takes; a
round in which it dropped nothing fails the benchmark."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter

from bench.report.results import Row, percentile
from bench.servers.stand import Stand
from bench.size import Size
from bench.steps import Step
from runyard.app.factories import open_store
from runyard.base.clock import SystemClock
from runyard.domain.runs.append import Appended
from runyard.engine.control.retention import Retention
from runyard.settings import Settings
from runyard.store import Store
from tests.store.factories import MINUTE, Writer, a_post, a_worker, token

QUIET, SWEEPING = "quiet", "sweeping"
LEASE_MS = 60 * MINUTE
AT_ONCE = 100
TOKENS = 20
A_DAY_AHEAD = -1.0  # all that has ended is older than that


def steps(stand: Stand, size: Size) -> list[Step]:
    return [
        Step(
            f"claim and append while old runs are dropped, {kind}",
            partial(_measure, stand.url(kind, "old"), kind, size),
        )
        for kind in stand.durable()
    ]


def _measure(url: str, kind: str, size: Size) -> Sequence[Row]:
    return asyncio.run(_rounds(open_store(Settings(database_url=url)), kind, size))


async def _rounds(store: Store, kind: str, size: Size) -> Sequence[Row]:
    await store.open()
    worker, rows = await a_worker(store, LEASE_MS), []
    for _ in range(size.rounds):
        for mode in (QUIET, SWEEPING):
            await _end(store, worker, size.old_runs)
            await store.accept([a_post() for _ in range(size.each)])
            async with _sweeping(store, mode):
                rows += await _batch(store, worker, kind, mode, size.each)
    await store.close()
    return rows


async def _end(store: Store, worker: str, runs: int) -> None:
    """So many runs that have ended."""
    for _ in range(0, runs, AT_ONCE):
        await store.accept([a_post() for _ in range(AT_ONCE)])
        writers = [Writer(claim.run) for claim in await store.claim(worker, AT_ONCE, suspects=False)]
        await store.append([writer.part(*(token("t ") for _ in range(TOKENS))) for writer in writers])
        await store.append([writer.finish() for writer in writers])


@asynccontextmanager
async def _sweeping(store: Store, mode: str) -> AsyncIterator[None]:
    if mode == QUIET:
        yield
        return
    sweep = asyncio.create_task(Retention(store, SystemClock(), A_DAY_AHEAD).sweep())
    yield
    if await sweep == 0:
        raise AssertionError("nothing was dropped meanwhile")


async def _batch(store: Store, worker: str, kind: str, mode: str, times: int) -> list[Row]:
    writers: list[Writer] = []

    async def claim() -> None:
        [found] = await store.claim(worker, 1, suspects=False)
        writers.append(Writer(found.run))

    async def append(writer: Writer) -> None:
        [outcome] = await store.append([writer.part(token("t "))])
        if not isinstance(outcome, Appended):
            raise AssertionError("an append was refused")

    rows = [
        await _timed(f"claim, {mode}", kind, [claim] * times),
        await _timed(f"append, {mode}", kind, [partial(append, writer) for writer in writers]),
    ]
    await store.append([writer.finish() for writer in writers])
    return rows


async def _timed(case: str, kind: str, work: Sequence[Callable[[], Awaitable[None]]]) -> Row:
    took = []
    for each in work:
        begun = perf_counter()
        await each()
        took.append((perf_counter() - begun) * 1e3)
    return Row(
        case=case,
        server=kind,
        runs=len(took),
        took_ms_p50=percentile(took, 0.5),
        took_ms_p99=percentile(took, 0.99),
    )
