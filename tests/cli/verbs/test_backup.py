"""Copies of an SQLite database are made while it is written to, and restored only while no process uses it."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from runyard.cli.verbs.export import export_runs
from runyard.client import Client
from runyard.errors import Invalid, StartupError
from runyard.store import Store
from runyard.stores.sqlite import backup as sqlite_backup
from tests.faces.conftest import gate, memory_store, serve, server
from tests.store.conftest import empty_sqlite, sqlite_path, sqlite_store
from tests.store.factories import ANN, MANY, Writer, a_worker, claims, post, written
from tests.support.in_process.asgi_transport import AsgiTransport
from tests.support.in_process.live_server import Server
from tests.web.access.every_route import app_of

__all__ = ["empty_sqlite", "gate", "memory_store", "serve", "server", "sqlite_path"]


class Load:
    """Runs from beginning to end, one after the other, until it is stopped."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._task = asyncio.create_task(self._write())
        self._more = asyncio.Condition()
        self.ended = 0

    async def _write(self) -> None:
        worker_id = await a_worker(self._store)
        while True:
            await post(self._store)
            [run] = await claims(self._store, worker_id)
            await written(self._store, Writer(run).finish())
            async with self._more:
                self.ended += 1
                self._more.notify_all()

    async def more(self, count: int) -> None:
        wanted = self.ended + count
        async with self._more:
            await self._more.wait_for(lambda: self.ended >= wanted)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def test_a_backup_taken_under_load_is_the_database_at_one_moment(sqlite_path: Path, tmp_path: Path) -> None:
    store = sqlite_store(sqlite_path)
    await store.open()
    load = Load(store)
    copies = [tmp_path / f"copy {n}.db" for n in range(3)]
    for copy in copies:
        await load.more(3)
        await asyncio.to_thread(sqlite_backup.backup, sqlite_path, copy)
    await load.more(3)
    await load.stop()
    with pytest.raises(StartupError, match="has this SQLite database open"):
        sqlite_backup.restore(copies[0], sqlite_path, replace=True)
    await store.close()
    for least, copy in zip((3, 6, 9), copies, strict=True):
        sqlite_backup.restore(copy, sqlite_path, replace=True)
        again = sqlite_store(sqlite_path)
        await again.open()
        runs = await again.list_runs(ANN, {}, None, MANY)
        assert len(runs) >= least
        heads = await again.heads([run.id for run in runs])
        for run in runs:
            events = await again.read(run.id, 0, MANY)
            assert [event.seq for event in events] == list(range(1, run.last_seq + 1))
            assert run.status.is_terminal == (events[-1].type == "run.finished")
            assert heads[run.id].last_seq == run.last_seq
        await again.close()


def test_a_database_of_another_program_is_not_restored(sqlite_path: Path, tmp_path: Path) -> None:
    for name, content in (("text", b"hello"), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(StartupError, match="is not a Runyard database"):
            sqlite_backup.restore(tmp_path / name, sqlite_path, replace=True)
    newer = tmp_path / "newer"
    sqlite_backup.backup(sqlite_path, newer)
    connection = sqlite3.connect(newer)
    connection.execute("update alembic_version set version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StartupError, match="schema 9999"):
        sqlite_backup.restore(newer, sqlite_path, replace=True)
    with pytest.raises(StartupError, match="exists already"):
        sqlite_backup.backup(sqlite_path, newer)
    with pytest.raises(StartupError, match="--replace"):
        sqlite_backup.restore(_good(sqlite_path, tmp_path), sqlite_path, replace=False)


def _good(database: Path, folder: Path) -> Path:
    sqlite_backup.backup(database, folder / "good")
    return folder / "good"


@pytest.fixture
def backend() -> str:
    return "memory"


@pytest.fixture
def database_url() -> str:
    return "sqlite:////nowhere/at/all.db"


def modes_in(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob("runs*")}


async def test_only_its_user_may_read_an_export(server: Server, tmp_path: Path, open_umask: None) -> None:
    await server.ended(await server.post("happy"))
    part = tmp_path / "runs.jsonl.part"
    part.touch()  # of an export that was interrupted
    async with Client("http://pod", transport=AsgiTransport(app_of(server))) as client:
        await export_runs(client, tmp_path / "runs.jsonl", None, None, quiet=True)
    assert modes_in(tmp_path) == {"runs.jsonl": 0o600}


async def test_runs_that_have_ended_are_exported_with_their_logs(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = [await server.post("happy") for _ in range(2)]
    for run_id in done:
        await server.ended(run_id)
    waiting = await server.post("asks")
    await server.waiting(waiting)
    async with Client("http://pod", transport=AsgiTransport(app_of(server))) as client:
        await export_runs(client, tmp_path / "runs.jsonl", None, None)
        await export_runs(client, tmp_path / "old.jsonl", "1h", None)
        with pytest.raises(Invalid, match="--before"):
            await export_runs(client, tmp_path / "runs.jsonl", "yesterday", None)
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_bytes().split(b"\n")[:-1]]
    assert [line["run"]["run_id"] for line in lines] == done[::-1]
    for line in lines:
        assert [event["seq"] for event in line["events"]] == list(range(1, line["run"]["last_seq"] + 1))
        assert line["events"][-1]["type"] == "run.finished"
    assert (tmp_path / "old.jsonl").read_text() == ""
    assert capsys.readouterr().err.splitlines() == ["2 runs exported.", "0 runs exported."]
