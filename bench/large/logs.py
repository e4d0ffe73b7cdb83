"""Appending to a log and reading its tail when the database holds ten thousand events, and when it holds five million.

The old events are of runs that have ended, of 200 tokens each; `append` is one token to a live run in a separate
commit, `tail read` the last events of a live run, `old read` those of a run that ended before, wherever its pages
are."""

import random
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from bench.report.results import Row, percentile
from runyard.domain.runs.append import Appended
from runyard.stores.postgres.store import PostgresStore
from tests.store.factories import ANN, MINUTE, Writer, a_post, a_thread, a_worker, token

LIVE_RUNS = 50
TOKENS = 200
EVENTS = TOKENS + 3  # queued, output and finished
TAIL = 10
LEASE_MS = 60 * MINUTE


async def template(store: PostgresStore) -> int:
    """A run that has ended."""
    thread = await store.create_thread(a_thread())
    await store.accept([a_post(thread)])
    [claim] = await store.claim(await a_worker(store), 1, suspects=False)
    writer = Writer(claim.run)
    await store.append([writer.part(*(token(f"t{n} ") for n in range(TOKENS)))])
    [outcome] = await store.append([writer.finish(answer="the answer")])
    assert isinstance(outcome, Appended)
    return EVENTS + 5


class Logs:
    """Live runs among all the old ones."""

    def __init__(self, store: PostgresStore, events: int) -> None:
        self._store = store
        self._events = events
        self._writers: list[Writer] = []
        self._tips: dict[str, int] = {}
        self._old: list[str] = []
        self._random = random.Random(1)

    async def begin(self) -> None:
        while page := await self._store.list_runs(ANN, {}, self._old[-1] if self._old else None, 1000):
            self._old += [run.id for run in page]
        for _ in range(LIVE_RUNS):
            await self._store.accept([a_post(await self._store.create_thread(a_thread()))])
        worker = await a_worker(self._store, LEASE_MS)
        self._writers = [Writer(c.run) for c in await self._store.claim(worker, LIVE_RUNS, suspects=False)]
        self._tips = {writer.run.id: 1 for writer in self._writers}
        for _ in range(TAIL):
            for writer in self._writers:
                await self._append(writer)

    async def batch(self, times: int) -> Sequence[Row]:
        return [
            await self._timed("append", times, lambda: self._append(self._random.choice(self._writers))),
            await self._timed("tail read", times, lambda: self._read(self._random.choice(self._writers).run.id)),
            await self._timed("old read", times, lambda: self._read(self._random.choice(self._old), EVENTS)),
        ]

    async def _append(self, writer: Writer) -> None:
        [outcome] = await self._store.append([writer.part(token("t "))])
        if not isinstance(outcome, Appended):
            raise AssertionError("an append was refused")
        self._tips[writer.run.id] = outcome.last_seq

    async def _read(self, run_id: str, tip: int | None = None) -> None:
        last = tip or self._tips[run_id]
        events = await self._store.read(run_id, last - TAIL, 1000)
        if [event.seq for event in events] != list(range(last - TAIL + 1, last + 1)):
            raise AssertionError("the tail of a log is not what was written")

    async def _timed(self, case: str, times: int, work: Callable[[], Awaitable[None]]) -> Row:
        took = []
        for _ in range(times):
            begun = perf_counter()
            await work()
            took.append((perf_counter() - begun) * 1e3)
        return Row(
            case=case,
            server="postgres",
            size=self._events,
            runs=times,
            took_ms_p50=percentile(took, 0.5),
            took_ms_p99=percentile(took, 0.99),
        )
