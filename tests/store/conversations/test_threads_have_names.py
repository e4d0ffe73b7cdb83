"""A thread with an external id is created by its first message, once, also for concurrent messages."""

import pytest
from anyio import create_task_group
from msgspec.structs import replace

from runyard.domain.runs.run import Status
from runyard.domain.runs.thread_head import ThreadHead
from runyard.errors import KeyReused, NotFound
from runyard.store import Accepted, Store
from tests.store.factories import ANN, BOB, Writer, a_chat_post, a_key, a_post, a_thread, claimed, ended, post, written


@pytest.mark.req("S1.3")
async def test_the_first_message_makes_the_thread_and_the_next_one_finds_it(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.get_named_thread(ANN, "c1")
    first = await post(store, a_chat_post("c1", "one"))
    thread = await store.get_named_thread(ANN, "c1")
    second = await post(store, a_chat_post("c1", "two"))
    assert await store.get_named_thread(ANN, "c1") == await store.get_thread(ANN, thread.id)
    assert [message.text for message in await store.list_messages(thread.id)] == ["one", "two"]
    runs = [await store.get_run(ANN, run_id) for run_id in (first, second)]
    assert [(run.thread_id, run.lane_key, run.parent_id) for run in runs] == [
        (thread.id, f"thread:{thread.id}", None),
        (thread.id, f"thread:{thread.id}", first),
    ]


@pytest.mark.req("S1.3")
async def test_several_at_once_in_one_group_make_one_thread(store: Store) -> None:
    posts = [a_chat_post(name, text) for name, text in (("b", "1"), ("a", "2"), ("b", "3"))]
    accepted = await store.accept(posts)
    assert all(isinstance(each, Accepted) for each in accepted)
    assert len(await store.list_threads(ANN, None, 10)) == 2
    thread = await store.get_named_thread(ANN, "b")
    assert [message.text for message in await store.list_messages(thread.id)] == ["1", "3"]


@pytest.mark.req("S1.3")
async def test_several_at_once_make_one_thread(store: Store) -> None:
    async with create_task_group() as group:
        for n in range(8):
            group.start_soon(store.accept, [a_chat_post(name, str(n)) for name in ("x", "y")[:: 1 if n % 2 else -1]])
    assert len(await store.list_threads(ANN, None, 10)) == 2
    for name in ("x", "y"):
        thread = await store.get_named_thread(ANN, name)
        assert len(await store.list_messages(thread.id)) == 8


async def test_the_same_name_is_another_thread_for_another_owner(store: Store) -> None:
    await post(store, a_chat_post("c", owner=ANN))
    await post(store, a_chat_post("c", owner=BOB))
    ann, bob = await store.get_named_thread(ANN, "c"), await store.get_named_thread(BOB, "c")
    assert ann.id != bob.id
    assert len(await store.list_messages(ann.id)) == 1


async def test_a_repeated_or_refused_message_makes_no_thread(store: Store) -> None:
    first = await post(store, a_post(key=a_key()))
    [again] = await store.accept([a_chat_post("new", key=a_key())])
    assert isinstance(again, Accepted)
    assert (again.run_id, again.repeated) == (first, True)
    [refused] = await store.accept([a_chat_post("new", key=a_key(digest="other"))])
    assert isinstance(refused, KeyReused)
    with pytest.raises(NotFound):
        await store.get_named_thread(ANN, "new")


async def test_a_post_that_fails_in_the_same_group_does_not_lose_the_thread(store: Store) -> None:
    lost, made = await store.accept([a_post(a_thread()), a_chat_post("c")])
    assert isinstance(lost, NotFound)
    assert isinstance(made, Accepted)
    await store.get_named_thread(ANN, "c")


async def test_a_name_is_free_again_when_its_thread_is_deleted(store: Store) -> None:
    run = await ended(store, a_chat_post("c"))
    assert run.thread_id is not None
    await store.delete_thread(ANN, run.thread_id)
    await post(store, a_chat_post("c", "again"))
    thread = await store.get_named_thread(ANN, "c")
    assert thread.id != run.thread_id
    await written(store, Writer(await claimed(store)).finish())


async def test_a_chat_is_found_by_its_id_unless_another_has_that_name(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    assert await store.get_named_thread(ANN, thread.id) == thread
    with pytest.raises(NotFound):
        await store.get_named_thread(BOB, thread.id)
    run_id = await post(store, a_chat_post(thread.id))
    named = await store.get_named_thread(ANN, thread.id)
    assert (named.external_id, named.head_run_id) == (thread.id, run_id)


async def test_a_channel_is_not_found_by_its_id(store: Store) -> None:
    channel = replace(a_thread(), kind="channel", name="general")
    await store.open_channel(channel, [])
    assert await store.get_thread_head(ANN, channel.id) == ThreadHead()
    with pytest.raises(NotFound):
        await store.get_named_thread(ANN, channel.id)


async def test_the_head_of_a_thread_has_its_last_run(store: Store) -> None:
    assert await store.get_thread_head(ANN, "c") == ThreadHead()
    await ended(store, a_chat_post("c", "one"))
    run = await ended(store, a_chat_post("c", "two"), Status.ERROR)
    thread = await store.get_named_thread(ANN, "c")
    assert thread.head_run_id == run.id
    assert await store.get_thread_head(ANN, "c") == ThreadHead(thread, run)
    assert await store.get_thread_head(BOB, "c") == ThreadHead()
    empty = await store.create_thread(a_thread())
    assert await store.get_thread_head(ANN, empty.id) == ThreadHead(empty)
