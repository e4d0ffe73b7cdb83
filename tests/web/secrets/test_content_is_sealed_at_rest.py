"""With a key, the database holds no content in the clear: messages, reasoning, calls, decisions, errors."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from runyard.domain.push import Push
from runyard.encryption.cipher import make
from runyard.settings import Settings
from tests.support.in_process.live_server import QUICK, Serve, served
from tests.web.secrets.content_app import channel_views, content_app, write_everywhere
from tests.web.secrets.stored_text import columns_with, files_with

# Where content is kept. Everything else of the schema holds ids, names, times, counts and codes (docs/encryption.md).
CONTENT = {
    "run_events.data",
    "messages.text",
    "messages.sources",
    "messages.parts",
    "threads.title",
    "files.name",
    "file_chunks.data",
    "waits.input",
    "kept_events.data",
    "pushes.data",
    "runs.error",
    "feedback.comment",
    "checkpoints.data",
    "memory_blocks.content",
    "passages.content",
    "passages.tags",
    "passages.words",
    "run_messages.content",
    "run_messages.tool_input",
}


def a_text() -> str:
    return f"zq{uuid.uuid4().hex}"


async def lived(settings: Settings, text: str) -> dict[str, Any]:
    """Everything that a client sees of runs that said the text everywhere, from a server that was started twice."""
    async with served(settings, content_app(text)) as server:
        runs = await write_everywhere(server, text)
        push = Push(run_id=runs[0], id="p1", kind="a2a", data={"token": text})
        await server.store.put_push(push, 1, at_end=True)
        await server.process.checkpoints.round()
    async with served(settings, content_app(text)) as server:
        seen = {run_id: await server.log(run_id) for run_id in runs}
        chat = (await server.http.get("/chats/c1")).json()
        listed = (await server.http.get("/api/runs")).json()
        channels = await channel_views(server)
    return {"logs": seen, "chat": chat, "runs": listed, "channels": channels}


@pytest.mark.req("S1.48")
async def test_no_column_of_any_table_holds_what_was_said(database_url: str, tmp_path: Path) -> None:
    text = a_text()
    settings = Settings(database_url=database_url, encryption_keys=make("k1"), **QUICK)
    seen = await lived(settings, text)
    assert await columns_with(text, database_url) == set()
    assert files_with(text, tmp_path) == set()
    logs = [str(log) for log in seen["logs"].values()]
    assert len(logs) == 4
    assert all(text in log for log in logs)
    assert text in str(seen["chat"])
    assert all(text in str(part) for part in seen["channels"])
    assert f"it broke over {text}" in str(seen["runs"])


@pytest.mark.req("S1.48")
async def test_without_a_key_the_same_search_finds_it_in_every_place_that_holds_content(
    database_url: str, tmp_path: Path
) -> None:
    text = a_text()
    await lived(Settings(database_url=database_url, **QUICK), text)
    assert await columns_with(text, database_url) == CONTENT
    assert bool(files_with(text, tmp_path)) == database_url.startswith("sqlite")


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_while_it_runs_the_files_of_sqlite_hold_nothing_either(serve: Serve, tmp_path: Path) -> None:
    text = a_text()
    server = await serve(content_app(text), encryption_keys=make("k1"))
    await write_everywhere(server, text)
    assert (tmp_path / "runyard.db-wal").stat().st_size > 0
    assert files_with(text, tmp_path) == set()


@pytest.mark.req("S1.48", "S1.37")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_checkpoints_that_are_files_are_sealed_and_read(database_url: str, tmp_path: Path) -> None:
    text, folder = a_text(), tmp_path / "kept"
    settings = Settings(
        database_url=database_url,
        encryption_keys=make("k1"),
        checkpoints="files",
        checkpoint_folder=folder,
        **QUICK,
    )
    seen = await lived(settings, text)
    [file] = (folder / "chats" / "c1" / "interactions").glob("*.json")
    assert file.read_bytes().startswith(b"\xff\x01\x02k1")
    assert files_with(text, tmp_path) == set()
    async with served(settings, content_app(text)) as server:
        kept = await server.process.interaction_stores("local").load_interaction("c1", file.stem)
    assert text in kept.user_message
    assert text in str(seen["chat"])
