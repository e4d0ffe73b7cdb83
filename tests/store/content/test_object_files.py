"""Files in an object store, here a folder: the same guarantees, and nothing of their bytes in the database."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from runyard.encryption.cipher import make, parse
from runyard.engine.files import FileLimits, Files
from runyard.errors import NotFound, StartupError, Unavailable, Unreadable
from runyard.stores.object_files import ObjectFiles
from tests.store.factories import ANN, a_post, a_thread, clock, ended
from tests.store.raw_sql import OpenDatabase

OLD, NEW = make("old"), make("new")
DATA = b"\xff\x01 plain bytes that begin like sealed ones " * 200_000  # three objects
NOW = FileLimits(unused_seconds=0.001, stale_seconds=0.001)


async def body(data: bytes = DATA) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 100_000):
        yield data[at : at + 100_000]


def objects_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def read(files: Files, file_id: str) -> bytes:
    return await files.read(ANN, file_id)


async def test_a_folder_holds_the_bytes_until_the_last_reference_is_gone(
    database: OpenDatabase, tmp_path: Path
) -> None:
    folder = tmp_path / "objects"
    files = Files(database.store, clock, FileLimits(), objects=ObjectFiles(f"file://{folder}"))
    made, twin = [await files.upload(ANN, "a.bin", "video/mp4", body()) for _ in range(2)]
    assert await database.values("select count(*) from file_chunks") == [0]
    assert await read(files, made.id) == DATA
    assert (made.place, twin.content_id) == ("objects", made.content_id)
    thread = await database.store.create_thread(a_thread())
    await ended(database.store, replace(a_post(thread), files=[made.id, twin.id]))
    await files.sweep()
    assert len(objects_in(folder)) == 3, "the second upload of the same bytes is deleted"
    await database.store.delete_thread(ANN, thread.id)
    with pytest.raises(NotFound):
        await read(files, made.id)
    await files.sweep()
    assert objects_in(folder) == []
    assert await database.values("select count(*) from file_contents") == [0]


async def test_only_the_servers_user_may_read_objects_in_a_folder(tmp_path: Path, open_umask: None) -> None:
    folder = tmp_path / "a folder" / "objects"
    files = ObjectFiles(f"file://{quote(str(folder))}", parse(OLD))
    await files.put("a", 0, b"\0one")
    await files.reseal(parse(f"{NEW},{OLD}"), False)
    assert await ObjectFiles(f"file://{quote(str(folder))}", parse(NEW)).get("a", 0) == b"\0one"
    assert [path.stat().st_mode & 0o777 for path in objects_in(folder)] == [0o600]
    assert {path.stat().st_mode & 0o777 for path in (folder, folder.parent, folder / "a")} == {0o700}


async def test_a_write_that_was_interrupted_is_no_object(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    files = ObjectFiles(f"file://{folder}", parse(OLD))
    await files.put("a", 0, b"\0one")
    (folder / "a" / ".1.draft").write_bytes(b"half")
    assert await files.reseal(parse(f"{NEW},{OLD}"), False) == (1, 0)
    await files.delete("a")
    assert objects_in(folder) == []


async def test_a_failed_upload_leaves_no_object(database: OpenDatabase, tmp_path: Path) -> None:
    files = Files(database.store, clock, FileLimits(), objects=ObjectFiles(f"file://{tmp_path}/objects"))

    async def cut() -> AsyncIterator[bytes]:
        yield DATA
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await files.upload(ANN, "a.bin", "video/mp4", cut())
    await files.sweep()
    assert objects_in(tmp_path / "objects") == []


async def test_files_of_the_database_stay_readable_after_the_change(database: OpenDatabase, tmp_path: Path) -> None:
    old = Files(database.store, clock, FileLimits())
    made = await old.upload(ANN, "a.bin", "video/mp4", body())
    new = Files(database.store, clock, FileLimits(), objects=ObjectFiles(f"file://{tmp_path}/objects"))
    assert await read(new, made.id) == DATA
    other = await new.upload(ANN, "b.bin", "video/mp4", body(b"other"))
    with pytest.raises(Unavailable, match="RUNYARD_FILE_STORE"):
        await read(old, other.id)


async def test_objects_are_sealed_bound_to_their_place_and_resealed(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    old = ObjectFiles(f"file://{folder}", parse(OLD))
    for no in range(2):
        await old.put("a", no, b"\0secret %d" % no)
    assert all(b"secret" not in path.read_bytes() for path in objects_in(folder))
    (folder / "a/0").rename(folder / "a/7")
    with pytest.raises(Unreadable):
        await old.get("a", 7)
    (folder / "a/7").rename(folder / "a/0")
    assert await old.reseal(parse(f"{NEW},{OLD}"), decrypt=False) == (2, 0)
    assert await old.reseal(parse(f"{NEW},{OLD}"), decrypt=False) == (0, 0)
    with pytest.raises(Unreadable):
        await old.get("a", 0)
    assert await ObjectFiles(f"file://{folder}", parse(NEW)).get("a", 0) == b"\0secret 0"
    with pytest.raises(Unreadable):
        await ObjectFiles(f"file://{folder}").get("a", 0)
    assert await old.reseal(parse(NEW), decrypt=True) == (2, 0)
    assert await ObjectFiles(f"file://{folder}").get("a", 1) == b"\0secret 1"


@pytest.mark.parametrize(
    ("url", "kind", "place"),
    [
        ("s3://bucket/a/b", "S3Store", {"bucket": "bucket"}),
        ("gs://bucket/a/b", "GCSStore", {"bucket": "bucket"}),
        ("az://container/a/b", "AzureStore", {"container_name": "container"}),
    ],
)
def test_an_address_opens_the_store_of_its_provider(
    monkeypatch: pytest.MonkeyPatch, url: str, kind: str, place: dict[str, str]
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "aGVsbG8=")
    opened: Any = ObjectFiles(url)._store
    assert (type(opened).__name__, opened.prefix, opened.config) == (kind, "a/b", place)


async def test_an_object_store_that_fails_is_unavailable_and_a_wrong_address_is_one_sentence(tmp_path: Path) -> None:
    store = ObjectFiles(f"file://{tmp_path}/objects")
    (tmp_path / "objects" / "a").write_text("a file in the place of a folder")
    with pytest.raises(Unavailable):
        await store.put("a", 0, b"\0x")
    with pytest.raises(StartupError, match="RUNYARD_FILE_STORE"):
        ObjectFiles("ftp://host/x")
