"""Rate limits of tools: exact in a sliding window, over all runs, processes and restarts."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from runyard.store import Store
from tests.store.factories import ANN, BOB, a_moment
from tests.store.raw_sql import OpenDatabase

MINUTE = 60_000


async def take(store: Store, most: int = 2, window_ms: int = MINUTE, owner: str = ANN, agent: str = "a") -> int:
    return await store.take_call(owner, agent, "ping", most, window_ms)


@pytest.mark.req("S1.47")
async def test_a_limit_holds_until_its_window_has_passed(store: Store) -> None:
    assert [await take(store), await take(store)] == [0, 0]
    assert 0 < await take(store) <= MINUTE
    assert await take(store, window_ms=1) in (0, 1)
    await a_moment()
    assert await take(store, window_ms=1) == 0, "the window of a millisecond has passed"


@pytest.mark.req("S1.47")
async def test_owners_agents_and_tools_are_counted_apart(store: Store) -> None:
    assert await take(store, 1) == 0
    assert await take(store, 1, owner=BOB) == await take(store, 1, agent="b") == 0
    assert await store.take_call(ANN, "a", "pong", 1, MINUTE) == 0
    assert await take(store, 1) > 0


async def test_refused_calls_do_not_count(store: Store) -> None:
    await take(store, 1)
    first = await take(store, 1)
    await a_moment()
    assert await take(store, 1) < first <= MINUTE


@pytest.mark.req("S1.47")
async def test_calls_at_once_never_pass_the_limit(store: Store) -> None:
    waits = await asyncio.gather(*[take(store, 3) for _ in range(12)])
    assert sum(wait == 0 for wait in waits) == 3


@pytest.mark.req("S1.47")
async def test_the_count_outlives_the_process(store: Store, reopen: Callable[[], Awaitable[Store]]) -> None:
    await take(store, 1)
    assert await take(await reopen(), 1) > 0


async def test_a_limit_that_changes_holds_from_then_on(store: Store) -> None:
    for _ in range(4):
        assert await take(store, 4) == 0
    assert await take(store, 2) > 0
    assert await take(store, 5) == 0
    assert await take(store, 5) > 0


async def test_only_the_calls_that_a_limit_needs_are_kept_and_old_counts_are_dropped(database: OpenDatabase) -> None:
    store = database.store
    for _ in range(5):
        await a_moment()
        assert await take(store, 2, window_ms=1) == 0
    assert await database.values("select no from tool_calls order by no") == [4, 5]
    await store.forget_calls(MINUTE)
    assert await database.values("select last from tool_rates") == [5]
    await a_moment()
    await store.forget_calls(0)
    assert await database.values("select count(*) from tool_calls") == [0]
    assert await database.values("select count(*) from tool_rates") == [0]
