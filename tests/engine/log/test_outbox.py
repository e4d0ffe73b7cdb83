"""The outbox: committed first, then the cursor, then the hint; what a crash left behind is found; nothing is lost."""

import asyncio
from collections.abc import Sequence

import pytest

from runyard.buses.bus import Hint
from runyard.domain.runs.publication import CursorAdvance
from runyard.domain.runs.run import Status
from runyard.errors import Unavailable
from tests.engine.fakes import until
from tests.engine.log.outbox_parts import Pod, StoreThatFails
from tests.store.factories import ANN, decide, running, waiting


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
async def test_events_that_a_crash_left_are_published_by_another_process_in_batches_without_a_pause(
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


async def test_events_of_other_processes_are_looked_for_at_once(store: StoreThatFails) -> None:
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


async def test_an_unavailable_store_costs_time_and_nothing_else(store: StoreThatFails) -> None:
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
