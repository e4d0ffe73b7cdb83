"""The files of an SQLite database: for the server's user alone, and open in one process at a time, by any path."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runyard.app.factories import open_sql_store
from runyard.base.clock import SystemClock
from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.stores.sqlite import backup as sqlite_backup
from runyard.stores.sqlite.store import SqliteStore
from tests.store.factories import post

OPENING = """
import asyncio, sys
from pathlib import Path
from runyard.base.clock import SystemClock
from runyard.errors import StartupError
from runyard.stores.sqlite.store import SqliteStore

async def main():
    try:
        await SqliteStore(Path(sys.argv[1]), SystemClock()).open()
    except StartupError as error:
        print("refused:", error)

asyncio.run(main())
"""


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o777) for path in (folder, *folder.rglob("*"))}


async def test_the_database_its_log_its_lock_and_its_copies_are_for_their_owner_alone(
    tmp_path: Path, open_umask: None
) -> None:
    home = tmp_path / "home"
    store = SqliteStore(home / "runyard.db", SystemClock())
    await store.open()
    await post(store)
    await asyncio.to_thread(sqlite_backup.backup, home / "runyard.db", home / "copy.db")
    seen = modes(home)
    await store.close()
    await asyncio.to_thread(sqlite_backup.restore, home / "copy.db", home / "new" / "restored.db", False)
    seen |= modes(home)
    assert seen.pop("home") == seen.pop("new") == "0o700"
    assert set(seen) >= {"runyard.db", "runyard.db-wal", "runyard.db-shm", "runyard.db.lock", "copy.db", "restored.db"}
    assert set(seen.values()) == {"0o600"}


@pytest.mark.parametrize("by", ["the same path", "a symbolic link", "a linked folder", "a hard link"])
async def test_a_second_process_is_refused_whatever_path_it_comes_by(tmp_path: Path, by: str) -> None:
    home = tmp_path / "home"
    path = home / "runyard.db"
    store = SqliteStore(path, SystemClock())
    await store.open()
    other = tmp_path / "elsewhere.db"
    match by:
        case "the same path":
            other = path
        case "a symbolic link":
            os.symlink(path, other)
        case "a linked folder":
            os.symlink(home, tmp_path / "linked")
            other = tmp_path / "linked" / "runyard.db"
        case _:
            os.link(path, other)
    command = [sys.executable, "-c", OPENING, str(other)]
    second = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert second.stdout.startswith("refused: Another Runyard process"), second.stdout + second.stderr
    await post(store)
    await store.close()
    third = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert (third.stdout, third.returncode) == ("", 0), third.stderr


async def test_a_database_that_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="cannot be opened"):
        await SqliteStore(tmp_path, SystemClock()).open()


WRITING = """
import asyncio, sys
from pathlib import Path
from runyard.base.clock import SystemClock
from runyard.stores.sqlite.store import SqliteStore
from tests.store.factories import post

async def main():
    store = SqliteStore(Path(sys.argv[1]), SystemClock())
    await store.open()
    for _ in range(3):
        await post(store)
    await store.close()

asyncio.run(main())
"""


async def test_a_closed_store_leaves_nothing_open_and_reads_what_another_process_wrote(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    store = SqliteStore(database, SystemClock())
    await store.open()
    await post(store)
    await asyncio.gather(*(store.ready_runs(10) for _ in range(20)))  # in several threads
    await store.close()
    assert [name for name in os.listdir(tmp_path) if name.endswith(("-wal", "-shm"))] == []
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", WRITING, str(database)], check=True)
    again = SqliteStore(database, SystemClock())
    await again.open()
    found = await again.ready_runs(10)
    await again.close()
    assert len(found) == 4


KILLED = """
import asyncio, os, sys
from pathlib import Path
from runyard.base.clock import SystemClock
from runyard.stores.sqlite.store import SqliteStore
from tests.store.factories import post

async def main():
    store = SqliteStore(Path(sys.argv[1]), SystemClock(), synchronous="normal")
    await store.open()
    for _ in range(3):
        await post(store)
    os._exit(137)

asyncio.run(main())
"""


async def test_without_a_sync_per_commit_the_death_of_the_process_loses_nothing(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", KILLED, str(database)], check=False)
    again = SqliteStore(database, SystemClock())
    await again.open()
    found = await again.ready_runs(10)
    await again.close()
    assert len(found) == 3


@pytest.mark.parametrize(("setting", "level"), [({}, 2), ({"sqlite_synchronous": "normal"}, 1)], ids=["full", "normal"])
async def test_commits_are_synced_unless_the_setting_says_otherwise(
    tmp_path: Path, setting: dict[str, Any], level: int
) -> None:
    store = open_sql_store(Settings(database_url=f"sqlite:///{tmp_path}/runs.db", **setting))
    await store.open()
    [row] = await store._write("other", lambda tx: tx.rows("pragma synchronous"))
    await store.close()
    assert row["synchronous"] == level
