"""Every ended run of the chats face is listed until it has a copy; a copy is deleted with its thread."""

import pytest

from runyard.domain.runs.run import Status
from runyard.store import Store
from tests.store.factories import ANN, MANY, a_chat_post, a_post, ended, ending, in_state, post


@pytest.mark.req("S1.28", "S1.35")
@pytest.mark.parametrize("status", list(Status))
async def test_only_a_run_that_has_ended_is_due(store: Store, status: Status) -> None:
    run = await in_state(store, status, a_chat_post("c"))
    assert [each.id for each in await store.runs_without_checkpoint(MANY)] == (
        [run.id] if run.status.is_terminal else []
    )


@pytest.mark.req("S1.28")
async def test_also_one_that_no_worker_ended(store: Store) -> None:
    run_id = await post(store, a_chat_post("c"))
    await store.cancel(ANN, run_id, 0, ending)
    assert [each.id for each in await store.runs_without_checkpoint(MANY)] == [run_id]


async def test_runs_of_other_faces_have_none(store: Store) -> None:
    await ended(store, a_post())
    assert await store.runs_without_checkpoint(MANY) == []


async def test_a_copy_is_kept_replaced_and_read(store: Store) -> None:
    first, second = await ended(store, a_chat_post("c")), await ended(store, a_chat_post("c"))
    assert first.thread_id is not None
    assert await store.save_checkpoint(first, b"one")
    assert [each.id for each in await store.runs_without_checkpoint(MANY)] == [second.id]
    assert await store.save_checkpoint(first, b"one again")
    assert await store.save_checkpoint(second, b"two")
    assert await store.read_checkpoints(first.thread_id) == {first.id: b"one again", second.id: b"two"}
    assert await store.read_checkpoints(first.thread_id, second.id) == {second.id: b"two"}
    assert await store.runs_without_checkpoint(MANY) == []


async def test_a_checkpoint_that_is_kept_elsewhere_is_only_noted(store: Store) -> None:
    run = await ended(store, a_chat_post("c"))
    assert run.thread_id is not None
    assert await store.save_checkpoint(run, None)
    assert await store.runs_without_checkpoint(MANY) == []
    assert await store.read_checkpoints(run.thread_id) == {}


async def test_an_edit_makes_a_copy_due_again_and_refuses_an_older_one(store: Store) -> None:
    run = await ended(store, a_chat_post("c"))
    await store.save_checkpoint(run, b"before")
    edit = a_post(run.thread_id, "other")
    await store.edit(ANN, edit, run.id)
    [due] = await store.runs_without_checkpoint(MANY)
    assert (due.id, due.superseded_by) == (run.id, edit.run_id)
    assert not await store.save_checkpoint(run, b"too late")
    assert await store.save_checkpoint(due, b"after")
    assert run.thread_id is not None
    assert await store.read_checkpoints(run.thread_id) == {run.id: b"after"}


async def test_copies_go_with_their_thread(store: Store) -> None:
    run = await ended(store, a_chat_post("c"))
    assert run.thread_id is not None
    await store.save_checkpoint(run, b"one")
    await store.delete_thread(ANN, run.thread_id)
    assert await store.read_checkpoints(run.thread_id) == {}
    assert not await store.save_checkpoint(run, b"one")


async def test_messages_are_found_by_their_ids(store: Store) -> None:
    runs = [await ended(store, a_chat_post("c", text)) for text in ("one", "two")]
    ids = [run.trigger_message_id or "" for run in runs]
    found = await store.get_messages([*ids, runs[0].id])
    assert {each: found[each].text for each in ids} == dict(zip(ids, ["one", "two"], strict=True))
    assert len(found) == 2
