"""The only reader: a cursor without gaps and duplicates, for any writing process and any events that the tail drops."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runyard.base.clock import SystemClock
from runyard.domain.events import place
from runyard.domain.runs.append import Appended
from runyard.domain.runs.run import Status
from runyard.engine.control.cancel import Cancel
from runyard.engine.log import stream as stream_module
from runyard.engine.log.publications import Publications
from runyard.engine.log.stream import Follower, Pause, Streams
from runyard.engine.log.tail import Chunk, Tail
from runyard.stores.memory import MemoryStore
from runyard.telemetry.metrics import Metrics
from tests.engine.fakes import NO_LISTENER, claimed_runs, until
from tests.store.factories import ANN, Writer, running, token
from tests.support.eventually import PATIENCE

OPS = st.lists(
    st.one_of(
        st.tuples(st.just("here"), st.integers(1, 4)),
        st.tuples(st.just("elsewhere"), st.integers(1, 4)),
        st.tuples(st.just("read"), st.integers(0, 2)),
        st.tuples(st.sampled_from(["forget", "watch", "ring"]), st.just(0)),
    ),
    max_size=40,
)


class Log:
    """One run's log, written here (through the tail) and elsewhere (past it), and its followers."""

    def __init__(self, budget: int) -> None:
        self.store = MemoryStore(SystemClock())
        self.tail = Tail(NO_LISTENER, budget)
        self.streams = Streams(self.store, self.tail, Publications())

    async def start(self, cursors: list[int]) -> None:
        self.run = await running(self.store)
        self.writer = Writer(self.run)
        self.followers = [self.streams.follow(self.run.id, cursor) for cursor in cursors]
        self.seen: list[list[int]] = [[] for _ in cursors]
        self.ended = [False for _ in cursors]

    async def write(self, count: int, here: bool, end: bool = False) -> None:
        part = self.writer.finish() if end else self.writer.part(*(token(f"{n}") for n in range(count)))
        [outcome] = await self.store.append([part])
        assert isinstance(outcome, Appended)
        if here:
            self.tail.add(self.run.id, place(self.run.id, outcome.first_seq, part.drafts))

    async def read(self, which: int) -> None:
        match await self.followers[which].next(0.001):
            case list() as chunks:
                self.seen[which] += [event.seq for chunk in chunks for event in chunk.events]
            case Pause.END:
                self.ended[which] = True
            case _:
                pass


@pytest.mark.invariant(7)
@settings(max_examples=60, deadline=None)
@given(
    ops=OPS,
    cursors=st.lists(st.integers(0, 12), min_size=3, max_size=3),
    last_here=st.booleans(),
    budget=st.sampled_from([0, 1500, 4000, 10**6]),
)
def test_no_gap_and_no_repetition_whichever_process_writes(
    ops: list[tuple[str, int]], cursors: list[int], last_here: bool, budget: int
) -> None:
    async def play() -> None:
        log = Log(budget)
        await log.start(cursors)
        for op, n in ops:
            match op:
                case "here" | "elsewhere":
                    await log.write(n, op == "here")
                case "read":
                    await log.read(n)
                case "forget":
                    log.tail.forget(log.run.id)
                case _:
                    log.tail.set_stored_end(log.run.id, log.store._runs[log.run.id].last_seq)
        await log.write(0, last_here, end=True)
        last = log.store._runs[log.run.id].last_seq
        log.tail.set_stored_end(log.run.id, last)
        for which in range(3):
            while not log.ended[which]:
                await log.read(which)
        assert log.seen == [list(range(cursor + 1, last + 1)) for cursor in cursors]
        assert log.ended == [True] * 3

    asyncio.run(play())


async def follow(follower: Follower) -> list[int]:
    """Everything until the end."""
    seen: list[int] = []
    while isinstance(chunks := await follower.next(20), list):
        seen += [event.seq for chunk in chunks for event in chunk.events]
    assert chunks is Pause.END
    return seen


async def test_followers_of_a_log_that_is_written_elsewhere_are_woken_by_the_watch() -> None:
    log = Log(10**6)
    await log.start([0, 0])
    watch = asyncio.create_task(log.streams.watch(0.001))
    following = [asyncio.create_task(follow(follower)) for follower in log.followers]
    for _ in range(10):
        await log.write(2, here=False)
        await asyncio.sleep(0)
    await log.write(0, here=False, end=True)
    assert await asyncio.gather(*following) == [list(range(1, 24))] * 2
    watch.cancel()


async def test_a_wake_up_that_comes_while_the_reader_is_busy_is_not_lost() -> None:
    """The run was queued on this pod (its first event is in the tail) and worked on by another."""
    log = Log(10**6)
    await log.start([1])
    await log.write(1, here=True)
    reads_of_heads = 0

    async def heads(run_ids: Any) -> Any:
        nonlocal reads_of_heads
        reads_of_heads += 1
        return await MemoryStore.heads(log.store, run_ids)

    log.store.heads = heads  # type: ignore[method-assign]
    await log.write(1, here=False)
    await log.write(0, here=False, end=True)
    watch = asyncio.create_task(log.streams.watch(0.001))
    await until(lambda: reads_of_heads >= 3)
    async with asyncio.timeout(PATIENCE):
        assert await follow(log.followers[0]) == [2, 3, 4, 5]
    watch.cancel()


async def test_a_follower_takes_a_bounded_batch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "BATCH_BYTES", 5000)
    monkeypatch.setattr(stream_module, "READ_EVENTS", 7)
    for here in (True, False):
        log = Log(10**6)
        await log.start([1])
        for _ in range(50):
            await log.write(1, here)
        await log.write(0, here, end=True)
        [follower], seen = log.followers, []
        while isinstance(chunks := await follower.next(1), list):
            assert sum(chunk.size for chunk in chunks) <= 2 * 5000
            seen += [event.seq for chunk in chunks for event in chunk.events]
        assert seen == list(range(2, 54))


async def test_a_follower_ends_at_once_where_there_is_nothing_to_come() -> None:
    log = Log(10**6)
    await log.start([0])
    await log.write(0, here=True, end=True)
    for cursor in (3, 4, 10_000):
        assert await log.streams.follow(log.run.id, cursor).next(20) is Pause.END
    log.tail.forget(log.run.id)
    assert await log.streams.follow(log.run.id, 3).next(20) is Pause.END


async def test_a_follower_of_a_run_that_was_deleted_is_cut() -> None:
    log = Log(10**6)
    await log.start([])
    assert await log.streams.follow("01890000-0000-7000-8000-000000000000", 0).next(20) is Pause.CUT


async def test_a_silent_log_is_idle_and_a_cut_or_a_leave_ends_the_wait() -> None:
    log = Log(10**6)
    await log.start([1, 1])
    one, two = log.followers
    assert await one.next(0.001) is Pause.IDLE
    waiting = asyncio.create_task(one.next(20))
    await asyncio.sleep(0)
    one.leave()
    assert await waiting is Pause.GONE
    waiting = asyncio.create_task(two.next(20))
    await asyncio.sleep(0)
    log.streams.cut()
    assert await waiting is Pause.CUT


async def test_closed_followers_leave_no_subscription_behind() -> None:
    log = Log(10**6)
    await log.start([0, 0])
    assert log.tail.wakeups.runs == {log.run.id}
    for follower in log.followers:
        follower.close()
    assert log.tail.wakeups.runs == set()


async def test_followers_share_chunks_of_the_tail() -> None:
    log = Log(10**6)
    await log.start([1, 1])
    await log.write(3, here=True)
    found: list[Any] = [await follower.next(1) for follower in log.followers]
    assert isinstance(found[0][0], Chunk)
    assert found[0][0] is found[1][0]


async def test_a_cancel_waits_no_longer_than_it_may_for_a_run_that_keeps_writing() -> None:
    """The run is on another pod, which has not heard of the cancel yet."""
    log = Log(10**6)
    await log.start([])
    cancel = Cancel(
        log.store,
        log.tail,
        streams=log.streams,
        clock=SystemClock(),
        grace_seconds=30,
        stop_run=lambda run_id: None,
        metrics=Metrics(),
    )
    answer = asyncio.create_task(cancel(ANN, log.run.id, 0.1))

    async def keep_writing() -> None:
        while not answer.done():
            await log.write(1, here=True)
            await asyncio.sleep(0.01)  # waits on purpose: a model that streams

    async with asyncio.timeout(PATIENCE):
        await keep_writing()
    assert (await answer).status is Status.RUNNING


async def test_watch_reads_all_followed_runs_at_once() -> None:
    reads_of_heads: list[int] = []

    class CountingHeads(MemoryStore):
        async def heads(self, run_ids: Any) -> Any:
            reads_of_heads.append(len(run_ids))
            return await super().heads(run_ids)

    store = CountingHeads(SystemClock())
    streams = Streams(store, Tail(NO_LISTENER), Publications())
    followers = [streams.follow(run.id, 1) for run in await claimed_runs(store, 5)]
    watch = asyncio.create_task(streams.watch(0.001))
    await until(lambda: len(reads_of_heads) >= 3)
    watch.cancel()
    assert set(reads_of_heads) == {5}
    assert len(followers) == 5


async def test_followers_that_are_woken_together_share_one_read_of_the_store() -> None:
    reads: list[int] = []

    class CountingStore(MemoryStore):
        async def read(self, run_id: str, after: int, limit: int) -> Any:
            reads.append(after)
            return await super().read(run_id, after, limit)

    log = Log(10**6)
    log.store = log.streams.store = CountingStore(SystemClock())
    await log.start([1] * 50)
    waiting = [asyncio.create_task(follower.next(5)) for follower in log.followers]
    await asyncio.sleep(0)
    await until(lambda: bool(reads))
    reads.clear()
    await log.write(3, here=False)
    log.tail.mark_stale(log.run.id)
    found = await asyncio.gather(*waiting)
    assert reads == [1]
    assert {chunks[0] for chunks in found if isinstance(chunks, list)} == {found[0][0]}  # type: ignore[index]
    assert [event.seq for event in found[0][0].events] == [2, 3, 4]  # type: ignore[index]
