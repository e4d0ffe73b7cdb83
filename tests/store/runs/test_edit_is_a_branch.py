"""An edit gives the parent another child and supersedes the rest, in one commit; no log changes."""

import pytest
from anyio import create_task_group
from msgspec.structs import replace

from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import Run, Status
from runyard.errors import Conflict, NotFound, RunActive, RunyardError
from runyard.store import Accepted, Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    a_key,
    a_log_copy,
    a_post,
    a_thread,
    claimed,
    ended,
    in_state,
    log,
    post,
)

BUSY = [Status.QUEUED, Status.RUNNING, Status.WAITING]


async def a_conversation(store: Store, count: int) -> tuple[Thread, list[Run]]:
    thread = await store.create_thread(a_thread())
    return thread, [await ended(store, a_post(thread, f"message {n}")) for n in range(count)]


async def superseded(store: Store, runs: list[Run]) -> list[str | None]:
    return [(await store.get_run(ANN, run.id)).superseded_by for run in runs]


@pytest.mark.req("S1.31", "S1.32")
@pytest.mark.parametrize("which", [0, 1, 2])
async def test_an_edit_starts_from_the_parent_and_supersedes_later_runs(store: Store, which: int) -> None:
    thread, runs = await a_conversation(store, 3)
    logs = [await store.read(run.id, 0, MANY) for run in runs]
    edit = a_post(thread, "better")
    accepted = await store.edit(ANN, edit, runs[which].id)
    assert accepted.run_id == edit.run_id
    made = await store.get_run(ANN, edit.run_id)
    assert (made.parent_id, made.status) == (runs[which].parent_id, Status.QUEUED)
    assert (await store.get_thread(ANN, thread.id)).head_run_id == made.id
    assert await superseded(store, runs) == [None] * which + [made.id] * (3 - which)
    assert [await store.read(run.id, 0, MANY) for run in runs] == logs
    questions = [message.text for message in await store.history(made.id, 10)]
    assert questions == [f"message {n}" for n in range(which)]


@pytest.mark.req("S1.33", "S1.34")
async def test_later_runs_go_on_from_the_edit(store: Store) -> None:
    thread, runs = await a_conversation(store, 2)
    once = await store.edit(ANN, a_post(thread, "once"), runs[1].id)
    await ended_now(store)
    twice = await store.edit(ANN, a_post(thread, "twice"), once.run_id)
    await ended_now(store)
    after = await post(store, a_post(thread, "after"))
    assert [message.text for message in await store.history(after, 10)] == ["message 0", "twice"]
    assert await superseded(store, runs) == [None, once.run_id]
    with pytest.raises(Conflict):
        await store.edit(ANN, a_post(thread), once.run_id)
    assert (await store.get_run(ANN, once.run_id)).superseded_by == twice.run_id


async def ended_now(store: Store) -> None:
    from tests.store.factories import Writer, written

    await written(store, Writer(await claimed(store)).finish())


@pytest.mark.req("S1.32")
@pytest.mark.parametrize("status", BUSY)
async def test_runs_that_have_not_ended_are_not_superseded(store: Store, status: Status) -> None:
    thread, runs = await a_conversation(store, 1)
    busy = await in_state(store, status, a_post(thread))
    for run in (runs[0], busy):
        with pytest.raises(RunActive):
            await store.edit(ANN, a_post(thread), run.id)
    assert await superseded(store, [*runs, busy]) == [None, None]
    assert len(await store.list_messages(thread.id)) == 2
    assert (await store.get_thread(ANN, thread.id)).head_run_id == busy.id


async def test_only_a_run_of_that_thread_and_that_owner_is_edited(store: Store) -> None:
    thread, runs = await a_conversation(store, 1)
    other = await store.create_thread(a_thread())
    alone = await ended(store, a_post())
    for owner, where, run in ((BOB, thread, runs[0]), (ANN, other, runs[0]), (ANN, thread, alone)):
        with pytest.raises(NotFound):
            await store.edit(owner, a_post(where, owner=owner), run.id)


async def test_a_repeated_edit_is_the_same_run(store: Store) -> None:
    thread, runs = await a_conversation(store, 1)
    first = await store.edit(ANN, a_post(thread, key=a_key()), runs[0].id)
    again = await store.edit(ANN, a_post(thread, key=a_key()), runs[0].id)
    assert (again.run_id, again.repeated) == (first.run_id, True)


@pytest.mark.req("S1.32")
async def test_of_many_edits_at_once_one_wins(store: Store) -> None:
    thread, runs = await a_conversation(store, 2)
    results: list[Accepted | RunyardError] = []

    async def edit() -> None:
        try:
            results.append(await store.edit(ANN, a_post(thread), runs[0].id))
        except RunyardError as error:
            results.append(error)

    async with create_task_group() as group:
        for _ in range(6):
            group.start_soon(edit)
    [won] = [each for each in results if isinstance(each, Accepted)]
    assert {type(each) for each in results} == {Accepted, Conflict}
    assert await superseded(store, runs) == [won.run_id] * 2


@pytest.mark.req("S1.56")
async def test_a_fork_goes_on_from_a_run_of_another_thread(store: Store) -> None:
    thread, runs = await a_conversation(store, 2)
    fork = await store.fork_thread(a_thread(), runs[0].id)
    assert (fork.head_run_id, fork.forked_from) == (runs[0].id, thread.id)
    assert await store.get_thread(ANN, fork.id) == fork
    there = await post(store, a_post(fork, "there"))
    assert [message.text for message in await store.history(there, 10)] == ["message 0"]
    assert (await store.get_thread(ANN, thread.id)).head_run_id == runs[1].id
    await ended_now(store)
    await store.edit(ANN, a_post(thread, "other"), runs[0].id)
    assert (await store.get_run(ANN, there)).superseded_by is None, "an edit stays in its thread"
    await ended_now(store)
    with pytest.raises(Conflict):
        await store.delete_thread(ANN, thread.id)
    await store.delete_thread(ANN, fork.id)
    await store.delete_thread(ANN, thread.id)


async def test_a_fork_in_the_middle_of_a_run_continues_from_a_part_of_its_log(store: Store) -> None:
    thread, _ = await a_conversation(store, 1)
    busy = await in_state(store, Status.RUNNING, a_post(thread, "busy"))
    fork = a_thread()
    copy = a_log_copy(busy, fork, "busy")
    made = await store.fork_thread(fork, busy.id, None, copy)
    assert (made.head_run_id, made.forked_from) == (copy.run.id, thread.id)
    assert await store.get_run(ANN, copy.run.id) == replace(copy.run, pos=1)
    assert [event.data for event in await store.read(copy.run.id, 0, MANY)] == [each.data for each in copy.drafts]
    assert [said.text for said in await store.list_messages(fork.id)] == ["busy"]
    assert (await store.get_run(ANN, busy.id)).status is Status.RUNNING
    there = await post(store, a_post(made, "there"))
    assert [said.text for said in await store.history(there, 10)] == ["message 0", "busy"]
    assert (await claimed(store)).id == there, "the copy is never in the queue"
    with pytest.raises(NotFound):
        await store.fork_thread(a_thread(BOB), busy.id, None, a_log_copy(busy, fork))


async def test_a_fork_needs_a_run_that_has_ended_in_a_thread_of_ones_own(store: Store) -> None:
    thread, runs = await a_conversation(store, 1)
    alone = await ended(store, a_post())
    busy = await post(store, a_post(thread))
    for owner, run_id, error in ((ANN, alone.id, NotFound), (BOB, runs[0].id, NotFound), (ANN, busy, RunActive)):
        with pytest.raises(error):
            await store.fork_thread(a_thread(owner), run_id)
    once = await store.fork_thread(a_thread(), runs[0].id, a_key())
    assert (await store.fork_thread(a_thread(), runs[0].id, a_key())).id == once.id
    assert await log(store, busy) == ["run.queued"]
