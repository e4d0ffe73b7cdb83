"""Lists come newest first, page by page, and contain only the owner's rows."""

from collections.abc import Sequence

import pytest

from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.append import Finish
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import Wait
from runyard.errors import NotFound
from runyard.store import Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    Writer,
    a_post,
    a_thread,
    an_approval,
    approval_request,
    ended,
    in_state,
    last_words,
    post,
    running,
    waiting,
    written,
)


def ids(rows: Sequence[Thread | Run | Wait]) -> list[str]:
    return [row.id for row in rows]


async def test_threads_are_listed_newest_first_in_pages(store: Store) -> None:
    made = [(await store.create_thread(a_thread())).id for _ in range(5)]
    await store.create_thread(a_thread(BOB))
    made.reverse()
    assert ids(await store.list_threads(ANN, None, MANY)) == made
    assert ids(await store.list_threads(ANN, None, 2)) == made[:2]
    assert ids(await store.list_threads(ANN, made[1], 2)) == made[2:4]
    assert ids(await store.list_threads(ANN, made[3], 2)) == made[4:]
    assert ids(await store.list_threads(ANN, made[4], 2)) == []


async def test_threads_are_listed_by_their_last_activity_in_pages(store: Store) -> None:
    old, middle, new = [(await store.create_thread(a_thread())).id for _ in range(3)]
    await store.create_thread(a_thread(BOB))
    assert ids(await store.list_active_threads(ANN, None, MANY)) == [new, middle, old]
    answered = await ended(store, a_post(old))
    assert ids(await store.list_active_threads(ANN, None, MANY)) == [old, new, middle]
    fork = (await store.fork_thread(a_thread(), answered.id)).id
    order = [fork, old, new, middle]
    assert ids(await store.list_active_threads(ANN, None, MANY)) == order, "a fork is as new as itself"
    before, seen = None, []
    while page := await store.list_active_threads(ANN, before, 1):
        [thread] = page
        seen.append(thread.id)
        before = thread.last_activity
    assert seen == order


async def test_runs_are_listed_newest_first_in_pages(store: Store) -> None:
    made = [await post(store) for _ in range(5)]
    await post(store, a_post(owner=BOB))
    made.reverse()
    assert ids(await store.list_runs(ANN, {}, None, MANY)) == made
    assert ids(await store.list_runs(ANN, {}, None, 2)) == made[:2]
    assert ids(await store.list_runs(ANN, {}, made[1], 2)) == made[2:4]
    assert ids(await store.list_runs(ANN, {}, made[4], 2)) == []


async def test_a_page_begins_below_any_id_also_one_that_is_not_there(store: Store) -> None:
    older = await post(store)
    between = new_id()
    await post(store)
    assert ids(await store.list_runs(ANN, {}, between, MANY)) == [older]


async def failing(store: Store, code: str) -> str:
    """A run that failed with this code."""
    run = await running(store, None)
    writer = Writer(run)
    move = Finish(status=Status.ERROR, stop_reason="error", error_code=code, error="It broke.")
    await written(store, writer.part(*last_words(Status.ERROR), move=move))
    return run.id


async def test_runs_are_filtered_by_status_agent_thread_and_error(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    done = await ended(store, a_post(thread, agent="poet"))
    failed = await ended(store, a_post(agent="poet"), Status.ERROR)
    broken = await failing(store, "tool_failed")
    queued = await post(store, a_post(thread))
    assert ids(await store.list_runs(ANN, {"status": "done"}, None, MANY)) == [done.id]
    assert ids(await store.list_runs(ANN, {"status": "queued"}, None, MANY)) == [queued]
    assert ids(await store.list_runs(ANN, {"agent": "poet"}, None, MANY)) == [failed.id, done.id]
    assert ids(await store.list_runs(ANN, {"thread_id": thread.id}, None, MANY)) == [queued, done.id]
    assert ids(await store.list_runs(ANN, {"thread_id": thread.id, "status": "done"}, None, MANY)) == [done.id]
    assert ids(await store.list_runs(ANN, {"agent": "poet"}, failed.id, MANY)) == [done.id]
    assert ids(await store.list_runs(ANN, {"error_code": "tool_failed"}, None, MANY)) == [broken]
    assert ids(await store.list_runs(ANN, {"error_code": "tool_failed", "status": "error"}, None, MANY)) == [broken]
    assert ids(await store.list_runs(ANN, {"error_code": "tool_failed", "status": "done"}, None, MANY)) == []
    assert ids(await store.list_runs(ANN, {"error_code": "tool_failed", "agent": "poet"}, None, MANY)) == []
    assert ids(await store.list_runs(ANN, {"error_code": "tool_failed"}, broken, MANY)) == []
    assert ids(await store.list_runs(ANN, {"error_code": "other"}, None, MANY)) == []
    assert ids(await store.list_runs(BOB, {"error_code": "tool_failed"}, None, MANY)) == []
    assert ids(await store.list_runs(ANN, {"agent": "unknown"}, None, MANY)) == []
    assert ids(await store.list_runs(BOB, {"agent": "poet"}, None, MANY)) == []


async def test_the_runs_of_a_thread_that_have_not_ended_are_found_together(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await ended(store, a_post(thread))
    parked, _ = await waiting(store, a_post(thread), hold=False)
    at_work = await running(store, a_post(thread))
    queued = await post(store, a_post(thread))
    await post(store, a_post(await store.create_thread(a_thread())))
    assert ids(await store.open_runs(ANN, thread.id)) == [parked.id, at_work.id, queued]
    assert await store.open_runs(BOB, thread.id) == []


@pytest.mark.parametrize("status", Status)
async def test_every_status_can_be_asked_for(store: Store, status: Status) -> None:
    run = await in_state(store, status)
    for asked_for in Status:
        found = await store.list_runs(ANN, {"status": asked_for}, None, MANY)
        assert list(found) == ([run] if asked_for is status else [])


async def test_a_run_is_found_by_its_owner_only(store: Store) -> None:
    run_id = await post(store)
    assert (await store.get_run(ANN, run_id)).id == run_id
    with pytest.raises(NotFound):
        await store.get_run(BOB, run_id)
    with pytest.raises(NotFound):
        await store.get_run(ANN, new_id())


async def test_pending_approvals_are_listed_newest_first_in_pages(store: Store) -> None:
    run = await running(store)
    approvals = [an_approval(run) for _ in range(4)]
    await written(store, Writer(run).part(*map(approval_request, approvals), waits=approvals))
    await waiting(store, a_post(owner=BOB))
    made = ids(approvals[::-1])
    assert ids(await store.list_waits(ANN, None, MANY)) == made
    assert ids(await store.list_waits(ANN, None, 3)) == made[:3]
    assert ids(await store.list_waits(ANN, made[2], 3)) == made[3:]
    assert len(await store.list_waits(BOB, None, MANY)) == 1
