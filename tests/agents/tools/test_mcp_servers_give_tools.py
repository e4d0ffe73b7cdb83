"""Real MCP servers in their own processes, over stdio and over HTTP on loopback."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import equipped
from runyard.agents.declared.kinds import agent
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.mcp.servers import McpServer
from runyard.agents.tools.outbound import OutboundRefused
from runyard.agents.user_code.current_call import set_current_execution
from runyard.domain.events import ToolFinished, ToolOutput
from runyard.errors import Invalid, InvalidInput, ServerGone, ToolError
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked

SCRIPT = Path(__file__).parent / "mcp_server_for_tests.py"
LOOPBACK = ["127.0.0.0/8"]
TOOLS = {"add", "say_it", "fail", "picture", "die", "slow", "environment"}


@pytest.fixture(params=["stdio", "http"])
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[McpServer]:
    if request.param == "stdio":
        made = stdio(tmp_path)
        yield made
        await made.close()
        return
    process, url = await serve(tmp_path)
    made = runyard.mcp(url, allow=LOOPBACK, timeout=10)
    try:
        yield made
    finally:
        await made.close()
        process.kill()
        await process.wait()


def stdio(folder: Path, **options: Any) -> McpServer:
    return runyard.mcp([sys.executable, str(SCRIPT), str(folder)], **{"timeout": 20, **options})


async def serve(folder: Path, port: int = 0) -> tuple[asyncio.subprocess.Process, str]:
    """Start a server over HTTP, on a loopback address that no other process uses, so that its port is free."""
    number = os.getpid()
    host = f"127.{number >> 16 & 127 | 128}.{number >> 8 & 255}.{number & 255}"
    (folder / "port").unlink(missing_ok=True)
    process = await asyncio.create_subprocess_exec(sys.executable, str(SCRIPT), str(folder), host, str(port))
    await until((folder / "port").exists)
    return process, f"http://{host}:{(folder / 'port').read_text()}/mcp"


async def until(condition: Any) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # waits on purpose: another process sends no signal


async def call(server: McpServer, name: str, **given: Any) -> Any:
    tool = {tool.name: tool for tool in await server.tools()}[name]
    return await tool.run(given, None, "k")


# --- what they offer -------------------------------------------------------------------------------------------------


async def test_tools_are_listed_with_their_schemas_and_can_be_called(server: McpServer) -> None:
    tools = {tool.name: tool for tool in await server.tools()}
    add = tools["add"]

    assert set(tools) == TOOLS, "names are made fit for models"
    assert add.description == "Add two numbers."
    assert add.schema["required"] == ["a", "b"]
    assert add.schema["properties"]["a"]["type"] == "integer"
    assert await call(server, "add", a=1, b=2) == {"result": 3}
    assert await call(server, "say_it", text="né\n") == {"result": "né\n"}


async def test_tools_of_a_server_need_approval_and_count_as_once(server: McpServer) -> None:
    for tool in await server.tools():
        assert tool.effects == "once"
        assert tool.needs_approval({})


async def test_the_app_may_declare_otherwise(tmp_path: Path) -> None:
    server = stdio(
        tmp_path,
        only=["add", "fail"],
        prefix="math.",
        effects="idempotent",
        tools={"add": {"approval": "never", "effects": "none", "rate_limit": "9/day"}},
    )
    add, fail = await server.tools()
    await server.close()
    assert (add.name, add.effects, add.needs_approval({}), add.timeout) == ("math_add", "none", False, 20)
    assert (fail.name, fail.effects, fail.needs_approval({})) == ("math_fail", "idempotent", True)
    assert add.rate is not None


async def test_input_that_does_not_fit_never_reaches_the_server(server: McpServer) -> None:
    for wrong in ({"a": "SECRET", "b": 1}, {"a": 1}, {}):
        with pytest.raises(InvalidInput) as caught:
            await call(server, "add", **wrong)
        assert caught.value.message.startswith("The arguments of add do not fit: ")
        assert "SECRET" not in caught.value.message
    with pytest.raises(InvalidInput, match=r"type integer - at `\$\.a`"):
        await call(server, "add", a="x", b=1)


async def test_an_error_of_the_server_is_a_tool_error(server: McpServer) -> None:
    with pytest.raises(ToolError, match="no luck today"):
        await call(server, "fail")


async def test_images_and_files_of_a_server_become_files_of_the_run(tmp_path: Path) -> None:
    server, execution = stdio(tmp_path), FakeExecution()
    try:
        with set_current_execution(execution, tmp_path):
            text, image, paper = await call(server, "picture")
    finally:
        await server.close()
    assert text["text"] == "two files"
    assert (image.name, image.type, image.size) == ("image.png", "image/png", 11)
    assert (paper.name, paper.type) == ("a.bin", "application/octet-stream")
    assert [execution.files[each.id] for each in (image, paper)] == [b"\x89PNG\r\n\x1a\nabc", b"paper"]


async def test_a_server_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "sk-secret")
    server = stdio(tmp_path, env={"GIVEN": "yes"})
    seen = await call(server, "environment")
    await server.close()
    assert seen["GIVEN"] == "yes"
    assert "sk-secret" not in str(seen)


# --- cancel, time, death ---------------------------------------------------------------------------------------------


async def test_a_call_that_takes_too_long_is_cancelled_on_the_server(tmp_path: Path) -> None:
    server = stdio(tmp_path, tools={"slow": {"timeout": 1.0}})
    with pytest.raises(TimeoutError):
        await call(server, "slow")
    await until(lambda: (tmp_path / "slow").exists() and (tmp_path / "slow").read_text() == "cancelled")
    assert await call(server, "add", a=1, b=1) == {"result": 2}, "and the connection is still good"
    await server.close()


async def test_a_cancel_reaches_the_server_and_leaves_other_calls_alone(tmp_path: Path) -> None:
    server = stdio(tmp_path)
    slow = asyncio.create_task(call(server, "slow"))
    await until(lambda: (tmp_path / "slow").exists())
    slow.cancel()
    assert await call(server, "add", a=1, b=1) == {"result": 2}
    with pytest.raises(asyncio.CancelledError):
        await slow
    await until(lambda: (tmp_path / "slow").read_text() == "cancelled")
    await server.close()


async def test_progress_is_streamed(tmp_path: Path) -> None:
    server, execution = stdio(tmp_path), FakeExecution()
    with set_current_execution(execution, tmp_path):
        slow = asyncio.create_task(call(server, "slow"))
        await until(lambda: any(isinstance(event.payload, ToolOutput) for event in execution.events))
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    await server.close()
    assert [e.payload.text for e in execution.events if isinstance(e.payload, ToolOutput)] == ["half way\n"]


async def test_a_server_that_dies_fails_that_call_and_is_started_again(tmp_path: Path) -> None:
    server = stdio(tmp_path)
    with pytest.raises(ServerGone):
        await call(server, "die")
    first = (tmp_path / "pid").read_text()
    assert await call(server, "add", a=1, b=1) == {"result": 2}
    second = (tmp_path / "pid").read_text()
    assert second != first

    os.kill(int(second), signal.SIGKILL)
    live = server._connection._live
    assert live is not None
    await asyncio.wait_for(live.gone.wait(), 10)
    assert await call(server, "add", a=1, b=1) == {"result": 2}, "no call was in flight, so none failed"
    await server.close()


async def test_an_http_server_that_went_away_is_called_again(tmp_path: Path) -> None:
    process, url = await serve(tmp_path)
    server = runyard.mcp(url, allow=LOOPBACK, timeout=10)
    assert await call(server, "add", a=1, b=1) == {"result": 2}
    process.kill()
    await process.wait()
    with pytest.raises(ToolError):
        await call(server, "add", a=1, b=1)
    process, _ = await serve(tmp_path, int(url.split(":")[2].split("/")[0]))
    assert await call(server, "add", a=1, b=1) == {"result": 2}
    await server.close()
    process.kill()
    await process.wait()


async def test_closing_ends_the_process(tmp_path: Path) -> None:
    server = stdio(tmp_path)
    await server.tools()
    pid = int((tmp_path / "pid").read_text())
    await server.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_command_that_is_no_server_is_one_sentence() -> None:
    for words in (["/no/such/program"], ["/bin/false"]):
        with pytest.raises(ServerGone, match="does not answer"):
            await runyard.mcp(words).tools()
    with pytest.raises(Invalid):
        runyard.mcp("")


# --- where they may be -----------------------------------------------------------------------------------------------


async def test_an_address_on_this_machine_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    process, url = await serve(tmp_path)
    host = str(httpx2.URL(url).host)
    for address in (url, url.replace(host, "localhost"), url.replace(host, f"[::ffff:{host}]")):
        with pytest.raises(OutboundRefused):
            await runyard.mcp(address, allow=["10.0.0.0/8"]).tools()
    allowed = runyard.mcp(url, allow=LOOPBACK)
    assert len(await allowed.tools()) == len(TOOLS)
    await allowed.close()
    process.kill()
    await process.wait()


# --- in a run --------------------------------------------------------------------------------------------------------


async def test_an_agent_calls_them_by_name_and_a_person_is_asked(tmp_path: Path) -> None:
    server = stdio(tmp_path)

    async def sum_up(ctx: Context) -> str:
        return str(await ctx.call("add", a=2, b=3))

    summing = agent(name="sum", tools=[server])(sum_up)
    assert not (tmp_path / "pid").exists(), "it is started when a run needs it"
    assert summing.tools == ()
    first = FakeExecution()
    (asked,) = await run_until_parked(await equipped(summing), first)
    second = FakeExecution(log_with_decision(first.log, asked))
    output = await run_python(await equipped(summing), second)
    await server.close()

    assert output.text == "{'result': 5}"
    ends = [event.payload for event in second.events if isinstance(event.payload, ToolFinished)]
    assert [(end.tool, end.error, end.output) for end in ends] == [("add", None, {"result": 5})]


async def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    server = stdio(tmp_path)

    @runyard.tool
    def add() -> None: ...

    async def idle(ctx: Context) -> None: ...

    with pytest.raises(Invalid, match="same name"):
        await equipped(agent(name="a", tools=[add, server])(idle))
    await server.close()
