"""Followers of published events get each event once, in order, and none beyond the cursor of the outbox."""

import asyncio

import pytest

from runyard.domain.runs.publication import CursorAdvance
from runyard.domain.runs.run import Status
from runyard.engine.log.stream import Pause
from runyard.engine.log.tail import Chunk
from tests.engine.log.outbox_parts import Pod, StoreThatFails
from tests.store.factories import running
from tests.support.eventually import PATIENCE


@pytest.fixture
async def store() -> StoreThatFails:
    return StoreThatFails()


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
