"""Every face refuses in the form of its own protocol: too large, too often, too many streams or runs, database away."""

from typing import Any

import httpx2
import pytest

from runyard.base.clock import SystemClock
from runyard.settings import Settings
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.faces.samples.requests_of_faces import REQUESTS, Request
from tests.support.in_process.live_server import QUICK, Serve, Server, served
from tests.web.responses.test_problems import MEMORY, StoreThatGoesAway, problem


def thread_stream(agent: str, thread: str) -> tuple[str, dict[str, Any]]:
    return f"/langgraph/threads/{thread}/stream/events", {"channels": ["messages"]}


EVERY: dict[str, Request] = {**REQUESTS, "thread stream": thread_stream}
FACES = pytest.mark.parametrize("face", EVERY)
STARTING = pytest.mark.parametrize("face", REQUESTS)


async def asked(server: Server, face: str, agent: str = "happy", **more: Any) -> httpx2.Response:
    path, body = EVERY[face](agent, "thread-1")
    return await server.http.post(path, json=body, **more)


def assert_may_repeat(answer: httpx2.Response, code: str, status: int = 429) -> None:
    problem(answer, status, code)
    assert answer.status_code == status
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.headers.get("x-should-retry") != "false"


async def runs_of(server: Server, **more: Any) -> list[Any]:
    return list((await server.http.get("/api/runs", **more)).json()["runs"])


@MEMORY
@FACES
async def test_a_body_over_the_limit_is_413(serve: Serve, face: str) -> None:
    server = await serve(max_body_bytes=20)
    answer = await asked(server, face)
    problem(answer, 413, "too_large")
    assert answer.status_code == 413


@MEMORY
@STARTING
async def test_a_message_over_the_limit_is_413_and_starts_nothing(serve: Serve, face: str) -> None:
    server = await serve(max_message_chars=1)
    answer = await asked(server, face)
    status = 200 if face == "mcp" else 413  # an invalid argument of a tool is a response like any other there
    problem(answer, status, "too_large")
    assert answer.status_code == status
    assert await runs_of(server) == []


@MEMORY
@FACES
async def test_a_key_that_asks_too_often_is_429(serve: Serve, face: str) -> None:
    server = await serve(keys=True, rate_per_key=0.01)
    headers = {"X-API-Key": await server.key("ann")}
    assert (await server.http.get("/api/runs", headers=headers)).status_code == 200
    assert_may_repeat(await asked(server, face, headers=headers), "too_many_requests")


@MEMORY
@FACES
async def test_a_stream_too_many_is_429_and_starts_nothing(serve: Serve, gate: Gate, face: str) -> None:
    server = await serve(keys=True, max_streams_per_key=1)
    headers = {"X-API-Key": await server.key("ann")}
    server.http.headers |= headers
    run_id = await server.post("asks")
    first = await server.stream(f"/api/runs/{run_id}/log", headers)
    await first.frames_to("run.waiting")
    assert_may_repeat(await asked(server, face), "too_many_streams")
    assert [run["run_id"] for run in await runs_of(server)] == [run_id]
    await first.close()


@MEMORY
@STARTING
async def test_a_run_too_many_is_429(serve: Serve, face: str) -> None:
    server = await serve(worker=False, max_queued_per_owner=2)
    for _ in range(2):
        await server.post("happy")
    backlogs = server.process.engine.intake._admission.backlogs
    backlogs._counts.clear()
    backlogs.check("local")  # starts a count
    for counting in list(backlogs._counting):
        await counting
    assert_may_repeat(await asked(server, face), "queue_full")
    assert len(await runs_of(server)) == 2


@FACES
async def test_without_the_database_a_request_is_503_and_may_be_sent_again(gate: Gate, face: str) -> None:
    store = StoreThatGoesAway(SystemClock())
    async with served(Settings(**QUICK), agents(gate), store, worker=False) as server:
        store.away = True
        assert_may_repeat(await asked(server, face), "unavailable", 503)
        store.away = False
        assert await runs_of(server) == []
