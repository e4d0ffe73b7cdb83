"""A row that the database refuses (a constraint) is a defect of one request or run, not an unavailable database: only
that request or run fails, and the others of its commit succeed."""

import asyncio
import sqlite3
from typing import Any

import asyncpg
import pytest

from runyard.domain.conversations.thread import Message
from runyard.engine.intake.user_message import UserMessage
from runyard.store import Accepted
from runyard.stores import rows
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Server
from tests.web.responses.test_problems import problem

MEMBERS = 12


@pytest.fixture
def doomed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The threads whose answers the database refuses. It also refuses each message of the text `poison`."""
    threads: set[str] = set()
    values = rows.message_values

    def without_role(said: Message) -> tuple[Any, ...]:
        row = values(said)
        is_refused = said.text == "poison" or (said.role == "assistant" and said.thread_id in threads)
        return (*row[:3], None, *row[4:]) if is_refused else row

    monkeypatch.setattr(rows, "message_values", without_role)
    return threads


async def test_of_posts_in_one_commit_only_the_refused_one_fails(server: Server, doomed: set[str]) -> None:
    intake = server.process.engine.intake
    threads = [await server.thread() for _ in range(MEMBERS)]
    texts = ["poison" if n == MEMBERS // 2 else "hello" for n in range(MEMBERS)]
    async with asyncio.timeout(PATIENCE):
        results = await asyncio.gather(
            *(
                intake.post(thread, UserMessage("local", "native", text, "happy"))
                for thread, text in zip(threads, texts, strict=True)
            ),
            return_exceptions=True,
        )
    refused = results.pop(MEMBERS // 2)
    assert isinstance(refused, sqlite3.IntegrityError | asyncpg.NotNullViolationError), refused
    for result in results:
        assert isinstance(result, Accepted), result
        await server.ended(result.run_id)


async def test_a_refused_request_is_an_internal_error_and_the_next_one_is_answered(
    server: Server, doomed: set[str]
) -> None:
    thread = await server.thread()
    path = f"/api/threads/{thread}/messages"
    for _ in range(2):
        problem(await server.http.post(path, json={"content": "poison", "agent": "happy"}), 500, "internal")
    await server.ended(await server.post("happy", "hello", thread))


async def test_a_run_whose_answer_is_refused_ends_as_an_error_and_the_others_end_well(
    server: Server, doomed: set[str]
) -> None:
    doomed.add(thread := await server.thread())
    ids = await asyncio.gather(server.post("happy", thread_id=thread), *(server.post("happy") for _ in range(MEMBERS)))
    for run_id in ids:
        await server.ended(run_id)
    found = [await server.run(run_id) for run_id in ids]
    assert [run["status"] for run in found] == ["error", *["done"] * MEMBERS]
    assert "could not be stored" in found[0]["error"]
    doomed.clear()
    again = await server.post("happy", thread_id=thread)  # its lane is free
    await server.ended(again)
    assert (await server.run(again))["status"] == "done"
