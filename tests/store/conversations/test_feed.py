"""The feed is numbered after the commit, in order and without gaps; a reader sees only what it may see."""

from collections.abc import Callable

import pytest
from anyio import create_task_group

from runyard.store import Store
from tests.store.channel_factories import KEVIN, channel, declare_agents, feed, said
from tests.store.factories import ANN, BOB


@pytest.fixture
async def channel_store(store: Store) -> Store:
    await declare_agents(store)
    return store


async def numbers(channel_store: Store, caller: str = ANN, after: int = 0, limit: int = 1000) -> list[int]:
    return [entry.no for entry in (await channel_store.read_feed(caller, after, limit)).entries]


@pytest.mark.invariant(13)
async def test_entries_without_a_number_are_not_read(channel_store: Store) -> None:
    await said(channel_store, await channel(channel_store))
    assert (await channel_store.read_feed(ANN, 0, 9)).upto == 0
    assert await numbers(channel_store) == []
    assert await channel_store.number_feed(1000) == 1
    assert await numbers(channel_store) == [1]
    assert await channel_store.number_feed(1000) == 1


@pytest.mark.invariant(13)
async def test_numbers_are_contiguous_and_read_in_pieces(channel_store: Store) -> None:
    here = await channel(channel_store)
    for n in range(5):
        await said(channel_store, here, f"{n}")
    assert await channel_store.number_feed(2) == 2
    assert await channel_store.number_feed(1000) == 5
    window = await channel_store.read_feed(ANN, 1, 2)
    assert [(entry.no, entry.message.text if entry.message else "") for entry in window.entries] == [(2, "1"), (3, "2")]
    assert window.upto == 3


async def test_a_reader_goes_on_past_what_it_may_not_see(channel_store: Store) -> None:
    secret, public = await channel(channel_store, private=True), await channel(channel_store)
    for here in (secret, public, secret):
        await said(channel_store, here)
    await channel_store.number_feed(1000)
    window = await channel_store.read_feed(BOB, 0, 9)
    assert ([entry.no for entry in window.entries], window.upto) == ([2], 3)


@pytest.mark.invariant(13)
async def test_deleted_entries_leave_the_head_where_it_was(channel_store: Store) -> None:
    here = await channel(channel_store)
    await said(channel_store, here)
    await channel_store.number_feed(1000)
    await channel_store.delete_thread(ANN, here.thread.id)
    await said(channel_store, await channel(channel_store))
    assert await channel_store.number_feed(1000) == 2
    assert await numbers(channel_store) == [2]


@pytest.mark.invariant(13)
async def test_many_who_number_at_once_give_each_entry_one_number(
    channel_store: Store, connect: Callable[[], Store], request: pytest.FixtureRequest
) -> None:
    """A reader that asks all the while never misses one that came late."""
    on_postgres = "postgres" in request.node.name
    other = connect() if on_postgres else channel_store  # a second pod
    if on_postgres:
        await other.open()
    here = await channel(channel_store, KEVIN)
    seen: list[int] = []

    async def talk(store: Store) -> None:
        for _ in range(10):
            await said(store, here)
            await store.number_feed(1000)
            window = await store.read_feed(ANN, seen[-1] if seen else 0, 1000)
            seen.extend(entry.no for entry in window.entries if not seen or entry.no > seen[-1])

    async with create_task_group() as tasks:
        for store in (channel_store, other, channel_store, other):
            tasks.start_soon(talk, store)
    assert await feed(channel_store) == [("message_created", ANN)] * 40
    assert await numbers(channel_store) == list(range(1, 41))
    assert seen == sorted(set(seen))
    assert seen == list(range(1, len(seen) + 1)), "none was passed over"
    if on_postgres:
        await other.close()
