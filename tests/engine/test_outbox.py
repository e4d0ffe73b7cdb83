"""The outbox: committed first, then the cursor, then the hint; what a crash left behind is found; nothing is lost."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from runyard.bus import Hint
from runyard.clock import SystemClock
from runyard.domain.events import place
from runyard.domain.publication import CursorAdvance
from runyard.domain.run import Run, Status
from runyard.engine.log.outbox import Outbox
from runyard.engine.log.publications import Publications
from runyard.engine.log.stream import Pause, Streams
from runyard.engine.log.tail import Chunk, Tail
from runyard.errors import Unavailable
from runyard.stores.memory import MemoryStore
from runyard.telemetry.metrics import Metrics
from tests.engine.fakes import until
from tests.store.factories import ANN, Writer, decide, last_words, running, token, waiting, written
from tests.support.eventually import PATIENCE

clock = SystemClock()


class NotingBus:
    """A bus that records what it sends, and how far the cursor in the store was at that moment."""

    is_connected = True
    has_others = True

    def __init__(self) -> None:
        self.sent: list[Hint] = []

    async def open(self, hear: Any) -> None:
        pass

    def send(self, hints: Sequence[Hint]) -> None:
        self.sent += hints

    async def close(self) -> None:
        pass


class StoreThatFails(MemoryStore):
    def __init__(self) -> None:
        super().__init__(clock)
        self.failures = 0
        self.published: list[list[CursorAdvance]] = []

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        if self.failures:
            self.failures -= 1
            raise Unavailable
        self.published.append(list(marks))
        return await super().publish(marks)


class Pod:
    """One process's part in it: a tail, an outbox, and streams."""

    def __init__(self, store: MemoryStore, batch: int = 10, poll: float = 0.01) -> None:
        self.store = store
        self.bus = NotingBus()
        self.publications = Publications()
        self.outbox = Outbox(store, self.publications, self.bus, clock, Metrics(), poll_seconds=poll, batch=batch)
        self.tail = Tail(self.outbox)
        self.streams = Streams(store, self.tail, self.publications)
        self.writer: Writer | None = None

    async def write(self, run: Run, count: int, end: Status | None = None) -> None:
        """As the journal does: commit, then tell."""
        self.writer = self.writer or Writer(run)
        drafts = [*[token("x") for _ in range(count)], *(last_words(end) if end else [])]
        part = self.writer.part(*drafts) if end is None else self.writer.finish(end)
        if end is not None:
            drafts = list(part.drafts)
        outcome = await written(self.store, part)
        self.tail.add(run.id, place(run.id, outcome.first_seq, drafts))


@pytest.fixture
async def store() -> StoreThatFails:
    return StoreThatFails()


@pytest.mark.invariant(11)
@pytest.mark.req("S4.7", "S4.11", "S4.40")
async def test_nothing_is_announced_before_the_outbox_has_moved_the_cursor(store: StoreThatFails) -> None:
    pod = Pod(store)
    run = await running(store)
    await pod.write(run, 4)
    assert (pod.bus.sent, (await store.heads([run.id]))[run.id].published) == ([], 0)
    store.failures = 1
    with pytest.raises(Unavailable):
        await pod.outbox.round()
    assert pod.bus.sent == []
    await pod.outbox.round()
    assert pod.bus.sent == [Hint("log", run.id, 5)]
    assert (await store.heads([run.id]))[run.id].published == 5


@pytest.mark.invariant(11)
@pytest.mark.req("S4.33", "S4.15")
async def test_events_are_published_in_order_as_they_come(store: StoreThatFails) -> None:
    pod = Pod(store)
    run = await running(store)
    for n in range(1, 6):
        await pod.write(run, 1)
        await pod.outbox.round()
        assert pod.bus.sent[-1] == Hint("log", run.id, n + 1)
    assert [hint.seq for hint in pod.bus.sent] == sorted(hint.seq for hint in pod.bus.sent)


async def test_commits_during_a_round_are_published_by_the_next(store: StoreThatFails) -> None:
    pod = Pod(store)
    runs = [await running(store) for _ in range(3)]
    await pod.outbox.round()
    store.published.clear()
    for run in runs:
        pod.writer = None
        await pod.write(run, 3)
        await pod.write(run, 3)
    await pod.outbox.round()
    assert [sorted((mark.run_id, mark.upto) for mark in marks) for marks in store.published] == [
        sorted((run.id, 7) for run in runs)
    ]


@pytest.mark.invariant(11)
@pytest.mark.req("S4.13", "S4.35")
@pytest.mark.parametrize("end", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_publishing_the_end_moves_the_state(store: StoreThatFails, end: Status) -> None:
    pod = Pod(store)
    run = await running(store)
    await pod.write(run, 0, end)
    assert (await store.get_run(ANN, run.id)).state == "started"
    await pod.outbox.round()
    assert (await store.get_run(ANN, run.id)).state == ("cancelled" if end is Status.CANCELED else "finished")


@pytest.mark.req("S4.16", "S4.29")
async def test_what_a_crash_left_behind_is_published_by_another_in_batches_without_a_pause(
    store: StoreThatFails,
) -> None:
    dead, other = Pod(store), Pod(store, batch=10)
    runs = [await running(store) for _ in range(2)]
    for run in runs:
        dead.writer = None
        await dead.write(run, 34)
        await dead.write(run, 0, Status.DONE)
    publishing = asyncio.create_task(other.outbox.run())
    await until(lambda: {store._runs[run.id].state for run in runs} == {"finished"})
    publishing.cancel()
    steps = [[mark.upto for mark in marks] for marks in store.published]
    assert steps == [[10, 10], [20, 20], [30, 30], [37, 37]]
    assert dead.bus.sent == []
    assert other.bus.sent[-2:] == [Hint("log", run.id, 37) for run in runs]


async def test_what_others_wrote_into_a_log_is_looked_for_at_once(store: StoreThatFails) -> None:
    """A decision, for one: it is known to be there, but not at which seq."""
    pod = Pod(store, poll=3600)
    run, approval = await waiting(store)
    publishing = asyncio.create_task(pod.outbox.run())
    await until(lambda: bool(pod.bus.sent))
    pod.bus.sent.clear()
    await decide(store, approval)
    pod.tail.mark_stale(run.id)
    await until(lambda: bool(pod.bus.sent))
    publishing.cancel()
    assert pod.bus.sent == [Hint("log", run.id, run.last_seq + 1)]


async def test_a_store_that_is_away_costs_time_and_nothing_else(store: StoreThatFails) -> None:
    pod = Pod(store)
    run = await running(store)
    publishing = asyncio.create_task(pod.outbox.run())
    store.failures = 3
    await pod.write(run, 3)
    await pod.write(run, 0, Status.DONE)
    await until(lambda: store._runs[run.id].state == "finished")
    publishing.cancel()
    assert pod.bus.sent[-1] == Hint("log", run.id, 6)


async def test_without_followers_and_other_processes_events_are_published_by_the_poll(store: StoreThatFails) -> None:
    """No process and no follower waits for the publication, so a commit for every few events would be wasted."""
    pod = Pod(store, poll=0.2)
    pod.bus.has_others = False
    run = await running(store)
    publishing = asyncio.create_task(pod.outbox.run())
    now = asyncio.get_running_loop().time
    began = now()
    for _ in range(20):
        await pod.write(run, 1)
        await asyncio.sleep(0.02)  # waits on purpose: a model that streams
    await until(lambda: store._outbox.published(run.id) == 21)
    assert len(store.published) <= 3 + (now() - began) / 0.2  # on a busy machine this takes more than one poll
    follower = pod.streams.follow(run.id, 21, published=True)
    await pod.write(run, 1)
    assert isinstance(await follower.next(1), list)
    follower.close()
    publishing.cancel()


# --- followers of what is published


async def everything(pod: Pod, run_id: str, after: int = 0) -> list[int]:
    follower = pod.streams.follow(run_id, after, published=True)
    seen: list[int] = []
    try:
        async with asyncio.timeout(PATIENCE):
            while (found := await follower.next(5)) is not Pause.END:
                assert isinstance(found, list)
                seen += [event.seq for chunk in found for event in chunk.events]
    finally:
        follower.close()
    return seen


@pytest.mark.invariant(11)
@pytest.mark.req("S4.18")
async def test_a_follower_of_what_is_published_sees_no_further_than_the_cursor(store: StoreThatFails) -> None:
    pod = Pod(store)
    run = await running(store)
    await pod.write(run, 5)
    follower = pod.streams.follow(run.id, 0, published=True)
    assert await follower.next(0.01) is Pause.IDLE
    await store.publish([CursorAdvance(run.id, 3)])
    pod.publications.advance(run.id, 3)
    found = await follower.next(1)
    assert isinstance(found, list)
    assert [event.seq for chunk in found for event in chunk.events] == [1, 2, 3]
    assert await follower.next(0.01) is Pause.IDLE
    await pod.outbox.round()
    found = await follower.next(1)
    assert isinstance(found, list)
    assert [event.seq for chunk in found for event in chunk.events] == [4, 5, 6]
    follower.close()


@pytest.mark.req("S4.19", "S4.20", "S4.36", "S4.37")
@pytest.mark.parametrize("after", range(9))
async def test_a_follower_gets_each_published_event_once_from_anywhere(store: StoreThatFails, after: int) -> None:
    pod, other = Pod(store), Pod(store)
    run = await running(store)
    await pod.write(run, 2)
    await pod.outbox.round()
    reading = [asyncio.create_task(everything(each, run.id, after)) for each in (pod, other)]
    watching = asyncio.create_task(other.streams.watch(0.005))
    await pod.write(run, 3)
    await pod.outbox.round()
    await pod.write(run, 0, Status.DONE)
    await pod.outbox.round()
    for hint in pod.bus.sent * 2:  # doubled, and late
        other.tail.set_stored_end(hint.run_id, hint.seq)
        other.publications.advance(hint.run_id, hint.seq)
    assert await asyncio.gather(*reading) == [list(range(after + 1, 9))] * 2
    watching.cancel()
    assert pod.publications.wakeups.runs | other.publications.wakeups.runs == set()


@pytest.mark.req("S4.20")
@pytest.mark.parametrize("after", [8, 9, 1000])
async def test_a_follower_past_the_end_of_a_finished_run_ends_at_once(store: StoreThatFails, after: int) -> None:
    pod = Pod(store)
    run = await running(store)
    await pod.write(run, 5)
    await pod.write(run, 0, Status.DONE)
    await pod.outbox.round()
    assert await everything(pod, run.id, after) == []


@pytest.mark.req("S4.19")
async def test_a_follower_where_the_run_was_accepted_sees_what_another_process_publishes(store: StoreThatFails) -> None:
    here, there = Pod(store), Pod(store)
    run = await running(store)
    here.tail.add(run.id, await store.read(run.id, 0, 1))
    reading = asyncio.create_task(everything(here, run.id, 0))
    await there.write(run, 5)
    await there.write(run, 0, Status.DONE)
    await there.outbox.round()
    for hint in there.bus.sent:
        here.tail.set_stored_end(hint.run_id, hint.seq)
        here.publications.advance(hint.run_id, hint.seq)
    async with asyncio.timeout(PATIENCE):
        assert await reading == list(range(1, 9))


@pytest.mark.req("S4.20")
async def test_a_follower_at_the_end_ends_also_while_others_still_read(store: StoreThatFails) -> None:
    pod = Pod(store)
    run = await running(store)
    await pod.write(run, 5)
    await pod.write(run, 0, Status.DONE)
    await pod.outbox.round()
    slow = pod.streams.follow(run.id, 0, published=True)
    assert isinstance(await slow.next(1), list)
    async with asyncio.timeout(PATIENCE):
        assert await everything(pod, run.id, 8) == []
    slow.close()


async def test_followers_of_what_is_committed_do_not_wait_for_publication(store: StoreThatFails) -> None:
    pod = Pod(store)
    run = await running(store)
    await pod.write(run, 2)
    follower = pod.streams.follow(run.id, 1)
    found = await follower.next(1)
    assert isinstance(found, list)
    assert isinstance(found[0], Chunk)
    assert found[0].last == 3
    follower.close()


class StoreWithLocks(StoreThatFails):
    """Another transaction has the rows of some runs locked."""

    def __init__(self) -> None:
        super().__init__()
        self.locked: set[str] = set()

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        await super().publish([mark for mark in marks if mark.run_id not in self.locked])
        return [mark.run_id for mark in marks if mark.run_id in self.locked]


async def test_a_run_whose_rows_are_locked_is_announced_when_they_are_free_and_no_other_waits() -> None:
    store = StoreWithLocks()
    run, other = await running(store), await running(store)
    pod, neighbour = Pod(store), Pod(store)
    await pod.outbox.round()
    pod.bus.sent.clear()
    store.locked = {run.id}
    await pod.write(run, 3)
    neighbour.outbox = pod.outbox
    neighbour.tail = pod.tail
    await neighbour.write(other, 2)
    await pod.outbox.round()
    assert pod.bus.sent == [Hint("log", other.id, 3)]
    await pod.outbox.round()
    assert pod.bus.sent == [Hint("log", other.id, 3)], "a locked run is not announced"
    store.locked = set()
    await pod.outbox.round()
    assert pod.bus.sent[1:] == [Hint("log", run.id, 4)]
    assert (await store.heads([run.id]))[run.id].published == 4


async def test_commits_of_a_skipped_run_are_not_lost() -> None:
    store = StoreWithLocks()
    run = await running(store)
    pod = Pod(store)
    store.locked = {run.id}
    await pod.write(run, 3)
    await pod.outbox.round()
    await pod.write(run, 2)
    store.locked = set()
    await pod.outbox.round()
    assert pod.bus.sent == [Hint("log", run.id, 6)]
