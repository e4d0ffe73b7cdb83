"""Files are invisible until they are complete, stored once for each owner, and deleted with what refers to them."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.content.file import DroppedContent, Place, StoredFile
from runyard.encryption.cipher import make, parse
from runyard.encryption.sealed_store import seal_store
from runyard.errors import NotFound, RunyardError, Unreadable
from runyard.store import Accepted, Post, Store
from runyard.stores.rotation import Rotation
from runyard.stores.sql_store import SqlStore
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    MINUTE,
    Writer,
    a_post,
    a_thread,
    clock,
    ended,
    ending,
    received,
    running,
    written,
)
from tests.store.raw_sql import OpenDatabase

LEFT = (
    "select (select count(*) from files) + (select count(*) from file_contents) + (select count(*) from file_chunks)"
    " + (select count(*) from file_uses) as n"
)


def a_file(content_id: str, owner: str = ANN, name: str = "a.png") -> StoredFile:
    return StoredFile(
        id=new_id(),
        owner=owner,
        name=name,
        type="image/png",
        size=6,
        content_id=content_id,
        created_at=clock.now_ms(),
    )


async def uploaded(
    store: Store,
    owner: str = ANN,
    digest: str = "one",
    place: Place = "database",
    run_id: str | None = None,
) -> StoredFile:
    content_id = new_id()
    await store.begin_upload(owner, content_id, place)
    for no, chunk in enumerate((b"\0abc", b"\0def")):
        await store.write_chunk(content_id, no, chunk if place == "database" else None)
    return await store.finish_upload(a_file(content_id, owner), digest, run_id)


async def content(store: Store, file: StoredFile) -> list[bytes | None]:
    return [await store.read_chunk(file.content_id, no) for no in range(3)]


def with_files(post: Post, *files: StoredFile) -> Post:
    return replace(post, files=[file.id for file in files])


async def is_gone(store: Store, file: StoredFile) -> bool:
    try:
        await store.get_file(file.owner, file.id)
    except NotFound:
        assert await content(store, file) == [None, None, None]
        return True
    return False


async def test_a_file_is_what_was_uploaded(store: Store, reopen: Callable[[], Awaitable[Store]]) -> None:
    file = await uploaded(store)
    assert await store.get_file(ANN, file.id) == file
    again = await reopen()
    assert await again.get_file(ANN, file.id) == file
    assert await content(again, file) == [b"\0abc", b"\0def", None]


async def test_an_upload_is_no_file_until_it_is_finished(store: Store) -> None:
    content_id = new_id()
    await store.begin_upload(ANN, content_id, "database")
    await store.write_chunk(content_id, 0, b"\0abc")
    file = a_file(content_id)
    with pytest.raises(NotFound):
        await store.get_file(ANN, file.id)
    await store.drop_upload(content_id)
    assert await store.read_chunk(content_id, 0) is None
    for late in (store.write_chunk(content_id, 1, b"\0def"), store.finish_upload(file, "one")):
        with pytest.raises(NotFound):
            await late


async def test_other_owners_have_no_such_file(store: Store) -> None:
    file = await uploaded(store)
    with pytest.raises(NotFound):
        await store.get_file(BOB, file.id)
    thread = await store.create_thread(a_thread(BOB))
    [refused] = await store.accept([with_files(a_post(thread, owner=BOB), file)])
    assert isinstance(refused, NotFound)


async def test_equal_contents_of_an_owner_are_stored_once(store: Store) -> None:
    one, two = await uploaded(store), await uploaded(store)
    other, of_bob = await uploaded(store, digest="two"), await uploaded(store, BOB)
    assert two.content_id == one.content_id
    assert two.id != one.id
    assert len({one.content_id, other.content_id, of_bob.content_id}) == 3
    thread = await store.create_thread(a_thread())
    await ended(store, with_files(a_post(thread), one))
    await store.delete_thread(ANN, thread.id)
    with pytest.raises(NotFound):
        await store.get_file(ANN, one.id)
    assert await content(store, two) == [b"\0abc", b"\0def", None], "another file still has it"


async def test_a_file_is_deleted_with_the_last_message_that_refers_to_it(store: Store) -> None:
    file = await uploaded(store)
    threads = [await store.create_thread(a_thread()) for _ in range(2)]
    for thread in threads:
        await ended(store, with_files(a_post(thread), file, file))
    await store.delete_thread(ANN, threads[0].id)
    assert not await is_gone(store, file)
    await store.delete_thread(ANN, threads[1].id)
    assert await is_gone(store, file)


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_file_of_a_run_is_deleted_by_retention(store: Store, in_thread: bool) -> None:
    run = await running(store, a_post(await store.create_thread(a_thread())) if in_thread else a_post())
    file = await uploaded(store, run_id=run.id)
    await written(store, Writer(run).finish())
    assert await store.sweep_files(0, 0, MANY) == 0, "a file that is referred to is no unused file"
    assert (await store.sweep(clock.now_ms() + MINUTE, None, MANY)).dropped == 1
    assert await is_gone(store, file)


async def test_a_child_run_refers_to_the_files_of_its_message(store: Store) -> None:
    file, other = await uploaded(store), await uploaded(store, BOB)
    [refused] = await store.accept([with_files(a_post(), file, other)])
    assert isinstance(refused, NotFound), "files of other owners do not exist"
    child = await ended(store, with_files(a_post(), file))
    assert await store.sweep_files(0, 0, MANY) == 1, "only the other file is unused"
    again = with_files(a_post(), file)
    await store.retry(ANN, replace(again, lane_key=child.lane_key), child.id)
    assert not await is_gone(store, file)


async def test_a_post_with_an_unknown_file_changes_nothing(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    lost, kept = with_files(a_post(thread), a_file(new_id())), a_post(thread)
    refused, accepted = await store.accept([lost, kept])
    assert isinstance(refused, NotFound)
    assert isinstance(accepted, Accepted)
    assert [message.id for message in await store.list_messages(thread.id)] == [kept.message and kept.message.id]
    for post in (
        store.steer(with_files(a_post(thread), a_file(new_id())), lambda _: received(kept)),
        store.interrupt(with_files(a_post(thread), a_file(new_id())), MINUTE, ending),
    ):
        with pytest.raises(NotFound):
            await post
    assert len(await store.list_messages(thread.id)) == 1


async def test_a_steered_message_keeps_its_file(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run = await running(store, a_post(thread))
    file = await uploaded(store)
    post = with_files(a_post(thread), file)
    assert (await store.steer(post, lambda _: received(post))).run_id == run.id
    assert await store.sweep_files(0, 0, MANY) == 0
    assert not await is_gone(store, file)


async def test_unused_files_and_stale_uploads_are_swept(store: Store) -> None:
    unused = await uploaded(store)
    await store.begin_upload(ANN, stale := new_id(), "database")
    await store.write_chunk(stale, 0, b"\0abc")
    assert await store.sweep_files(MINUTE, MINUTE, MANY) == 0
    assert await store.sweep_files(0, MINUTE, MANY) == 1
    assert await is_gone(store, unused)
    assert await store.read_chunk(stale, 0) == b"\0abc"
    assert await store.sweep_files(MINUTE, 0, MANY) == 1
    assert await store.read_chunk(stale, 0) is None


async def test_contents_of_an_object_store_are_listed_until_they_are_deleted_there(store: Store) -> None:
    file = await uploaded(store, place="objects")
    assert file.place == "objects"
    await store.begin_upload(ANN, stale := new_id(), "objects")
    assert await store.dropped_contents(MANY) == []
    assert await store.sweep_files(0, 0, MANY) == 2
    wanted = {DroppedContent(file.content_id), DroppedContent(stale)}
    assert set(await store.dropped_contents(MANY)) == wanted
    for each in wanted:
        await store.forget_content(each.id)
    assert await store.dropped_contents(MANY) == []


async def test_concurrent_uses_and_deletions_leave_no_lost_file_and_no_lost_bytes(database: OpenDatabase) -> None:
    """A post either gets its file, which then stays, or is refused."""
    store = database.store
    for _ in range(15):
        old, new = [await store.create_thread(a_thread()) for _ in range(2)]
        file = await uploaded(store)
        await ended(store, with_files(a_post(old), file))
        [[posted], _, again] = await asyncio.gather(
            store.accept([with_files(a_post(new), file)]), store.delete_thread(ANN, old.id), uploaded(store)
        )
        if isinstance(posted, RunyardError):
            assert await _is_hidden(store, file)
        else:
            assert await content(store, await store.get_file(ANN, file.id)) == [b"\0abc", b"\0def", None]
            await store.cancel(ANN, posted.run_id, MINUTE, ending)
        assert await content(store, again) == [b"\0abc", b"\0def", None]
        await store.delete_thread(ANN, new.id)
        await store.sweep_files(0, 0, MANY)
        assert await database.values(LEFT) == [0]


async def _is_hidden(store: Store, file: StoredFile) -> bool:
    with pytest.raises(NotFound):
        await store.get_file(ANN, file.id)
    return True


async def test_concurrent_uploads_of_one_content_end_as_one(database: OpenDatabase) -> None:
    files = await asyncio.gather(*(uploaded(database.store) for _ in range(8)))
    assert len({file.content_id for file in files}) == 1
    assert await database.values("select count(*) from file_chunks") == [2]


OLD, NEW = make("old"), make("new")


async def test_with_a_key_bytes_name_and_digest_are_sealed_and_bound_to_their_place(database: OpenDatabase) -> None:
    below = database.store
    store = seal_store(below, parse(OLD))
    file = await uploaded(store)
    kept = await content(below, file)
    assert all(chunk and b"abc" not in chunk for chunk in kept[:2])
    assert (await below.get_file(ANN, file.id)).name != file.name
    assert await database.values("select digest from file_contents") != ["one"]
    assert (await uploaded(store)).content_id == file.content_id, "equal contents are still found"
    await below.begin_upload(ANN, moved := new_id(), "database")
    await below.write_chunk(moved, 1, kept[0])
    with pytest.raises(Unreadable):
        await store.read_chunk(moved, 1)


@pytest.mark.parametrize("keys", [f"{NEW},{OLD}", None], ids=["another key", "decrypt"])
async def test_a_change_of_keys_reseals_files(database: OpenDatabase, keys: str | None) -> None:
    below = database.store
    assert isinstance(below, SqlStore)
    file = await uploaded(seal_store(below, parse(OLD)))
    rotation = Rotation(below, parse(keys or OLD), decrypt=keys is None)
    assert {"files", "chunks"} <= {each.table async for each in rotation.run() if each.swapped}
    assert rotation.left == 0
    after = below if keys is None else seal_store(below, parse(NEW))
    assert (await after.get_file(ANN, file.id)).name == "a.png"
    assert await content(after, file) == [b"\0abc", b"\0def", None]
