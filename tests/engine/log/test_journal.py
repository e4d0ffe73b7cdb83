"""The only writer: groups, retries, refusals, back-pressure."""

import asyncio

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent
from runyard.domain.runs.append import Finish, Release
from runyard.domain.runs.run import Run, Status
from runyard.engine.log import journal as journal_module
from runyard.engine.log.journal import HIGH_WATER, Journal, RunWriter
from runyard.engine.log.tail import Tail
from runyard.engine.running.run_services import RunLimits, RunServices
from runyard.engine.running.run_task import RunTask
from runyard.errors import CancelRequested, Fenced, WriteRefused
from runyard.store import Store
from tests.engine.fakes import NO_LISTENER, NotingStore, StoreThatRefuses, StoreWithFaults, claimed_runs
from tests.store.factories import ANN, MANY, a_post, a_worker, clock, ending, last_words, log, lose, post, token
from tests.support.eventually import PATIENCE

DONE = Finish(status=Status.DONE, stop_reason="end_turn")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", (0.0, 0.0, 0.0))


def open_journal(store: Store) -> tuple[Journal, Tail]:
    tail = Tail(NO_LISTENER)
    return Journal(store, tail), tail


def services_of(store: Store, journal: Journal, agents: dict[str, Agent]) -> RunServices:
    return RunServices(store, journal, clock=clock, agents=agents, limits=RunLimits(stop_seconds=1))


async def writers(store: Store, count: int) -> tuple[list[RunWriter], list[Run], Tail]:
    journal, tail = open_journal(store)
    runs = await claimed_runs(store, count)
    return [journal.open(run) for run in runs], runs, tail


async def test_an_idle_journal_commits_at_once_and_a_busy_one_in_groups() -> None:
    store = NotingStore()
    written, runs, _ = await writers(store, 50)
    store.gate.clear()
    written[0].write(token("first"))
    async with asyncio.timeout(PATIENCE):
        await store.reached.wait()
    for writer in written:
        for n in range(10):
            writer.write(token(f"{n}"))
    store.gate.set()
    await asyncio.gather(*(writer.commit() for writer in written))
    assert [len(group) for group in store.appended] == [1, 50]
    assert await log(store, runs[1].id) == ["run.queued", *["model.token"] * 10]
    assert await log(store, runs[0].id) == ["run.queued", *["model.token"] * 11]


async def test_a_group_has_a_largest_size_and_every_writer_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "GROUP_EVENTS", 10)
    store = NotingStore()
    written, runs, _ = await writers(store, 6)
    for writer in written:
        for n in range(5):
            writer.write(token(f"{n}"))
    await asyncio.gather(*(writer.commit() for writer in written))
    assert [len(group) for group in store.appended] == [2, 2, 2]
    assert [len(await log(store, run.id)) for run in runs] == [6] * 6


@pytest.mark.invariant(7)
async def test_followers_have_an_event_only_after_its_commit() -> None:
    store = NotingStore()
    [writer], [run], tail = await writers(store, 1)
    store.gate.clear()
    writer.write(token("a"))
    wakeup = asyncio.Event()
    tail.wakeups.subscribe(run.id, wakeup.set)
    await store.reached.wait()
    assert (tail.read(run.id, 1), wakeup.is_set()) == (None, False)
    store.gate.set()
    await writer.commit()
    assert wakeup.is_set()
    assert [chunk.last for chunk in tail.read(run.id, 1) or ()] == [2]


async def test_a_part_that_cannot_be_stored_fails_alone() -> None:
    store = StoreThatRefuses()
    written, runs, _ = await writers(store, 4)
    for n, writer in enumerate(written):
        writer.write(token("poison" if n == 2 else "fine"))
    ends = await asyncio.gather(*(writer.commit() for writer in written), return_exceptions=True)
    assert [type(end) for end in ends] == [type(None), type(None), WriteRefused, type(None)]
    assert [await log(store, run.id) for run in runs].count(["run.queued", "model.token"]) == 3
    assert await log(store, runs[2].id) == ["run.queued"]


@pytest.mark.invariant(5)
@pytest.mark.parametrize("faults", [["away"], ["lost"], ["away", "away", "lost"], ["lost", "lost"], ["away"] * 9])
async def test_without_the_database_the_same_part_is_offered_until_it_is_stored_once(faults: list[str]) -> None:
    store = StoreWithFaults(*faults)
    [writer], [run], tail = await writers(store, 1)
    writer.write(token("a"))
    writer.write(token("b"))
    await writer.commit()
    assert len({(part.fence, part.batch, len(part.drafts)) for [part] in store.appended}) == 1
    assert len(store.appended) == len(faults) + 1
    writer.write(token("c"))
    await writer.commit()
    assert [event.seq for event in await store.read(run.id, 0, MANY)] == [1, 2, 3, 4]
    read = tail.read(run.id, 3)
    assert read is not None
    assert [event.seq for chunk in read for event in chunk.events] == [4]


async def test_events_written_without_the_database_are_stored_later_in_order() -> None:
    store = StoreWithFaults("away", "away")
    [writer], [run], _ = await writers(store, 1)
    writer.write(token("a"))
    await asyncio.sleep(0)
    writer.write(token("b"))
    await writer.commit()
    texts = [event.data for event in await store.read(run.id, 1, MANY)]
    assert texts == [b'{"text":"a"}', b'{"text":"b"}']


@pytest.mark.invariant(9)
async def test_a_part_whose_lane_is_locked_is_offered_again_and_its_neighbours_are_not_held_up() -> None:
    store = StoreWithFaults("busy", "busy")
    (one, two), runs, _ = await writers(store, 2)
    moving = asyncio.create_task(one.move(DONE, last_words(Status.DONE)))
    two.write(token("a"))
    await two.commit()
    await moving
    assert (await log(store, runs[0].id))[-1] == "run.finished"
    assert await log(store, runs[1].id) == ["run.queued", "model.token"]


async def test_a_writer_that_is_far_ahead_of_the_database_is_congested_until_it_has_caught_up() -> None:
    store = NotingStore()
    [writer], _, _ = await writers(store, 1)
    store.gate.clear()
    for n in range(HIGH_WATER):
        writer.write(token(f"{n}"))
    before = writer.congested
    writer.write(token("one more"))
    assert (before, writer.congested) == (False, True)
    draining = asyncio.create_task(writer.drain())
    await store.reached.wait()
    assert not draining.done()
    store.gate.set()
    await draining
    after = writer.congested
    assert not after


async def test_an_agent_waits_while_the_database_is_slow() -> None:
    store = NotingStore()
    wrote = 0

    @agent
    async def eager(ctx: Context) -> str:
        nonlocal wrote
        for _ in range(HIGH_WATER * 3):
            await ctx.token("x")
            wrote += 1
        return "done"

    journal, _ = open_journal(store)
    services = RunServices(
        store, journal, clock=clock, agents={"default": eager, "eager": eager}, limits=RunLimits(stop_seconds=1)
    )
    await post(store, a_post(agent="eager"))
    [claim] = await store.claim(await a_worker(store), 1, False)
    store.gate.clear()
    going = asyncio.create_task(RunTask(services, claim).execute())
    await store.reached.wait()
    for _ in range(1000):
        await asyncio.sleep(0)
    assert 0 < wrote <= 2 * HIGH_WATER
    store.gate.set()
    await going
    assert wrote == HIGH_WATER * 3
    assert len(await log(store, claim.run.id)) == HIGH_WATER * 3 + 3


async def test_an_abandoned_writer_writes_nothing_more() -> None:
    store = NotingStore()
    [writer], [run], _ = await writers(store, 1)
    store.gate.clear()
    writer.write(token("under way"))
    committing = asyncio.create_task(writer.commit())
    await store.reached.wait()
    writer.abandon()
    with pytest.raises(Fenced):
        await committing
    with pytest.raises(Fenced):
        writer.write(token("late"))
    with pytest.raises(Fenced):
        await writer.move(DONE, last_words(Status.DONE))
    store.gate.set()
    journal, _ = open_journal(store)
    await journal.close(PATIENCE)
    assert "run.finished" not in await log(store, run.id)
    assert len(store.appended) == 1


@pytest.mark.invariant(2)
async def test_a_writer_that_lost_its_run_gets_fenced_and_writes_nothing() -> None:
    store = NotingStore()
    [writer], [run], tail = await writers(store, 1)
    await lose(store, run)
    writer.write(token("late"))
    with pytest.raises(Fenced):
        await writer.commit()
    assert await log(store, run.id) == ["run.queued"]
    assert tail.read(run.id, 1) is None


async def test_a_refused_move_leaves_the_writer_fit_for_another_one() -> None:
    store = NotingStore()
    [writer], [run], _ = await writers(store, 1)
    writer.write(token("a"))
    await writer.commit()
    await store.cancel(ANN, run.id, 1000, ending)
    writer.write(token("lost with the move"))
    with pytest.raises(CancelRequested):
        await writer.move(DONE, last_words(Status.DONE))
    await writer.move(Finish(status=Status.CANCELED, stop_reason="cancelled"), last_words(Status.CANCELED))
    assert await log(store, run.id) == ["run.queued", "model.token", "run.canceled", "run.finished"]


async def test_a_cancel_is_noticed_by_the_next_write() -> None:
    store = NotingStore()
    [writer], [run], _ = await writers(store, 1)
    await store.cancel(ANN, run.id, 1000, ending)
    assert not writer.cancel_requested
    writer.write(token("a"))
    await writer.commit()
    assert writer.cancel_requested


async def test_a_release_gives_the_run_back_with_all_that_was_written() -> None:
    store = NotingStore()
    [writer], [run], _ = await writers(store, 1)
    writer.write(token("a"))
    await writer.move(Release(), [])
    assert (await store.get_run(ANN, run.id)).status is Status.QUEUED
    assert await log(store, run.id) == ["run.queued", "model.token"]


async def test_a_run_whose_event_cannot_be_stored_ends_as_an_error() -> None:
    """Not: stays running for ever under a worker that lives."""
    store = StoreThatRefuses()

    @agent
    async def poisonous(ctx: Context) -> str:
        await ctx.token("poison")
        return "done"

    journal, _ = open_journal(store)
    services = RunServices(
        store, journal, clock=clock, agents={"poisonous": poisonous}, limits=RunLimits(stop_seconds=1)
    )
    await post(store, a_post(agent="poisonous"))
    [claim] = await store.claim(await a_worker(store), 1, False)
    await RunTask(services, claim).execute()
    assert (await store.get_run(ANN, claim.run.id)).status is Status.ERROR
