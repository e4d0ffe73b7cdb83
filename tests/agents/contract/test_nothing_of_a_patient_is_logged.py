"""A marker in inputs passes through every path of the server and appears in no log line, no error and no metric."""

import asyncio
import gc
import io
import json
import logging
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent, plan, remote
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.tools.tool import tool
from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from runyard.stores.sqlite.store import SqliteStore
from runyard.telemetry import logs
from tests.agents.contract.agent_server import GOOD, TASK, as_json, as_stream, event, frames, served
from tests.support.in_process import live_server

MARKER = "patient-zero-4711"
IDS = {"action", "level", "timestamp", "request_id", "task_type", "run_id", "agent", "worker_id", "trace_id"}
NUMBERS = {"status", "duration_ms", "ms", "runs", "grace", "fence", "tasks"}
NAMES = {"code", "tool", "outcome", "error", "logger", "where", "bus", "method", "route"}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """All log lines of a process and its libraries, at level DEBUG."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    logs.configure("json", "debug")
    logs.catch_tracebacks()
    logging.getLogger().setLevel(logging.DEBUG)
    return stream


def patients(url: str) -> App:
    """Agents that receive the marker, store it, answer with it, and fail on it in every way."""

    @tool
    async def look(what: str) -> str:
        return f"{what} {MARKER}"

    @tool
    async def trip() -> str:
        raise ValueError(MARKER)

    @tool
    async def explain() -> str:
        raise runyard.ToolError(MARKER)

    @agent(tools=[look])
    async def answers(ctx: Context) -> Output:
        await ctx.token(MARKER)
        await ctx.step("look", lambda: MARKER)
        found = await ctx.call(look, what=ctx.message.text)
        return Output(MARKER, sources=[MARKER], outputs={"found": found, "inputs": ctx.inputs})

    @agent
    async def crashes(ctx: Context) -> str:
        raise ValueError(MARKER, ctx.message.text)

    @agent
    async def refuses(ctx: Context) -> str:
        raise runyard.InvalidTask(f"query {MARKER}", "query")

    @agent(tools=[trip])
    async def trips(ctx: Context) -> str:
        return str(await ctx.call(trip))

    @agent(tools=[explain])
    async def explains(ctx: Context) -> str:
        return str(await ctx.call(explain))

    @agent
    async def waits(ctx: Context) -> str:
        await ctx.token(MARKER)
        await asyncio.get_running_loop().create_future()
        return MARKER

    @agent
    async def forgets(ctx: Context) -> str:
        """Leaves a task whose error is never retrieved, a thread that dies, and a destructor that fails."""

        async def fail() -> None:
            raise ValueError(MARKER)

        class Heavy:
            def __del__(self) -> None:
                raise ValueError(MARKER)

        def die() -> None:
            raise ValueError(MARKER)

        left = asyncio.create_task(fail())
        await asyncio.wait({left})
        del left
        Heavy()
        thread = threading.Thread(target=die)
        thread.start()
        thread.join()
        logging.getLogger("a.library").error("request was %s", MARKER, exc_info=ValueError(MARKER))
        logging.getLogger("uvicorn.error").error("odd request %s", MARKER)
        structlog.get_logger().error("ours.failed", exc_info=ValueError(MARKER))
        gc.collect()
        return "ok"

    async def node(ctx: NodeContext) -> Any:
        raise ValueError(MARKER)

    thinker = Agent("thinker", model="scripted", turns=[{"text": MARKER, "thinking": MARKER, "error": "model_refused"}])
    far = remote("far", url=url, task_type=TASK, allow=["127.0.0.1"])
    python = [answers, crashes, refuses, trips, explains, waits, forgets]
    declared = [*python, thinker, far, plan("stumbles", [Node("Fall", node)])]
    return App({one.name: one for one in declared}, {}, "answers")


STRANGERS = [
    GOOD.but(stream=lambda a: as_stream(event("progress", {"said": MARKER}), *frames(a, outputs={"said": MARKER}))),
    GOOD.but(stream=lambda a: as_stream(*frames(a, status="error", error={"code": "NO", "message": MARKER}))),
    GOOD.but(stream=lambda a: as_stream(event("progress", {"said": MARKER}))),
    GOOD.but(stream=lambda a: as_json({"detail": MARKER}, 500)),
    GOOD.but(stream=lambda a: as_json({"detail": MARKER}, 400)),
]


def task_request(task_type: str, **other: Any) -> dict[str, Any]:
    return {"request_id": "req-1", "task_type": task_type, "inputs": {"query": MARKER}, **other}


@pytest.fixture(params=["memory", "sqlite"])
async def server(
    request: pytest.FixtureRequest, written: io.StringIO, tmp_path: Any
) -> AsyncIterator[live_server.Server]:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/runyard.db", **live_server.QUICK)
    clock = SystemClock()
    store = MemoryStore(clock) if request.param == "memory" else SqliteStore(tmp_path / "runyard.db", clock)
    loop = asyncio.get_running_loop()
    handler = loop.get_exception_handler()
    loop.set_exception_handler(None)  # as in a server; the hook of the tests would fail them
    with served() as stranger:
        async with live_server.served(settings, patients(stranger.url), store) as found:
            found.stranger = stranger  # type: ignore[attr-defined]
            yield found
    loop.set_exception_handler(handler)


@pytest.mark.req("S2.23", "S2.24", "S2.25", "S2.34")
async def test_a_marker_comes_out_in_no_log_line_no_error_and_no_metric(
    server: live_server.Server, written: io.StringIO
) -> None:
    failures = [answer async for answer in _everything(server)]
    metrics = (await server.http.get("/metrics")).text
    said = written.getvalue()

    assert len(failures) > 30
    for what, text in failures:
        assert MARKER not in text, what
    assert MARKER not in metrics
    assert MARKER not in said
    lines = [json.loads(line) for line in said.splitlines()]
    for action in ("contract.answered", "run.finished", "tool.finished", "thread.crashed", "exception.ignored"):
        assert any(line["action"] == action for line in lines), action
    assert {line["logger"] for line in lines if line["action"] == "library.logged"} >= {"a.library", "asyncio"}
    for line in lines:
        assert set(line) <= IDS | NUMBERS | NAMES, line


async def _everything(server: live_server.Server) -> AsyncIterator[tuple[str, str]]:
    """Cause success, refusal, crash, timeout and validation errors on every face. Return the texts of the failures."""
    http, json_type = server.http, {"content-type": "application/json"}
    tried = ["crashes", "refuses", "trips", "explains", "thinker", "stumbles"]
    for path in ("/agents/run/sync", "/agents/run/stream"):
        done = await http.post(path, json=task_request("answers"))
        assert MARKER in done.text
        assert "ok" in (await http.post(path, json=task_request("forgets"))).text
        for task_type in [*tried, "UNKNOWN_TASK"]:
            yield f"{path} {task_type}", (await http.post(path, json=task_request(task_type))).text
        yield f"{path} late", (await http.post(path, json=task_request("waits", budgets={"timeout_ms": 60}))).text
        for body in ({"inputs": {MARKER: MARKER}}, task_request("answers", mode=[MARKER]), [MARKER], MARKER):
            yield f"{path} invalid", (await http.post(path, json=body)).text
        broken = await http.post(path, content=f'{{"request_id": "{MARKER}'.encode(), headers=json_type)
        yield f"{path} broken", broken.text
    for stranger in STRANGERS:
        server.stranger.behaviour = stranger  # type: ignore[attr-defined]
        answer = await http.post("/agents/run/sync", json=task_request("far"))
        if answer.json()["status"] == "error":
            yield "remote", answer.text
    for task_type in tried:
        run_id = await server.post(task_type, MARKER)
        ended = await server.ended(run_id)
        yield f"threads {task_type}", ended.frames[-1].data.decode()
        if task_type != "explains":  # the text of a ToolError is meant for the caller
            yield f"run {task_type}", str(await server.run(run_id))
    assert MARKER in bytes((await server.ended(await server.post("answers", MARKER))).body).decode()
    chat = await http.post("/chats/c1/interactions", json={"user_message": MARKER, "agent": "crashes"})
    yield "chats", chat.text
    for path in ("/api/threads", "/api/runs", "/chats/c1/interactions", "/agents/runs"):
        yield f"{path} invalid", (await http.post(path, json={"agent": [MARKER], "content": MARKER})).text
        yield f"{path} unknown", (await http.get(f"{path}/{MARKER}?x={MARKER}")).text
