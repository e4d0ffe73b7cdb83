"""The feed: numbered after the commit, in order, without a gap, and only what one may see."""

from collections.abc import Callable

import pytest
from anyio import create_task_group

from runyard.store import Store
from tests.store.making import ANN, BOB
from tests.store.office_making import KEVIN, channel, feed, hire, said


@pytest.fixture
async def office(store: Store) -> Store:
    await hire(store)
    return store


async def numbers(office: Store, caller: str = ANN, after: int = 0, limit: int = 1000) -> list[int]:
    return [entry.no for entry in (await office.read_feed(caller, after, limit)).entries]


async def test_what_has_no_number_is_not_read(office: Store) -> None:
    await said(office, await channel(office))
    assert (await office.read_feed(ANN, 0, 9)).upto == 0
    assert await numbers(office) == []
    assert await office.number_feed(1000) == 1
    assert await numbers(office) == [1]
    assert await office.number_feed(1000) == 1


async def test_numbers_are_contiguous_and_read_in_pieces(office: Store) -> None:
    here = await channel(office)
    for n in range(5):
        await said(office, here, f"{n}")
    assert await office.number_feed(2) == 2
    assert await office.number_feed(1000) == 5
    window = await office.read_feed(ANN, 1, 2)
    assert [(entry.no, entry.message.text if entry.message else "") for entry in window.entries] == [(2, "1"), (3, "2")]
    assert window.upto == 3


async def test_a_reader_goes_on_past_what_it_may_not_see(office: Store) -> None:
    secret, public = await channel(office, private=True), await channel(office)
    for here in (secret, public, secret):
        await said(office, here)
    await office.number_feed(1000)
    window = await office.read_feed(BOB, 0, 9)
    assert ([entry.no for entry in window.entries], window.upto) == ([2], 3)


async def test_what_is_deleted_leaves_the_head_where_it_was(office: Store) -> None:
    here = await channel(office)
    await said(office, here)
    await office.number_feed(1000)
    await office.delete_thread(ANN, here.thread.id)
    await said(office, await channel(office))
    assert await office.number_feed(1000) == 2
    assert await numbers(office) == [2]


async def test_many_who_number_at_once_give_each_entry_one_number(
    office: Store, connect: Callable[[], Store], request: pytest.FixtureRequest
) -> None:
    """A reader that asks all the while never misses one that came late."""
    on_postgres = "postgres" in request.node.name
    other = connect() if on_postgres else office  # a second pod
    if on_postgres:
        await other.open()
    here = await channel(office, KEVIN)
    seen: list[int] = []

    async def talk(store: Store) -> None:
        for _ in range(10):
            await said(store, here)
            await store.number_feed(1000)
            window = await store.read_feed(ANN, seen[-1] if seen else 0, 1000)
            seen.extend(entry.no for entry in window.entries if not seen or entry.no > seen[-1])

    async with create_task_group() as tasks:
        for store in (office, other, office, other):
            tasks.start_soon(talk, store)
    assert await feed(office) == [("message_created", ANN)] * 40
    assert await numbers(office) == list(range(1, 41))
    assert seen == sorted(set(seen))
    assert seen == list(range(1, len(seen) + 1)), "none was passed over"
    if on_postgres:
        await other.close()
