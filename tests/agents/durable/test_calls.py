"""Tool calls: threads for plain functions, timeouts, rate limits, log lines, streamed output."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from structlog.testing import capture_logs

import runyard
from runyard.agents.context.context import Context
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.current_call import set_current_execution
from runyard.domain.events import ToolFinished, ToolOutput
from runyard.errors import CalledTooOften, Invalid, ToolError, ToolFailed
from tests.agents.fake_execution import FakeExecution, python_agent

HERE = Path("unused")
MARKER = "c0ntent-that-must-not-leak"


async def run(tool: Tool[..., Any], execution: FakeExecution, **given: Any) -> Any:
    with set_current_execution(execution, HERE):
        return await tool.run(given, None, "run-1:call-1")


def chunks(execution: FakeExecution) -> list[str]:
    return [event.payload.text for event in execution.events if isinstance(event.payload, ToolOutput)]


# --- threads ---------------------------------------------------------------------------------------------------------


async def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    met = threading.Barrier(30, timeout=10)  # more than asyncio's pool has threads

    @runyard.tool
    def meet() -> str:
        met.wait()
        return threading.current_thread().name

    assert await asyncio.gather(*(meet.run({}, None, "k") for _ in range(30))) == ["meet"] * 30


async def test_a_cancel_abandons_the_thread_and_what_it_says_later_is_not_written() -> None:
    execution, began, go_on = FakeExecution(), threading.Event(), threading.Event()
    ended: list[str] = []
    over = threading.Event()

    @runyard.tool
    def stubborn() -> None:
        runyard.stream_output("before")
        began.set()
        go_on.wait(10)
        try:
            runyard.stream_output("after")
        except BaseException as error:
            ended.append(type(error).__name__)
        over.set()

    calling = asyncio.create_task(run(stubborn, execution))
    await asyncio.to_thread(began.wait, 10)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    go_on.set()
    await asyncio.to_thread(over.wait, 10)

    assert ended == ["CancelledError"]
    assert chunks(execution) == ["before"]


@pytest.mark.parametrize("kind", [SystemExit, StopIteration, KeyError])
async def test_any_exception_of_a_tool_is_an_error_of_its_call(kind: type[BaseException]) -> None:
    @runyard.tool
    def plain() -> None:
        raise kind

    @runyard.tool
    async def awaited() -> None:
        raise kind

    for broken in (plain, awaited):
        with pytest.raises((RuntimeError, KeyError, ToolError)):
            await broken.run({}, None, "k")


async def test_a_call_that_takes_too_long_is_given_up() -> None:
    release = threading.Event()

    @runyard.tool(timeout=0.05)
    def slow() -> None:
        release.wait(10)

    with pytest.raises(TimeoutError):
        await slow.run({}, None, "k")
    release.set()


# --- rates -----------------------------------------------------------------------------------------------------------


@runyard.tool(rate_limit="2/minute")
async def ping() -> str:
    return "pong"


@pytest.mark.req("S1.47")
async def test_calls_over_the_rate_are_refused_until_the_window_has_passed() -> None:
    one = FakeExecution()
    await run(ping, one)
    one.clock.ms += 30_000
    await run(ping, one)
    with pytest.raises(CalledTooOften, match=r"ping may be called 2 times a minute; try again in 30 s\."):
        await run(ping, one)

    one.clock.ms += 30_000
    assert await run(ping, one) == "pong"
    with pytest.raises(CalledTooOften):
        await run(ping, one)


@pytest.mark.req("S1.47")
async def test_an_agent_sees_the_refusal_as_a_failed_tool() -> None:
    @runyard.tool(rate_limit="1/day")
    def once() -> int:
        return 1

    async def busy(ctx: Context) -> str:
        first = await ctx.call(once)
        with pytest.raises(ToolFailed) as caught:
            await ctx.call(once)
        return f"{first} {type(caught.value.__cause__).__name__}"

    execution = FakeExecution()
    with set_current_execution(execution, HERE):
        output = await run_python(python_agent(busy), execution)

    assert output.text == "1 CalledTooOften"
    ends = [event.payload for event in execution.events if isinstance(event.payload, ToolFinished)]
    assert [end.error is None for end in ends] == [True, False]


@pytest.mark.parametrize("words", ["", "10", "0/minute", "-1/minute", "10/fortnight", "10 / minute"])
def test_a_rate_that_says_nothing_is_refused(words: str) -> None:
    with pytest.raises(Invalid, match='"10/minute"'):
        Tool(lambda: None, name="x", rate_limit=words)


@pytest.mark.req("S1.47")
async def test_a_limit_holds_for_an_agent_and_an_owner_over_all_runs() -> None:
    one = FakeExecution()
    await run(ping, one)
    one.run = structs.replace(one.run, id="run-2")
    await run(ping, one)
    one.run = structs.replace(one.run, id="run-3")
    with pytest.raises(CalledTooOften):
        await run(ping, one)
    for other in ({"owner": "bob"}, {"agent": "b"}):
        one.run = structs.replace(one.run, **other)
        assert await run(ping, one) == "pong", "another owner or agent has a separate count"


async def test_a_tool_without_a_limit_asks_the_store_nothing() -> None:
    @runyard.tool
    def free() -> str:
        return "yes"

    execution = FakeExecution()
    assert await run(free, execution) == "yes"
    assert execution.calls_store is None


# --- the log ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("S1.47")
async def test_every_call_leaves_one_line_without_content() -> None:
    @runyard.tool(timeout=0.05)
    async def speak(how: str) -> str:
        await runyard.stream_output(MARKER)
        if how == "fail":
            raise KeyError(MARKER)
        if how == "say":
            raise runyard.ToolError(MARKER)
        if how == "hang":
            await asyncio.Event().wait()
        return MARKER

    execution = FakeExecution()
    with capture_logs() as lines:
        await run(speak, execution, how="well " + MARKER)
        for how in ("fail", "say", "hang"):
            with pytest.raises(Exception, match=r".*"):
                await run(speak, execution, how=how)
        with pytest.raises(Invalid):
            await run(speak, execution, how=3)

    assert [line["event"] for line in lines] == ["tool.finished"] * 5
    assert [line["outcome"] for line in lines] == ["ok", "KeyError", "tool_error", "timeout", "invalid_input"]
    for line in lines:
        assert set(line) == {"event", "log_level", "tool", "run_id", "ms", "outcome"}
        assert (line["tool"], line["run_id"]) == ("speak", "run-1")
    assert MARKER not in str(lines)


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("S1.54")
async def test_a_tool_streams_its_output_without_knowing_where_it_goes() -> None:
    @runyard.tool
    async def awaited() -> int:
        await runyard.stream_output("a")
        await runyard.stream_output("b")
        return 1

    @runyard.tool
    def plain() -> int:
        runyard.stream_output("c")
        runyard.stream_output("d\0")
        return 2

    @runyard.tool
    async def yields() -> AsyncIterator[str]:
        yield "e"
        yield "f"

    @runyard.tool
    def gives() -> Iterator[str]:
        yield "g"
        yield "h"

    async def all_of_them(ctx: Context) -> str:
        return str([await ctx.call(tool) for tool in (awaited, plain, yields, gives)])

    execution = FakeExecution()
    with set_current_execution(execution, HERE):
        output = await run_python(python_agent(all_of_them), execution)

    assert output.text == "[1, 2, 'ef', 'gh']"
    assert chunks(execution) == ["a", "b", "c", "d\ufffd", "e", "f", "g", "h"]
    assert execution.types()[:4] == ["tool.started", "tool.output", "tool.output", "tool.finished"]


@pytest.mark.req("S1.54", "S1.55")
async def test_calls_side_by_side_do_not_mix_their_output() -> None:
    together = asyncio.Barrier(2)

    @runyard.tool
    async def say(word: str) -> None:
        await together.wait()
        await runyard.stream_output(word)

    async def both(ctx: Context) -> None:
        await asyncio.gather(ctx.call(say, word="one"), ctx.call(say, word="two"))

    execution = FakeExecution()
    with set_current_execution(execution, HERE):
        await run_python(python_agent(both), execution)

    written = [e.payload for e in execution.events if isinstance(e.payload, ToolOutput)]
    assert {chunk.call_id: chunk.text for chunk in written} == {"say#1": "one", "say#2": "two"}


async def test_a_tool_that_writes_faster_than_the_database_waits_for_it() -> None:
    execution = FakeExecution()

    @runyard.tool
    async def flood() -> None:
        for _ in range(3):
            execution.congested = True
            await runyard.stream_output("x")

    @runyard.tool
    def flood_plainly() -> None:
        execution.congested = True
        runyard.stream_output("x")

    await run(flood, execution)
    await run(flood_plainly, execution)
    assert execution.drains == 4


async def test_outside_of_a_call_output_goes_nowhere() -> None:
    await runyard.stream_output("no run streams this")
    with pytest.raises(TypeError):
        runyard.stream_output(3)  # type: ignore[arg-type]
