"""Encryption keys over time: set, rotated, removed, a rotation that is interrupted, a missing key, a wrong key."""

import asyncio
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from runyard.app.factories import open_store
from runyard.cli.upkeep.encryption import rotate
from runyard.encryption.cipher import make
from runyard.errors import StartupError
from runyard.settings import Settings
from tests.cli.cli_process import environment, runyard
from tests.support.in_process.live_server import QUICK, served
from tests.web.secrets.content_app import channel_views, content_app, write_everywhere
from tests.web.secrets.stored_text import columns_with, files_with

OLD, NEW = make("old"), make("new")
TEXT = "zqcontent"
Seen = dict[str, Any]


async def seen_by(settings: Settings) -> Seen:
    """Return everything that a client can see."""
    async with served(settings, content_app(TEXT)) as server:
        runs = (await server.http.get("/api/runs")).json()
        logs = {run["run_id"]: await server.log(run["run_id"]) for run in runs["runs"]}
        chat = (await server.http.get("/chats/c1")).json()
        kept = await server.process.store.read_checkpoints(runs["runs"][-1]["thread_id"])
        channels = await channel_views(server)
    return {"runs": runs, "logs": logs, "chat": chat, "kept": kept, "channels": channels}


@pytest.fixture
def with_keys(database_url: str) -> Callable[..., Settings]:
    def settings(*keys: str) -> Settings:
        return Settings(database_url=database_url, encryption_keys=",".join(keys) or None, **QUICK)

    return settings


Keys = Callable[..., Settings]


async def lived(settings: Settings) -> Seen:
    async with served(settings, content_app(TEXT)) as server:
        await write_everywhere(server, TEXT)
        await server.process.checkpoints.round()
    return await seen_by(settings)


async def rotated(settings: Settings, decrypt: bool = False) -> int:
    return await rotate(settings, decrypt, lambda progress: None)


@pytest.mark.req("S1.48")
async def test_a_live_database_is_sealed_changed_and_opened_again(with_keys: Keys, tmp_path: Path) -> None:
    before = await lived(with_keys())
    with pytest.raises(StartupError, match="rotate-encryption"):  # until what was there before is sealed
        await open_store(with_keys(OLD)).open()

    assert await rotated(with_keys(OLD)) == 0
    assert await columns_with(TEXT, with_keys().database_url) == set()
    assert files_with(TEXT, tmp_path) == set()
    assert await seen_by(with_keys(OLD)) == before

    assert await rotated(with_keys(NEW, OLD)) == 0
    assert await seen_by(with_keys(NEW)) == before  # the old key is needed no more

    assert await rotated(with_keys(NEW), decrypt=True) == 0
    assert await seen_by(with_keys()) == before


@pytest.mark.req("S1.48")
async def test_a_process_without_a_key_that_is_needed_does_not_start(with_keys: Keys) -> None:
    await lived(with_keys(OLD))
    for settings in (with_keys(), with_keys(NEW)):
        with pytest.raises(StartupError, match="sealed with the key 'old'") as refused:
            await open_store(settings).open()
        assert NEW[4:] not in refused.value.message
    with pytest.raises(StartupError, match="differs from the key of that name"):
        await open_store(with_keys(make("old"))).open()
    store = open_store(with_keys(NEW, OLD))  # and nothing of those attempts is in the way
    await store.open()
    await store.close()


async def _written_meanwhile(settings: Settings, work: Awaitable[Any]) -> None:
    """Read everything repeatedly during the work; no read fails."""
    working = asyncio.ensure_future(work)
    async with served(settings, content_app(TEXT)) as server:
        while not working.done():
            for run in (await server.http.get("/api/runs")).json()["runs"]:
                assert (await server.http.get(f"/api/runs/{run['run_id']}/state")).status_code == 200
                assert TEXT in str(await server.log(run["run_id"]))
            assert (await server.http.get("/chats/c1")).status_code == 200
        await server.ended(await server.post("failer", TEXT))
    await working


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("backend", [pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_rotation_may_be_killed_and_begun_again_while_a_server_reads(with_keys: Keys, tmp_path: Path) -> None:
    """Batches of one row, killed at the first row of a table, further on each time, then to the end."""
    before = await lived(with_keys(OLD))
    settings = with_keys(NEW, OLD)

    async def killed_again_and_again() -> None:
        for table in ("events", "messages", "checkpoints"):
            assert await _killed_at(table, settings) == -9
            with pytest.raises(StartupError, match="'old'"):  # it is not done, so the old key is still needed
                await open_store(with_keys(NEW)).open()
        assert await rotated(settings) == 0

    await _written_meanwhile(settings, killed_again_and_again())
    assert await rotated(settings) == 0
    after = await seen_by(with_keys(NEW))
    assert {run_id: after["logs"][run_id] for run_id in before["logs"]} == before["logs"]
    assert after["chat"] == before["chat"]


KILLED = """
import asyncio, os, signal, sys
from runyard.settings import Settings
from runyard.stores import rotation
from runyard.app.factories import open_sql_store

async def main() -> None:
    settings = Settings()
    store = open_sql_store(settings, ring=settings.encryption_key_ring)
    await store.open()
    async for at in rotation.Rotation(store, settings.encryption_key_ring).run(batch=1):
        if at.table == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def _killed_at(table: str, settings: Settings) -> int:
    keys = {"RUNYARD_DATABASE_URL": settings.database_url, "RUNYARD_ENCRYPTION_KEYS": settings.encryption_keys or ""}
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, table, env=environment(**keys))
    return await process.wait()


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_on_sqlite_a_server_is_in_the_way_and_the_command_says_so(with_keys: Keys, tmp_path: Path) -> None:
    settings = with_keys(OLD)
    env = {"RUNYARD_DATABASE_URL": settings.database_url, "RUNYARD_ENCRYPTION_KEYS": f"{NEW},{OLD}"}
    async with served(settings, content_app(TEXT)) as server:
        await server.ended(await server.post("failer", TEXT))
        refused = await asyncio.to_thread(runyard, tmp_path, "keys", "rotate-encryption", env=env)
    assert refused.returncode == 2
    assert "Another Runyard process" in refused.stderr
    assert "Stop it first" in refused.stderr
    done = await asyncio.to_thread(runyard, tmp_path, "keys", "rotate-encryption", env=env)
    assert done.returncode == 0, done.stderr
    assert "everything is sealed with the first key" in done.stdout
    assert NEW[4:] not in done.stdout + done.stderr
    assert (await seen_by(with_keys(NEW)))["runs"]["runs"][0]["error"] == f"it broke over {TEXT}"


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("verb", ["serve", "worker"])
def test_in_production_checkpoints_are_no_files_without_a_key(verb: str, tmp_path: Path) -> None:
    refused = runyard(tmp_path, verb, env={"RUNYARD_CHECKPOINTS": "files"})
    assert refused.returncode == 2
    assert "need RUNYARD_ENCRYPTION_KEYS" in refused.stderr


@pytest.mark.req("S1.48")
async def test_a_row_that_was_moved_or_changed_is_an_error_without_content_and_harms_no_other(
    with_keys: Keys, tmp_path: Path
) -> None:
    settings = with_keys(OLD)
    await lived(settings)
    await _execute(
        settings,
        "update run_events set data = (select data from run_events e where e.run_id = run_events.run_id and seq = 1)"
        " where seq = 2 and run_id = (select id from runs where agent = 'failer')",
    )
    async with served(settings, content_app(TEXT)) as server:
        runs = {run["agent"]: run["run_id"] for run in (await server.http.get("/api/runs")).json()["runs"]}
        answer = await server.http.get(f"/api/runs/{runs['failer']}/state")
        assert (answer.status_code, answer.json()["code"]) == (500, "unreadable")
        assert TEXT not in answer.text
        assert TEXT in (await server.http.get(f"/api/runs/{runs['thinker']}/state")).text
    assert await rotated(with_keys(NEW, OLD)) == 1  # it is left, and counted; nothing else is
    with pytest.raises(StartupError, match="'old'"):
        await open_store(with_keys(NEW)).open()


PLACES = {
    "event": ("update run_events set data = x'7b7d' where seq = 2", "/api/runs/{failer}/state"),
    "error": ("update runs set error = 'plain' where agent = 'failer'", "/api/runs/{failer}"),
    "message": ("update messages set text = 'plain'", "/api/threads/{thread}"),
}


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("place", PLACES)
async def test_plain_text_in_a_sealed_column_is_an_error_and_not_content(with_keys: Keys, place: str) -> None:
    """A person who can write to the database, and has no key, cannot forge content."""
    settings = with_keys(OLD)
    runs = {run["agent"]: run for run in (await lived(settings))["runs"]["runs"]}
    statement, path = PLACES[place]
    if place == "event" and settings.sqlite_path is None:
        statement = statement.replace("x'7b7d'", "'{}'::bytea")
    await _execute(settings, statement)
    async with served(settings, content_app(TEXT)) as server:
        answer = await server.http.get(path.format(failer=runs["failer"]["run_id"], thread=runs["failer"]["thread_id"]))
        assert (answer.status_code, answer.json()["code"]) == (500, "unreadable")


@pytest.mark.req("S1.48")
async def test_a_run_whose_message_cannot_be_read_ends_as_an_error_and_others_go_on(with_keys: Keys) -> None:
    settings = with_keys(OLD)
    async with served(settings, content_app(TEXT), worker=False) as server:
        bad, good = await server.post("failer", TEXT), await server.post("failer", TEXT)
    await _execute(
        settings,
        f"update messages set text = (select text from messages m where m.run_id = '{good}') where run_id = '{bad}'",
    )
    async with served(settings, content_app(TEXT)) as server:
        await server.ended(good)
        await server.ended(bad)
        runs = {run["run_id"]: run for run in (await server.http.get("/api/runs")).json()["runs"]}
        assert runs[bad]["error_code"] == "unreadable"
        assert (runs[bad]["question"], runs[good]["question"]) == (None, TEXT)
        assert runs[good]["error"] == f"it broke over {TEXT}"


async def _execute(settings: Settings, sql: str) -> None:
    if settings.sqlite_path is not None:
        connection = sqlite3.connect(settings.sqlite_path)
        connection.execute(sql)
        connection.commit()
        connection.close()
        return
    postgres = await asyncpg.connect(settings.database_url)
    await postgres.execute(sql)
    await postgres.close()
