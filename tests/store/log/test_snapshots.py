"""A snapshot is a state of a run that readers may begin at; it is never ahead of the log and is deleted with its
run."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from runyard.domain.runs.run import Run
from runyard.encryption.cipher import make, parse
from runyard.encryption.sealed_store import seal_store
from runyard.errors import NotFound
from runyard.store import Snapshot, Store
from runyard.stores.rotation import Rotation
from runyard.stores.sql_store import SqlStore
from tests.store.factories import (
    ANN,
    MANY,
    MINUTE,
    Writer,
    a_post,
    a_thread,
    clock,
    ended,
    lose,
    running,
    token,
    written,
)
from tests.store.raw_sql import OpenDatabase

FAR = 2**62


async def a_long_run(store: Store) -> Run:
    """A running run with ten events."""
    thread = await store.create_thread(a_thread())
    run = await running(store, a_post(thread))
    await written(store, Writer(run).part(*(token(f"{n} ") for n in range(9))))
    return run


async def test_the_newest_at_or_before_a_seq_is_found(store: Store) -> None:
    run = await a_long_run(store)
    for seq in (8, 2, 5):
        await store.save_snapshot(run.id, "state", Snapshot(seq, b"state %d" % seq))
    await store.save_snapshot(run.id, "other", Snapshot(7, b"other"))
    found = [await store.snapshot(run.id, "state", upto) for upto in (1, 2, 4, 5, 7, 8, FAR)]
    assert [each and each.seq for each in found] == [None, 2, 2, 5, 5, 8, 8]
    assert found[-1] == Snapshot(8, b"state 8")
    assert await store.snapshot(run.id, "other", FAR) == Snapshot(7, b"other")


async def test_a_snapshot_replaces_the_one_at_its_seq(store: Store) -> None:
    run = await a_long_run(store)
    for data in (b"one", b"two"):
        await store.save_snapshot(run.id, "state", Snapshot(3, data))
    assert await store.snapshot(run.id, "state", FAR) == Snapshot(3, b"two")


async def test_a_snapshot_is_never_ahead_of_the_log(store: Store) -> None:
    run = await a_long_run(store)
    await store.save_snapshot(run.id, "state", Snapshot(11, b"too far"))
    assert await store.snapshot(run.id, "state", FAR) is None
    await store.save_snapshot(run.id, "state", Snapshot(10, b"far"))
    assert await store.snapshot(run.id, "state", FAR) == Snapshot(10, b"far")


async def test_snapshots_outlive_a_worker_and_a_restart(store: Store, reopen: Callable[[], Awaitable[Store]]) -> None:
    run = await a_long_run(store)
    await store.save_snapshot(run.id, "state", Snapshot(10, b"state"))
    await lose(store, run)
    again = await reopen()
    assert await again.snapshot(run.id, "state", FAR) == Snapshot(10, b"state")


async def test_snapshots_are_deleted_with_their_thread(store: Store) -> None:
    run = await ended(store, a_post(await store.create_thread(a_thread())))
    assert run.thread_id is not None
    await store.save_snapshot(run.id, "state", Snapshot(2, b"state"))
    await store.delete_thread(ANN, run.thread_id)
    assert await store.snapshot(run.id, "state", FAR) is None
    await store.save_snapshot(run.id, "state", Snapshot(2, b"too late"))
    assert await store.snapshot(run.id, "state", FAR) is None


@pytest.mark.parametrize("in_thread", [True, False])
async def test_snapshots_are_deleted_by_retention(store: Store, in_thread: bool) -> None:
    run = await ended(store, a_post(await store.create_thread(a_thread())) if in_thread else a_post())
    await store.save_snapshot(run.id, "state", Snapshot(2, b"state"))
    assert (await store.sweep(clock.now_ms() + MINUTE, None, MANY)).dropped == 1
    with pytest.raises(NotFound):
        await store.get_run(ANN, run.id)
    assert await store.snapshot(run.id, "state", FAR) is None


async def test_a_snapshot_and_the_deletion_of_its_run_at_once_leave_nothing(database: OpenDatabase) -> None:
    store = database.store
    for _ in range(20):
        run = await ended(store, a_post(await store.create_thread(a_thread())))
        assert run.thread_id is not None
        saves = [store.save_snapshot(run.id, "state", Snapshot(seq, b"state")) for seq in (1, 2, 3)]
        await asyncio.gather(*saves[:2], store.delete_thread(ANN, run.thread_id), *saves[2:], return_exceptions=True)
    assert await database.values("select count(*) from run_snapshots") == [0]


@pytest.fixture
def sealed(database: OpenDatabase) -> tuple[SqlStore, Store]:
    below = database.store
    assert isinstance(below, SqlStore)
    return below, seal_store(below, RING)


OLD, NEW = make("old"), make("new")
RING = parse(OLD)


async def test_with_a_key_a_snapshot_is_sealed_and_bound_to_its_place(sealed: tuple[SqlStore, Store]) -> None:
    below, store = sealed
    run = await a_long_run(store)
    await store.save_snapshot(run.id, "state", Snapshot(3, b"secret"))
    kept = await below.snapshot(run.id, "state", FAR)
    assert kept is not None
    assert b"secret" not in kept.data
    assert await store.snapshot(run.id, "state", FAR) == Snapshot(3, b"secret")
    await below.save_snapshot(run.id, "state", replace(kept, seq=4))
    assert await store.snapshot(run.id, "state", FAR) is None, "moved to another seq it does not open"
    await below.save_snapshot(run.id, "state", Snapshot(5, b"plain"))
    assert await store.snapshot(run.id, "state", FAR) is None, "a plain value is not accepted"


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("keys", [f"{NEW},{OLD}", None], ids=["another key", "decrypt"])
async def test_a_change_of_keys_leaves_no_snapshot_under_the_old_key(
    sealed: tuple[SqlStore, Store], keys: str | None
) -> None:
    below, store = sealed
    run = await a_long_run(store)
    await store.save_snapshot(run.id, "state", Snapshot(3, b"secret"))
    rotation = Rotation(below, parse(keys or OLD), decrypt=keys is None)
    said = [progress async for progress in rotation.run()]
    assert rotation.left == 0
    assert sum(progress.swapped for progress in said if progress.table == "snapshots") == 1
    assert await below.snapshot(run.id, "state", FAR) is None


@pytest.mark.req("S1.48")
async def test_a_change_of_keys_keeps_what_the_newest_key_sealed(sealed: tuple[SqlStore, Store]) -> None:
    below, store = sealed
    run = await a_long_run(store)
    await store.save_snapshot(run.id, "state", Snapshot(3, b"secret"))
    rotation = Rotation(below, RING)
    assert [each async for each in rotation.run()]
    assert await store.snapshot(run.id, "state", FAR) == Snapshot(3, b"secret")
