"""Publication: cursors only advance, unpublished runs are found, and no open outbox is closed too early."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.runs.publication import Backlog, CursorAdvance
from runyard.domain.runs.run import Status
from runyard.errors import NotFound
from runyard.store import Accepted, Head, Room, Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    Writer,
    a_moment,
    a_post,
    a_thread,
    a_worker,
    claimed,
    claims,
    decide,
    ended,
    ending,
    in_state,
    lose,
    post,
    running,
    token,
    waiting,
    written,
)

AT_REST = [Status.QUEUED, Status.WAITING]
THE_END = [Status.DONE, Status.ERROR, Status.CANCELED]


async def behind(store: Store) -> list[Backlog]:
    return list(await store.unpublished(0, MANY))


async def publish_all(store: Store, batch: int = MANY) -> None:
    while backlog := await behind(store):
        await store.publish([each.mark(batch) for each in backlog])


async def published(store: Store, run_id: str) -> int:
    return (await store.heads([run_id]))[run_id].published


@pytest.mark.req("S4.4", "S4.26", "S4.27", "S4.32")
async def test_a_new_run_has_a_cursor_at_its_first_event_in_the_commit_that_made_it(store: Store) -> None:
    run_id = await post(store)
    [backlog] = await behind(store)
    assert (backlog.run_id, backlog.next_seq, backlog.last_seq, backlog.status) == (run_id, 1, 1, Status.QUEUED)
    assert await store.heads([run_id]) == {run_id: Head(1, False, 0)}
    assert (await store.get_run(ANN, run_id)).state == "started"


@pytest.mark.invariant(11)
@pytest.mark.req("S4.10", "S4.25", "S4.26", "S4.32")
async def test_a_cursor_advances_and_never_goes_back(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).part(*[token("x")] * 4))
    await store.publish([CursorAdvance(run.id, 3)])
    assert await published(store, run.id) == 3
    await store.publish([CursorAdvance(run.id, 2)])
    assert await published(store, run.id) == 3
    await store.publish([CursorAdvance(run.id, 5)])
    await store.publish([CursorAdvance(run.id, 5)])
    assert await published(store, run.id) == 5


async def test_publishing_a_run_that_is_gone_changes_nothing(store: Store) -> None:
    await store.publish([CursorAdvance(new_id(), 3, state="finished"), CursorAdvance(new_id(), 3, turn=0)])
    assert await behind(store) == []


@pytest.mark.req("S4.12", "S4.33")
async def test_only_runs_whose_log_goes_further_than_their_cursor_are_behind(store: Store) -> None:
    first, second = await running(store), await running(store)
    await publish_all(store)
    assert await behind(store) == []
    await written(store, Writer(first).part(token("x")))
    assert [(each.run_id, each.next_seq, each.last_seq) for each in await behind(store)] == [(first.id, 2, 2)]
    await publish_all(store)
    assert (await published(store, first.id), await published(store, second.id)) == (2, 1)


@pytest.mark.invariant(11)
@pytest.mark.req("S4.16")
async def test_a_batch_takes_a_run_so_far_and_no_further(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    await written(store, writer.part(*[token("x")] * 24))
    await written(store, writer.finish())
    steps = []
    for _ in range(3):
        [backlog] = await behind(store)
        await store.publish([backlog.mark(10)])
        steps.append((await published(store, run.id), (await store.get_run(ANN, run.id)).state))
    assert steps == [(10, "started"), (20, "started"), (27, "finished")]
    assert await behind(store) == []


@pytest.mark.invariant(11)
@pytest.mark.req("S4.1", "S4.13", "S4.24", "S4.32", "S4.35")
@pytest.mark.parametrize("status", THE_END)
async def test_the_state_of_a_run_moves_when_its_end_is_published_and_not_before(store: Store, status: Status) -> None:
    run = await ended(store, status=status)
    assert (run.status, run.state) == (status, "started")
    await publish_all(store)
    run = await store.get_run(ANN, run.id)
    assert run.state == ("cancelled" if status is Status.CANCELED else "finished")
    assert run.finished_at is not None


@pytest.mark.invariant(11)
async def test_a_state_moves_only_once(store: Store) -> None:
    run = await ended(store)
    await store.publish([CursorAdvance(run.id, 3, state="finished")])
    await store.publish([CursorAdvance(run.id, 3, state="cancelled")])
    assert (await store.get_run(ANN, run.id)).state == "finished"


@pytest.mark.parametrize("status", [*AT_REST, *THE_END])
async def test_a_run_at_rest_is_closed_once_all_of_it_is_published(store: Store, status: Status) -> None:
    run = await in_state(store, status)
    [backlog] = await behind(store)
    assert backlog.last_seq == run.last_seq
    await store.publish([backlog.mark(MANY)])
    assert await behind(store) == []


async def test_a_run_that_goes_on_is_open_again(store: Store) -> None:
    """A claim, a decision, a cancel and a reap each move a run on that was closed."""
    queued = await post(store, a_post(lane="one"))
    await publish_all(store)
    run = await claimed(store)
    assert run.id == queued
    assert await behind(store) == []
    await written(store, Writer(run).part(token("x")))
    assert [each.next_seq for each in await behind(store)] == [2]
    await publish_all(store)
    await lose(store, run)
    assert [each.status for each in await behind(store)] == [Status.QUEUED]
    await publish_all(store)
    await store.cancel(ANN, run.id, 0, ending)
    assert [each.status for each in await behind(store)] == [Status.CANCELED]
    await publish_all(store)
    parked, approval = await waiting(store)
    await publish_all(store)
    await decide(store, approval)
    assert [(each.run_id, each.status) for each in await behind(store)] == [(parked.id, Status.QUEUED)]


@pytest.mark.parametrize("move", ["claim", "decide", "cancel"])
async def test_a_publisher_with_an_older_turn_cannot_close_a_run(store: Store, move: str) -> None:
    """Otherwise what is written next would never be found by a poll."""
    run, approval = await waiting(store, a_post(lane="one"))
    if move == "claim":
        await decide(store, approval)
    [seen] = await behind(store)
    match move:
        case "claim":
            run = await claimed(store)
        case "decide":
            await decide(store, approval)
        case _:
            await store.cancel(ANN, run.id, 0, ending)
    await store.publish([replace(seen.mark(MANY), state=None)])
    if move == "claim":
        await written(store, Writer(run).part(token("x")))
    run = await store.get_run(ANN, run.id)
    assert [each.last_seq for each in await behind(store)] == [run.last_seq]


async def test_a_run_that_is_claimed_as_it_is_accepted_stays_open(store: Store) -> None:
    worker = await a_worker(store)
    [accepted] = await store.accept([a_post()], Room(worker, 1))
    assert isinstance(accepted, Accepted)
    assert accepted.claim is not None
    await publish_all(store)
    await written(store, Writer(accepted.claim.run).part(token("x")))
    assert [each.next_seq for each in await behind(store)] == [2]


async def test_a_run_published_a_moment_ago_is_left_to_its_publisher(store: Store) -> None:
    run = await running(store)
    await store.publish([CursorAdvance(run.id, 1)])
    await written(store, Writer(run).part(token("x")))
    assert await store.unpublished(60_000, MANY) == []
    await a_moment()
    assert [each.run_id for each in await store.unpublished(1, MANY)] == [run.id]


async def test_the_longest_untouched_run_comes_first_and_the_limit_holds(store: Store) -> None:
    """Also with many ended runs: they are closed and do not crowd out others."""
    for _ in range(3):
        await ended(store)
    await publish_all(store)
    runs = []
    for _ in range(3):
        runs.append(await post(store))
        await a_moment()
    assert [each.run_id for each in await store.unpublished(0, 2)] == runs[:2]


@pytest.mark.invariant(11)
@pytest.mark.req("S4.14", "S4.15", "S4.34")
async def test_many_publishers_at_once_leave_every_cursor_at_the_end(store: Store) -> None:
    for _ in range(12):
        await post(store)
    runs = await claims(store)
    writers = [Writer(run) for run in runs]

    async def write() -> None:
        for _ in range(5):
            await store.append([writer.part(token("x")) for writer in writers])
        await store.append([writer.finish() for writer in writers])

    async def publish() -> None:
        for _ in range(10):
            await store.publish([each.mark(3) for each in await behind(store)])

    await asyncio.gather(write(), *(publish() for _ in range(4)))
    await publish_all(store, 3)
    heads = await store.heads([run.id for run in runs])
    assert set(heads.values()) == {Head(8, True, 8)}
    assert {(await store.get_run(ANN, run.id)).state for run in runs} == {"finished"}


async def test_cursors_are_kept_when_the_store_is_opened_again(
    store: Store, reopen: Callable[[], Awaitable[Store]]
) -> None:
    run = await running(store)
    await written(store, Writer(run).part(*[token("x")] * 4))
    await store.publish([CursorAdvance(run.id, 3)])
    again = await reopen()
    assert await published(again, run.id) == 3
    assert [each.next_seq for each in await behind(again)] == [4]


async def test_a_deleted_thread_takes_its_cursors_with_it(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await ended(store, a_post(thread))
    await store.delete_thread(ANN, thread.id)
    assert await behind(store) == []


# --- names that clients give


async def test_a_name_stands_for_one_run_of_its_owner(store: Store) -> None:
    first = replace(a_post(), external_id="job-1")
    again = replace(a_post(), external_id="job-1")
    other = replace(a_post(owner=BOB), external_id="job-1")
    results = await store.accept([first, again, other])
    assert [(each.run_id, each.repeated) for each in results if isinstance(each, Accepted)] == [
        (first.run_id, False),
        (first.run_id, True),
        (other.run_id, False),
    ]
    [later] = await store.accept([replace(a_post(), external_id="job-1")])
    assert later == Accepted(first.run_id, None, repeated=True)
    run = await store.get_named_run(ANN, "job-1")
    assert (run.id, run.external_id) == (first.run_id, "job-1")
    assert (await store.get_named_run(BOB, "job-1")).id == other.run_id
    with pytest.raises(NotFound):
        await store.get_named_run(BOB, "job-2")


async def test_of_many_who_give_a_name_at_once_one_starts_the_run(connect: Callable[[], Store], store: Store) -> None:
    stores = [store]
    if "postgres" in type(store).__module__:
        stores += [connect() for _ in range(3)]
        for each in stores[1:]:
            await each.open()
    posts = [replace(a_post(), external_id="same") for _ in range(12)]
    results = await asyncio.gather(*(stores[n % len(stores)].accept([post]) for n, post in enumerate(posts)))
    accepted = [each for [each] in results if isinstance(each, Accepted)]
    assert len(accepted) == 12
    assert len({each.run_id for each in accepted}) == 1
    assert [each.repeated for each in accepted].count(False) == 1
    assert len(await claims(store)) == 1
    for each in stores[1:]:
        await each.close()
