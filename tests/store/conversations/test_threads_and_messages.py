"""A thread outlives its runs, keeps its messages in order, and is deleted with all its rows."""

import pytest
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.runs.append import Release
from runyard.domain.runs.run import Status
from runyard.errors import Conflict, Fenced, KeyReused, NotFound, RunActive
from runyard.store import Store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    Writer,
    a_key,
    a_post,
    a_thread,
    append,
    claimed,
    claims,
    ended,
    ending,
    in_state,
    log,
    post,
    running,
    token,
    waiting,
    written,
)


async def test_a_thread_is_kept_as_it_was_given(store: Store) -> None:
    thread = replace(a_thread(agent="greeter"), kind="channel", external_id="general", user_id="7")
    assert await store.create_thread(thread) == thread
    assert await store.get_thread(ANN, thread.id) == thread


async def test_the_metadata_of_a_chat_can_be_replaced_by_its_owner_alone(store: Store) -> None:
    thread = replace(a_thread(), external_id="mine", metadata='{"a":1}')
    assert await store.create_thread(thread) == thread
    with pytest.raises(NotFound):
        await store.change_thread(BOB, thread.id, "{}")
    changed = replace(thread, metadata='{"b":2}')
    assert await store.change_thread(ANN, thread.id, '{"b":2}') == changed
    assert await store.get_named_thread(ANN, "mine") == changed
    channel = await store.create_thread(replace(a_thread(), kind="channel", name="general"))
    with pytest.raises(NotFound):
        await store.change_thread(ANN, channel.id, "{}")


async def test_a_name_is_given_to_one_thread_of_an_owner(store: Store) -> None:
    first = await store.create_thread(replace(a_thread(ANN), external_id="mine"))
    with pytest.raises(Conflict):
        await store.create_thread(replace(a_thread(ANN), external_id="mine"))
    await store.create_thread(replace(a_thread(BOB), external_id="mine"))
    assert await store.list_threads(ANN, None, MANY) == [first]


async def test_creating_a_thread_again_with_its_key_returns_the_first_one(store: Store) -> None:
    first = await store.create_thread(a_thread(), a_key())
    assert await store.create_thread(a_thread(), a_key()) == first
    assert await store.list_threads(ANN, None, MANY) == [first]


async def test_a_key_cannot_create_two_different_threads(store: Store) -> None:
    first = await store.create_thread(a_thread(), a_key(digest="one"))
    with pytest.raises(KeyReused):
        await store.create_thread(a_thread(), a_key(digest="two"))
    assert await store.list_threads(ANN, None, MANY) == [first]


async def test_keys_of_different_scopes_do_not_meet(store: Store) -> None:
    one = await store.create_thread(a_thread(), a_key(scope="ann: threads"))
    two = await store.create_thread(a_thread(), a_key(scope="ann: forks", digest="other"))
    assert one != two


async def test_a_thread_of_another_owner_is_not_found(store: Store) -> None:
    thread = await store.create_thread(a_thread(ANN))
    with pytest.raises(NotFound):
        await store.get_thread(BOB, thread.id)
    with pytest.raises(NotFound):
        await store.delete_thread(BOB, thread.id)
    assert await store.list_threads(BOB, None, MANY) == []
    assert await store.get_thread(ANN, thread.id) == thread


async def test_an_unknown_thread_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.get_thread(ANN, new_id())
    with pytest.raises(NotFound):
        await store.delete_thread(ANN, new_id())
    assert await store.list_messages(new_id()) == []


async def test_messages_are_listed_in_the_order_they_were_posted(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    first = a_post(thread, "one?")
    run = await running(store, first)
    await written(store, Writer(run).finish(answer="one!"))
    second = a_post(thread, "two?")
    await post(store, second)
    messages = await store.list_messages(thread.id)
    assert [(m.role, m.text) for m in messages] == [("user", "one?"), ("assistant", "one!"), ("user", "two?")]
    assert messages[0] == first.message
    assert messages[1].run_id == run.id
    assert messages[1].sources == ["cv_001"]
    assert messages[2] == second.message


async def test_messages_of_one_thread_are_not_seen_in_another(store: Store) -> None:
    one, two = await store.create_thread(a_thread()), await store.create_thread(a_thread())
    await post(store, a_post(one))
    assert len(await store.list_messages(one.id)) == 1
    assert await store.list_messages(two.id) == []


async def test_a_thread_outlives_its_runs_and_only_its_head_changes(store: Store) -> None:
    thread = await store.create_thread(a_thread(agent="greeter"))
    run = await ended(store, a_post(thread))
    assert await store.get_thread(ANN, thread.id) == replace(thread, head_run_id=run.id)


async def test_deleting_a_thread_removes_everything_in_it(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run, approval = await waiting(store, a_post(thread))
    await store.cancel(ANN, run.id, 0, ending)
    await store.delete_thread(ANN, thread.id)
    with pytest.raises(NotFound):
        await store.get_thread(ANN, thread.id)
    with pytest.raises(NotFound):
        await store.get_run(ANN, run.id)
    with pytest.raises(NotFound):
        await store.get_wait(ANN, approval.id)
    assert await store.list_threads(ANN, None, MANY) == []
    assert await store.list_runs(ANN, {}, None, MANY) == []
    assert await store.list_messages(thread.id) == []
    assert await log(store, run.id) == []
    assert await store.heads([run.id]) == {}


async def test_deleting_a_thread_leaves_the_others_alone(store: Store) -> None:
    gone, kept = await store.create_thread(a_thread()), await store.create_thread(a_thread())
    await ended(store, a_post(gone, lane="agent:shared"))
    run = await ended(store, a_post(kept, lane="agent:shared"))
    queued = await post(store, a_post(kept, lane="agent:shared"))
    await store.delete_thread(ANN, gone.id)
    assert [m.run_id for m in await store.list_messages(kept.id)] == [run.id, queued]
    assert await log(store, run.id) == ["run.queued", "run.output", "run.finished"]
    assert (await claimed(store)).id == queued


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.WAITING])
async def test_a_thread_with_a_run_at_work_cannot_be_deleted(store: Store, status: Status) -> None:
    thread = await store.create_thread(a_thread())
    run = await in_state(store, status, a_post(thread))
    with pytest.raises(RunActive):
        await store.delete_thread(ANN, thread.id)
    assert await store.get_run(ANN, run.id) == run
    assert len(await store.list_messages(thread.id)) == 1


async def test_a_late_write_to_a_deleted_run_is_refused(store: Store) -> None:
    """Also one with a move, whose lane is gone: it must not be told to wait for the lane."""
    thread = await store.create_thread(a_thread())
    run = await running(store, a_post(thread))
    writer = Writer(run)
    last = writer.finish()
    await written(store, last)
    await store.delete_thread(ANN, thread.id)
    for late in (last, writer.part(token("a")), writer.finish(), writer.part(move=Release())):
        assert isinstance(await append(store, late), Fenced)
    assert await log(store, run.id) == []
    assert await claims(store) == []
