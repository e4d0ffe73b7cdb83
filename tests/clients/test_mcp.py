"""`mcp` for Python and `@modelcontextprotocol/client` for Node call agents, answer forms, cancel and resume."""

from __future__ import annotations

import asyncio
import os
import sys
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError
from mcp.client import ClientExtension
from mcp.client.extension import ClaimContext, ResultClaim
from mcp.client.stdio import StdioServerParameters
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    Request,
    RequestParams,
    ResourceLink,
    Result,
    TextContent,
)
from pydantic import Field

from tests.clients.client_app import COUNT, LONG
from tests.clients.conftest import APP, ran, resumed_through_kills
from tests.support.eventually import PATIENCE, eventually
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

PROGRAM = "mcp_client.mjs"
HELLO = "Hello, dear guest."
BOUGHT = "Bought row 12. From Oslo: 99 EUR."
REVISIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
FORMS: dict[str, dict[str, Any]] = {
    "Call refund?": {"approved": True},
    "Which seat?": {"row": 12},
    "The agent needs the result of locate.": {"value": "Oslo"},
    "Buy it?": {"approved": True},
}


async def fill(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """Fill a form as a person would."""
    [content] = [content for question, content in FORMS.items() if params.message.startswith(question)]
    return ElicitResult(action="accept", content=content)


@asynccontextmanager
async def connected(url: str, mode: str, **more: Any) -> AsyncIterator[Client]:
    async with Client(f"{url}/mcp", mode=mode, read_timeout_seconds=PATIENCE, cache=None, **more) as client:
        yield client


def text(result: CallToolResult) -> str:
    return "|".join(each.text for each in result.content if isinstance(each, TextContent))


@pytest.mark.parametrize("mode", REVISIONS)
async def test_the_client_for_python_calls_answers_and_cancels(url: str, sqlite_flow: Flow, mode: str) -> None:
    async with connected(url, mode, elicitation_callback=fill) as client:
        assert client.protocol_version == REVISIONS[mode]
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"airline", "fares", "helper", "printer", "viewer"}

        seen: list[tuple[float, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, message))

        answer = await client.call_tool("helper", {"message": "hello", "thread_id": "t1"})
        assert (text(answer), answer.is_error) == (HELLO, False)
        tool = await client.call_tool("helper", {"message": "look"}, progress_callback=note)
        assert text(tool) == "So: A-1 is paid."
        assert [message for _, message in sorted(seen)] == ["Calling look_up", "look_up returned"]
        again = await client.call_tool("helper", {"message": "repeat", "thread_id": "t1"})
        assert text(again) == f"system: Be kind.; user: hello; assistant: {HELLO}; user: repeat"

        assert text(await client.call_tool("helper", {"message": "refund"})) == "So: A-1 is refunded."
        booked = await client.call_tool("airline", {"message": "a seat"})
        assert text(booked).startswith(BOUGHT)
        assert booked.structured_content == {"seat": 12}

        failed = await client.call_tool("helper", {"message": "fail"})
        assert (failed.is_error, "rate_limited" in text(failed)) == (True, True)
        with pytest.raises(MCPError, match="no tool with that name"):
            await client.call_tool("unknown", {"message": "hello"})

        endless = asyncio.create_task(client.call_tool("helper", {"message": "endless", "thread_id": "t2"}))
        run = await _run_of(sqlite_flow, 7)
        endless.cancel()
        await _canceled(sqlite_flow, run)

    async with connected(url, mode) as client:  # one that cannot show forms
        told = await client.call_tool("helper", {"message": "refund"})
        assert "`runyard approvals approve approval_" in text(told)


async def _run_of(flow: Flow, count: int) -> str:
    """The id of the newest run, once there are so many of them."""

    async def newest() -> str | None:
        rows = await flow.database.rows("select id from runs where face = 'mcp' order by id")
        return str(rows[-1]["id"]) if len(rows) >= count else None

    return str(await eventually("the run is there", newest))


async def _canceled(flow: Flow, run_id: str) -> None:
    async def found() -> bool:
        [row] = await flow.database.rows(f"select status from runs where id = '{run_id}'")
        return str(row["status"]) == "canceled"

    await eventually("the run is canceled", found)


class CutOnce(CuttingProxy):
    """Cuts the first stream only."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "cuts" and value:
            self.events = None


async def test_a_stream_that_is_cut_at_any_event_goes_on_at_another_pod(any_flow: Flow) -> None:
    """Progress comes for every line, and each of the calls is cut after another event."""
    pods = [(await any_flow.start("serve", app=APP)).url]
    if not any_flow.is_sqlite:
        pods.append((await any_flow.start("api", app=APP)).url)

    async def cut_after(events: int) -> tuple[list[float], str, int]:
        numbers: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            numbers.append(progress)

        async with (
            CutOnce(lambda: pods, events) as proxy,
            connected(proxy.url, "legacy", elicitation_callback=fill) as client,
        ):
            found = await client.call_tool("airline", {"message": "a seat"}, progress_callback=note)
            return sorted(numbers), text(found), proxy.cuts

    undisturbed, said, _ = await cut_after(1000)
    assert said.startswith(BOUGHT)
    # the empty event, progress, three forms and a response
    found = await asyncio.gather(*(cut_after(events) for events in range(1, len(undisturbed) + 5)))
    assert [each[2] for each in found] == [1] * len(found)
    assert {each[1] for each in found} == {said}
    assert all(each[0] == undisturbed for each in found)
    assert len(await any_flow.database.rows("select id from runs where face = 'mcp'")) == len(found) + 1


@pytest.mark.postgres
async def test_a_call_outlives_the_server_that_it_began_at(flow: Flow) -> None:
    """The server is killed while a person reads the first form. The answer and the rest of the call go to another."""
    await flow.start("worker", app=APP)
    first, second = await flow.start("api", app=APP), await flow.start("api", app=APP)
    alive = [first.url]

    async def fill_later(context: Any, params: ElicitRequestParams) -> ElicitResult:
        if alive == [first.url]:
            alive[:] = [second.url]
            await first.kill()
        return await fill(context, params)

    async with (
        CuttingProxy(lambda: alive, None) as proxy,
        connected(proxy.url, "legacy", elicitation_callback=fill_later) as client,
    ):
        found = await client.call_tool("airline", {"message": "a seat"})
    assert text(found).startswith(BOUGHT)
    assert len(await flow.database.rows("select id from runs where face = 'mcp'")) == 1


class CreatedTask(Result):
    result_type: Literal["task"] = "task"
    task_id: str


class TaskState(Result):
    result_type: Literal["complete"] = "complete"
    status: str = ""
    input_requests: dict[str, Any] = Field(default_factory=dict)
    result: dict[str, Any] = Field(default_factory=dict)


class TaskParams(RequestParams):
    task_id: str
    input_responses: dict[str, Any] | None = None


class TaskRequest(Request[TaskParams, str]):
    name_param = "taskId"


class Tasks(ClientExtension):
    """The client's part of the tasks extension: polls, and answers what is asked."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.statuses: list[str] = []

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self._resolve)]

    async def _resolve(self, made: CreatedTask, context: ClaimContext) -> CallToolResult:
        answered: set[str] = set()
        while True:
            task = await self._send(context, "tasks/get", TaskParams(task_id=made.task_id))
            if self.statuses[-1:] != [task.status]:
                self.statuses.append(task.status)
            if task.status == "completed":
                return CallToolResult.model_validate(task.result)
            new = {key: asked for key, asked in task.input_requests.items() if key not in answered}
            if new:
                answered |= new.keys()
                given = {key: (await fill(None, _form(asked))).model_dump() for key, asked in new.items()}
                await self._send(context, "tasks/update", TaskParams(task_id=made.task_id, input_responses=given))

    async def _send(self, context: ClaimContext, method: str, params: TaskParams) -> TaskState:
        return await context.session.send_request(TaskRequest(method=method, params=params), TaskState)


def _form(asked: dict[str, Any]) -> ElicitRequestParams:
    return ElicitRequestFormParams.model_validate(asked["params"])


async def test_tasks_of_the_client_for_python_are_runs(url: str) -> None:
    tasks = Tasks()
    async with connected(url, "auto", extensions=[tasks], elicitation_callback=fill) as client:
        booked = await client.call_tool("airline", {"message": "a seat"})
    assert text(booked).startswith(BOUGHT)
    assert booked.structured_content == {"seat": 12}
    assert tasks.statuses[-1] == "completed"
    assert "input_required" in tasks.statuses


@pytest.mark.parametrize("mode", REVISIONS)
async def test_a_program_is_a_server_over_stdio(url: str, mode: str, sqlite_flow: Flow) -> None:
    """`runyard mcp` passes messages on, over connections that are cut after two events if they can be continued."""
    async with CutOnce(lambda: [url], 2 if mode == "legacy" else None) as proxy:
        command = StdioServerParameters(
            command=str(Path(sys.executable).parent / "runyard"),
            args=["mcp"],
            env={"PATH": os.environ["PATH"], "RUNYARD_URL": proxy.url},
            cwd=sqlite_flow.folder,
        )
        async with Client(command, mode=mode, read_timeout_seconds=PATIENCE, elicitation_callback=fill) as client:
            assert client.protocol_version == REVISIONS[mode]
            assert "airline" in {tool.name for tool in (await client.list_tools()).tools}
            assert text(await client.call_tool("airline", {"message": "a seat"})).startswith(BOUGHT)
            with pytest.raises(MCPError, match="no tool with that name"):
                await client.call_tool("unknown", {"message": "hello"})
            [*_, link] = (await client.call_tool("printer", {"message": "several"})).content
            assert isinstance(link, ResourceLink)
            [whole] = (await client.read_resource(link.uri)).contents
            assert isinstance(whole, BlobResourceContents)
            assert b64decode(whole.blob) == LONG
            endless = asyncio.create_task(client.call_tool("helper", {"message": "endless"}))
            run = await _run_of(sqlite_flow, 3)
            endless.cancel()
            await _canceled(sqlite_flow, run)
        assert proxy.cuts == (mode == "legacy"), "with a session the program continues the stream"


async def test_the_client_for_node_calls_answers_cancels_and_comes_back(url: str, sqlite_flow: Flow) -> None:
    legacy, auto = await asyncio.gather(*(ran(PROGRAM, "everything", url, MODE=mode) for mode in ("legacy", "auto")))
    for mode, found in (("legacy", legacy), ("auto", auto)):
        assert found["version"] == REVISIONS[mode]
        assert set(found["tools"]) == {"airline", "fares", "helper", "printer", "viewer"}
        assert (found["answer"], found["tool"]) == (HELLO, "So: A-1 is paid.")
        assert found["progress"] == ["Calling look_up", "look_up returned"]
        assert found["approval"] == "So: A-1 is refunded."
        assert found["booking"].startswith(BOUGHT)
        assert found["failed"] == [True, True]
        assert found["unknown"] == -32602
        assert found["canceled"] is True

    async def canceled() -> bool:
        rows = await sqlite_flow.database.rows("select id from runs where face = 'mcp' and status = 'canceled'")
        return len(rows) == 2

    await eventually("both runs are canceled", canceled)

    async with CutOnce(lambda: [url], 3) as proxy:
        found = await ran(PROGRAM, "resume", proxy.url, MODE="legacy")
    assert (found["text"], proxy.cuts) == ("".join(COUNT), 1)


@pytest.mark.postgres
async def test_the_client_for_node_resumes_at_every_event_while_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    """Every stream breaks after one event, so each event comes over another connection, to another pod."""
    found, proxy = await resumed_through_kills(flow, PROGRAM, 1, retry_ms=50, MODE="legacy")
    assert found["text"] == "".join(COUNT)
    assert proxy.cuts > 2
    assert len(await flow.database.rows("select id from runs where face = 'mcp'")) == 1


async def test_the_client_for_node_gets_every_event_over_another_connection(any_flow: Flow) -> None:
    """Progress for every line, three forms and the result."""
    pods = [(await any_flow.start("serve", app=APP)).url]
    async with CuttingProxy(lambda: pods, 1, retry_ms=50) as proxy:
        found = await ran(PROGRAM, "book", proxy.url, MODE="legacy")
    assert proxy.cuts == proxy.passed > 5
    assert found["text"].startswith(BOUGHT)
    assert len(await any_flow.database.rows("select id from runs where face = 'mcp'")) == 1
