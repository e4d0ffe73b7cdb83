"""Requests made up from the OpenAPI document: whatever it allows, and much that it does not, is never a 500, and every
answer has a status and a kind of content that the document declares.

To make up a request takes longer than to answer it, so each is sent to a server on SQLite and to one on Postgres."""

import asyncio
import contextlib
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from runyard.settings import Settings
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.store.conftest import emptied
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import QUICK, Server, served
from tests.web.access.every_route import ENDLESS

EXAMPLES = 3
There = tuple[int, dict[str, str]]


async def _talk(server: Server) -> dict[str, str]:
    """A channel with a message."""
    made = await server.http.post("/api/channels", json={"name": "all", "agents": ["happy"], "users": ["ann"]})
    dm = await server.http.post("/api/dms", json={"agentId": "happy"})
    said = await server.http.post("/api/messages", json={"channelId": made.json()["id"], "text": "hello"})
    places = {"channel_id": made.json()["id"], "dm_id": dm.json()["id"], "message_id": said.json()["id"]}
    return {**places, "agent_id": "happy", "member_id": "ann", "reader_id": "happy", "label": "mood"}


class ServerThread:
    """The app in a separate thread, because schemathesis calls it the blocking way."""

    def __init__(self, database_url: str) -> None:
        self._settings = Settings(database_url=database_url, **QUICK)
        self._ready: Future[There] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        gate = Gate()
        gate.open.set()
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with served(self._settings, agents(gate)) as server:
                thread_id = await server.thread()
                run_id = await server.post("happy", thread_id=thread_id)
                await server.ended(run_id)
                approval_id = await server.waiting(await server.post("asks"))
                known = {"thread_id": thread_id, "run_id": run_id, "approval_id": approval_id}
                known["wait_id"] = await server.waiting(await server.post("books"))
                known |= {"chat_id": thread_id, "interaction_id": f"int_{run_id}"}
                known |= {"response_id": f"resp_{run_id}", "conversation_id": f"conv_{thread_id}", "model": "happy"}
                self._ready.set_result((server.port, known | await _talk(server)))
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    def __enter__(self) -> There:
        self._thread.start()
        return self._ready.result(30)

    def __exit__(self, *_: object) -> None:
        if self._ready.exception() is None:
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(30)


@pytest.fixture
def servers(migrated_sqlite: Path, migrated_postgres: str, tmp_path: Path) -> Iterator[list[There]]:
    """A served app on each database: its port, and what is in it, by the name of the parameter that asks for it."""
    file = shutil.copy(migrated_sqlite, tmp_path / "runyard.db")
    with ServerThread(f"sqlite:///{file}") as on_sqlite, ServerThread(emptied(migrated_postgres)) as on_postgres:
        yield [on_sqlite, on_postgres]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_declared_and_none_is_a_server_error(servers: list[There], mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{servers[0][0]}/openapi.json", timeout=PATIENCE)
    tried, session = set(), requests.Session()
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and not (list(operation.query) or list(operation.body)):
            continue  # any word may stand in a path: there are no wrong requests, and looking for one takes minutes
        tried.add(f"{operation.method.upper()} {operation.path}")
        _attack(operation, mode, servers, session)
    assert len(tried) >= 15


def _attack(
    operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, servers: list[There], session: requests.Session
) -> None:
    declared = operation.definition.raw["responses"]

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def attempt(case: Any) -> None:
        # half of the requests meet something that exists: with random ids nothing but 404 would be seen
        is_known = len(str(case.body)) % 2 == 0 and operation.method.upper() != "DELETE"
        for port, known in servers:
            if is_known:
                case.path_parameters = {**(case.path_parameters or {}), **_parameters(case, known)}
            answer = _answer(case, f"http://127.0.0.1:{port}", session)
            said = (case.method, case.formatted_path, case.query, case.body, answer.status_code)
            assert answer.status_code < 500, (said, answer.text)
            assert str(answer.status_code) in declared, (said, "is not declared")
            kinds = declared[str(answer.status_code)].get("content", {})
            given: str | list[str] = answer.headers.get("content-type") or ""
            kind = (given[0] if isinstance(given, list) else given).partition(";")[0]
            assert not kind or kind in kinds, (said, kind, "is not declared")

    with contextlib.suppress(Unsatisfiable):  # an operation that takes nothing has no wrong requests
        attempt()


def _answer(case: Any, server: str, session: requests.Session) -> Any:
    if case.path not in ENDLESS:
        return case.call(base_url=server, timeout=PATIENCE, session=session)
    # the head of the answer is all of it that can be waited for
    answer = session.request(**case.as_transport_kwargs(base_url=server), stream=True, timeout=PATIENCE)
    answer.close()
    return answer


def _parameters(case: Any, known: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in known.items() if "{" + name + "}" in case.path}
