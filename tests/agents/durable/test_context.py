"""The calls of a `Context` and their guarantees."""

import asyncio

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Output
from runyard.agents.declared.kinds import agent
from runyard.agents.execution import Canceled
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.tools.tool import tool
from runyard.errors import AgentError, Fenced, WrongThread
from tests.agents.fake_execution import FakeExecution, answer


async def test_an_agent_sees_its_message_its_run_and_its_history() -> None:
    async def fn(ctx: Context) -> str:
        said = await ctx.history(limit=1)
        return (
            f"{ctx.message.text} {ctx.run_id} {ctx.thread_id} {ctx.attempt} {len(said)} {ctx.idempotency_key('mail')}"
        )

    assert (await answer(fn)).text == "hello run-1 t 1 1 run-1:mail"


async def test_a_run_without_a_message_says_so() -> None:
    async def fn(ctx: Context) -> str:
        return ctx.message.text

    execution = FakeExecution()
    execution.message = None
    with pytest.raises(AgentError, match="No message caused this run"):
        await answer(fn, execution)


@pytest.mark.parametrize(
    ("returned", "output"),
    [
        (None, Output("one two")),
        ("text", Output("text")),
        (Output("text", ("s",), {"n": (1, 2)}), Output("text", ["s"], {"n": [1, 2]})),
        (Output(sources=["s"]), Output("one two", ["s"], {})),
        ("nul \0 \ud800", Output("nul \ufffd ?")),
    ],
)
async def test_an_agent_returns_an_output_a_text_or_nothing(returned: Output | str | None, output: Output) -> None:
    async def fn(ctx: Context) -> Output | str | None:
        await ctx.token("one ")
        await ctx.token("two")
        return returned

    assert await answer(fn) == output


@pytest.mark.parametrize(
    "returned",
    [
        3,
        ["a"],
        Output(text=3),  # type: ignore[arg-type]
        Output(sources="s"),
        Output(sources=[b"s"]),  # type: ignore[list-item]
        Output(outputs={"x": object()}),
        Output(outputs=[1]),  # type: ignore[arg-type]
    ],
)
async def test_any_other_return_value_is_a_clear_error(returned: object) -> None:
    async def fn(ctx: Context) -> object:
        return returned

    with pytest.raises(AgentError, match=r"Output"):
        await answer(fn)


async def test_an_error_of_the_agent_is_named_without_its_content() -> None:
    async def fn(ctx: Context) -> None:
        raise ValueError("secret")

    with pytest.raises(AgentError) as caught:
        await answer(fn)
    assert caught.value.message == "The agent failed with ValueError."


async def test_an_agent_that_exits_does_not_take_the_worker_with_it() -> None:
    async def fn(ctx: Context) -> None:
        raise SystemExit(1)

    with pytest.raises(AgentError, match="called exit"):
        await answer(fn)


async def test_a_lost_lease_is_raised_unchanged() -> None:
    class Lost(FakeExecution):
        async def commit(self) -> None:
            raise Fenced

    async def fn(ctx: Context) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.step("x", lambda: None))

    with pytest.raises(Fenced):
        await answer(fn, Lost())


# --- writing ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("S0.32")
async def test_each_token_is_an_event_and_does_not_suspend() -> None:
    turns = 0

    async def fn(ctx: Context) -> None:
        def turn() -> None:
            nonlocal turns
            turns += 1

        asyncio.get_running_loop().call_soon(turn)
        for _ in range(1000):
            await ctx.token("x")
        assert turns == 0

    execution = FakeExecution()
    await answer(fn, execution)
    assert execution.types() == ["model.token"] * 1000


async def test_a_congested_journal_makes_a_writer_wait() -> None:
    async def fn(ctx: Context) -> None:
        execution.congested = True
        await ctx.token("x")
        execution.congested = True
        await ctx.thinking("x")

    execution = FakeExecution()
    await answer(fn, execution)
    assert execution.drains == 2


@pytest.mark.parametrize("wrong", [None, 1, b"x"])
async def test_a_token_that_is_not_text_is_a_type_error(wrong: object) -> None:
    async def fn(ctx: Context) -> None:
        with pytest.raises(TypeError):
            await ctx.token(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            await ctx.thinking(wrong)  # type: ignore[arg-type]

    await answer(fn)


async def test_text_is_cleaned_of_what_no_store_can_hold() -> None:
    async def fn(ctx: Context) -> None:
        await ctx.token("a\0b\ud800")

    execution = FakeExecution()
    assert (await answer(fn, execution)).text == execution.fold().text == "a\ufffdb?"


# --- the end ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("S0.26")
@pytest.mark.parametrize("use", ["token", "thinking", "trace", "step", "call", "approve", "search", "history"])
async def test_every_call_ends_the_agent_once_a_cancel_is_requested(use: str) -> None:
    @tool
    def nothing() -> None: ...

    async def fn(ctx: Context) -> None:
        assert not ctx.cancelled()
        execution.cancelled = True
        assert ctx.cancelled()
        match use:
            case "step":
                await ctx.step("x", lambda: None)
            case "call":
                await ctx.call(nothing)
            case "search":
                await ctx.search("c", "q")
            case "history":
                await ctx.history()
            case _:
                await getattr(ctx, use)("x")

    execution = FakeExecution()
    with pytest.raises(Canceled):
        await answer(fn, execution)
    assert execution.types() == []


async def test_a_cancel_is_a_cancel_also_from_inside_a_task_group() -> None:
    async def fn(ctx: Context) -> None:
        execution.cancelled = True
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.token("x"))

    execution = FakeExecution()
    with pytest.raises(Canceled):
        await answer(fn, execution)


async def test_cancelling_the_runner_stops_the_tool_and_everything_else() -> None:
    before, began = asyncio.all_tasks(), asyncio.Event()

    @tool
    async def endless() -> None:
        began.set()
        await asyncio.sleep(3600)  # waits on purpose: to be cut off by a cancel

    async def fn(ctx: Context) -> None:
        await asyncio.gather(ctx.call(endless), ctx.step("nothing", asyncio.sleep, 3600))

    execution = FakeExecution()
    running = asyncio.create_task(answer(fn, execution))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert asyncio.all_tasks() == before
    assert "tool.finished" not in execution.types()


async def test_an_agent_that_cancels_itself_fails() -> None:
    async def fn(ctx: Context) -> None:
        raise asyncio.CancelledError

    with pytest.raises(AgentError, match="cancelled itself"):
        await run_python(agent(name="a")(fn), FakeExecution())


@pytest.mark.parametrize("call", ["token", "thinking", "trace"])
async def test_a_context_that_is_used_in_another_thread_says_so_and_writes_nothing(call: str) -> None:
    async def fn(ctx: Context) -> str:
        def elsewhere() -> None:
            asyncio.run(getattr(ctx, call)("from afar"))

        with pytest.raises(WrongThread, match="run_coroutine_threadsafe"):
            await asyncio.to_thread(elsewhere)
        return "done"

    execution = FakeExecution()
    assert (await answer(fn, execution)).text == "done"
    assert not execution.new_events
