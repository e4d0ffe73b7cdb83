"""A push is a cursor over a run's log: claimed by one process, and deleted with its run."""

import asyncio

import pytest
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.push import Push
from runyard.domain.runs.run import Status
from runyard.errors import NotFound, TooMany
from runyard.store import Post, Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    MINUTE,
    Writer,
    a_key,
    a_post,
    a_thread,
    ended,
    ending,
    post,
    received,
    running,
    token,
    written,
)
from tests.support.eventually import eventually

DATA = {"url": "https://example.com/hook", "token": "secret"}


def a_push(run_id: str, name: str = "p1", **data: str) -> Push:
    return Push(run_id=run_id, id=name, kind="a2a", data={**DATA, **data})


async def claimed(store: Store, lease_ms: int = MINUTE, run_ids: list[str] | None = None) -> list[Push]:
    found, _ = await store.claim_pushes(MANY, lease_ms, run_ids)
    return sorted(found, key=lambda push: (push.run_id, push.id))


async def test_a_push_is_claimed_once_and_moves_along_the_log(store: Store) -> None:
    run = await running(store)
    other = await post(store)
    made = await store.put_push(a_push(run.id), 10, at_end=False)
    assert (made.seq, made.failures, made.data) == (0, 0, DATA)
    assert await claimed(store, run_ids=[other]) == []
    [push] = await claimed(store, run_ids=[run.id, other])
    assert push == replace(made, due_at=push.due_at)
    assert await claimed(store) == []

    done = await store.settle_push(replace(push, seq=run.last_seq, failures=0), 0)
    assert done is not None
    assert done.seq == run.last_seq
    assert await claimed(store) == []  # nothing to deliver
    await written(store, Writer(run).part(token("more")))
    [again] = await claimed(store)
    assert again.seq == run.last_seq
    failed = await store.settle_push(replace(again, failures=1), 2 * MINUTE)
    assert failed is not None
    assert failed.failures == 1
    assert await claimed(store) == []  # not due
    assert await store.settle_push(again, 0) is None  # the claim is over
    assert await store.settle_push(failed, None) is not None
    assert await store.claim_pushes(MANY, MINUTE) == ([], False)  # it has ended


async def test_a_claim_ends_with_its_lease(store: Store) -> None:
    run_id = await post(store)
    await store.put_push(a_push(run_id), 10, at_end=False)
    [first] = await claimed(store, 1)
    [second] = await eventually("the lease is over", lambda: claimed(store))
    assert await store.settle_push(replace(first, seq=1), 0) is None
    assert await store.settle_push(replace(second, seq=1), 0) is not None


async def test_a_push_may_begin_at_the_end_and_is_over_with_an_ended_run(store: Store) -> None:
    run, over = await running(store), await ended(store)
    late = await store.put_push(a_push(run.id), 10, at_end=True)
    assert late.seq == run.last_seq
    assert (await store.put_push(a_push(over.id), 10, at_end=True)).due_at is None
    assert (await store.put_push(a_push(over.id, "p2"), 10, at_end=False)).due_at is not None
    assert [(push.run_id, push.id) for push in await claimed(store)] == [(over.id, "p2")]


async def test_setting_a_push_again_replaces_its_address_and_keeps_its_place(store: Store) -> None:
    run = await running(store)
    await store.put_push(a_push(run.id), 2, at_end=False)
    [push] = await claimed(store)
    await store.settle_push(replace(push, seq=1, failures=3), None)
    again = await store.put_push(a_push(run.id, url="https://example.com/new"), 2, at_end=True)
    assert (again.seq, again.failures, again.data["url"]) == (1, 0, "https://example.com/new")
    assert again.due_at is not None
    assert again.created_at == push.created_at
    await store.put_push(a_push(run.id, "p0"), 2, at_end=True)
    with pytest.raises(TooMany):
        await store.put_push(a_push(run.id, "p3"), 2, at_end=True)
    assert [each.id for each in await store.list_pushes(run.id)] == ["p0", "p1"]


async def test_a_post_stores_its_push_with_the_run_that_it_starts(store: Store) -> None:
    thread = await store.create_thread(a_thread())

    def with_push(name: str, key: str) -> Post:
        made = a_post(thread, key=a_key(key))
        return replace(made, push=a_push(made.run_id, name))

    run = await ended(store, with_push("first", "one"))
    assert await post(store, with_push("ignored", "one")) == run.id
    edited = await store.edit(ANN, with_push("edited", "two"), run.id)
    interrupting = await store.interrupt(with_push("interrupting", "three"), 0, ending)
    stored = [await store.list_pushes(each) for each in (run.id, edited.run_id, interrupting.run_id)]
    assert [[(push.id, push.seq, push.data) for push in pushes] for pushes in stored] == [
        [("first", 0, DATA)],
        [("edited", 0, DATA)],
        [("interrupting", 0, DATA)],
    ]
    assert {push.id for push in await claimed(store)} == {"first", "edited", "interrupting"}


async def test_a_steered_message_stores_no_push(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run = await running(store, a_post(thread))
    made = a_post(thread)
    made = replace(made, push=a_push(made.run_id))
    assert (await store.steer(made, lambda _: received(made))).steered
    await written(store, Writer(run).finish(Status.ERROR))
    [left] = await store.list_runs(ANN, {"thread_id": thread.id, "status": "queued"}, None, MANY)
    assert [await store.list_pushes(each) for each in (run.id, left.id)] == [[], []]


async def test_a_push_is_deleted_alone_or_with_its_run(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run = await ended(store, a_post(thread))
    for name in ("p1", "p2"):
        await store.put_push(a_push(run.id, name), 10, at_end=False)
    await store.drop_push(run.id, "p1")
    await store.drop_push(run.id, "p1")
    assert [push.id for push in await store.list_pushes(run.id)] == ["p2"]
    await store.delete_thread(ANN, thread.id)
    assert await store.list_pushes(run.id) == []
    with pytest.raises(NotFound):
        await store.put_push(a_push(run.id), 10, at_end=False)
    with pytest.raises(NotFound):
        await store.put_push(a_push(new_id()), 10, at_end=False)


async def test_processes_do_not_claim_the_same_push(store: Store) -> None:
    runs = [await post(store) for _ in range(8)]
    for run_id in runs:
        await store.put_push(a_push(run_id), 10, at_end=False)
    rounds = await asyncio.gather(*(store.claim_pushes(3, MINUTE) for _ in range(4)))
    found = [push.run_id for pushes, _ in rounds for push in pushes]
    assert len(found) == len(set(found))
    assert set(found) <= set(runs)


async def test_ended_runs_are_listed_by_their_end(store: Store) -> None:
    first, second = await running(store), await running(store)
    for run in (second, first):
        await written(store, Writer(run).finish(Status.ERROR))
    found = await store.list_ended_runs(ANN, {}, None, MANY)
    times = [(run.finished_at, run.id) for run in found]
    assert {run.id for run in found} == {first.id, second.id}
    assert times == sorted(times, reverse=True)
    [rest] = await store.list_ended_runs(ANN, {"agent": "default"}, (times[0][0] or 0, times[0][1]), MANY)
    assert rest.id == times[1][1]
    assert not await store.list_ended_runs(BOB, {}, None, MANY)
    assert not await store.list_ended_runs(ANN, {"status": "done"}, None, MANY)
    assert not await store.list_ended_runs(ANN, {"thread_id": new_id()}, None, MANY)
