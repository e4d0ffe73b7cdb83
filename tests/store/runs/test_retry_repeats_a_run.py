"""A retry is a new run for the same message with the same parent; the old run stays, marked as superseded."""

import pytest
from anyio import create_task_group

from runyard.base.ids import new_id
from runyard.domain.events import RunQueued
from runyard.domain.runs.run import Status
from runyard.errors import Conflict, KeyReused, NotFound, RunActive
from runyard.store import Accepted, Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    a_key,
    a_post,
    a_thread,
    a_worker,
    ended,
    in_state,
    log,
)

ENDED = [Status.DONE, Status.ERROR, Status.CANCELED]


@pytest.mark.parametrize("status", ENDED)
async def test_a_retry_queues_a_new_run_for_the_same_message(store: Store, status: Status) -> None:
    thread = await store.create_thread(a_thread())
    first = await ended(store, a_post(thread), Status.DONE)
    request = a_post(thread, "hello")
    old = await ended(store, request, status)
    again = a_post(lane=old.lane_key, agent="poet")
    accepted = await store.retry(ANN, again, old.id)

    [event] = await store.read(again.run_id, 0, MANY)
    assert accepted == Accepted(again.run_id, event, thread_id=thread.id)
    assert isinstance(event.payload, RunQueued)
    assert event.payload.agent == "poet"
    new = await store.get_run(ANN, again.run_id)
    assert (new.status, new.retry_of, new.parent_id) == (Status.QUEUED, old.id, first.id)
    assert (new.thread_id, new.trigger_message_id) == (thread.id, old.trigger_message_id)
    assert (new.agent, new.lane_key, new.superseded_by) == ("poet", old.lane_key, None)
    assert len(await store.list_messages(thread.id)) == 2
    [claim] = await store.claim(await a_worker(store), 10, False)
    assert (claim.run.id, claim.message) == (new.id, request.message)


async def test_the_old_run_is_marked_and_otherwise_untouched(store: Store) -> None:
    old = await ended(store, status=Status.ERROR)
    whole = await log(store, old.id)
    again = a_post()
    await store.retry(ANN, again, old.id)
    marked = await store.get_run(ANN, old.id)
    assert (marked.superseded_by, marked.status, marked.last_seq) == (again.run_id, Status.ERROR, old.last_seq)
    assert await log(store, old.id) == whole


async def test_a_retry_of_the_head_becomes_the_head(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    old = await ended(store, a_post(thread))
    again = a_post()
    await store.retry(ANN, again, old.id)
    assert (await store.get_thread(ANN, thread.id)).head_run_id == again.run_id


async def test_a_retry_of_an_older_run_leaves_the_head_where_it_is(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    old = await ended(store, a_post(thread))
    head = await ended(store, a_post(thread))
    await store.retry(ANN, a_post(), old.id)
    assert (await store.get_thread(ANN, thread.id)).head_run_id == head.id


async def test_without_a_name_the_same_agent_answers_again(store: Store) -> None:
    thread = await store.create_thread(a_thread(agent="greeter"))
    old = await ended(store, a_post(thread))
    again = a_post()
    await store.retry(ANN, again, old.id)
    assert (await store.get_run(ANN, again.run_id)).agent == "greeter"


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.WAITING])
async def test_a_run_at_work_cannot_be_retried(store: Store, status: Status) -> None:
    run = await in_state(store, status)
    with pytest.raises(RunActive):
        await store.retry(ANN, a_post(), run.id)
    assert await store.list_runs(ANN, {}, None, MANY) == [run]


async def test_a_run_is_superseded_once(store: Store) -> None:
    old = await ended(store)
    await store.retry(ANN, a_post(), old.id)
    with pytest.raises(Conflict) as refused:
        await store.retry(ANN, a_post(), old.id)
    assert refused.type is Conflict
    assert len(await store.list_runs(ANN, {}, None, MANY)) == 2


async def test_a_repeated_key_returns_the_run_made_then(store: Store) -> None:
    old = await ended(store)
    first = a_post(key=a_key())
    await store.retry(ANN, first, old.id)
    assert await store.retry(ANN, a_post(key=a_key()), old.id) == Accepted(first.run_id, None, repeated=True)
    with pytest.raises(KeyReused):
        await store.retry(ANN, a_post(key=a_key(digest="other")), old.id)
    assert len(await store.list_runs(ANN, {}, None, MANY)) == 2


async def test_of_many_callers_at_once_one_retries(store: Store) -> None:
    old = await ended(store)
    made: list[Accepted] = []
    refused: list[Conflict] = []

    async def call() -> None:
        try:
            made.append(await store.retry(ANN, a_post(), old.id))
        except Conflict as conflict:
            refused.append(conflict)

    async with create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(call)
    assert (len(made), len(refused)) == (1, 5)
    assert (await store.get_run(ANN, old.id)).superseded_by == made[0].run_id


async def test_a_run_of_another_owner_cannot_be_retried(store: Store) -> None:
    old = await ended(store)
    with pytest.raises(NotFound):
        await store.retry(BOB, a_post(owner=BOB), old.id)
    with pytest.raises(NotFound):
        await store.retry(ANN, a_post(), new_id())
    assert len(await store.list_runs(ANN, {}, None, MANY)) == 1
