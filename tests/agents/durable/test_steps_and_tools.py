"""The steps and tool calls of an agent: recorded before they are used, and the same on replay."""

import asyncio
from functools import partial

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Output
from runyard.agents.tools.tool import tool
from runyard.domain.events import StepFinished
from runyard.errors import Invalid, StepFailed, ToolFailed
from tests.agents.fake_execution import FakeExecution, answer


async def test_the_first_run_gets_the_same_json_as_a_replay() -> None:
    seen: list[object] = []

    async def fn(ctx: Context) -> None:
        seen.append(await ctx.step("tuple", lambda: {"t": (1, 2), 3: {"s"}, "n": "\0"}))

    execution = FakeExecution()
    await answer(fn, execution)
    await answer(fn, FakeExecution(execution.log))
    assert seen == [{"t": [1, 2], "3": ["s"], "n": "\ufffd"}] * 2


@pytest.mark.invariant(6)
async def test_a_result_is_durable_before_it_is_used() -> None:
    @tool
    def one() -> int:
        return 1

    async def fn(ctx: Context) -> None:
        await ctx.step("one", lambda: 1)
        assert execution.lost == []
        await ctx.call(one)
        assert execution.lost == []

    execution = FakeExecution()
    await answer(fn, execution)
    assert execution.types() == ["step.started", "step.finished", "tool.started", "tool.finished"]


async def test_a_step_that_raises_fails_the_same_way_on_replay_and_its_message_is_not_recorded() -> None:
    messages: list[str] = []

    def broken() -> None:
        raise KeyError("secret")

    async def fn(ctx: Context) -> None:
        try:
            await ctx.step("break", broken)
        except StepFailed as error:
            messages.append(error.message)

    execution = FakeExecution()
    await answer(fn, execution)
    await answer(fn, FakeExecution(execution.log))
    assert messages == ['The step "break" failed with KeyError.'] * 2
    [ended] = [event.payload for event in execution.log if isinstance(event.payload, StepFinished)]
    assert ended.traceback is not None
    assert ended.traceback.endswith("KeyError: 'secret'")


async def test_a_result_that_is_not_json_fails_the_step() -> None:
    async def fn(ctx: Context) -> None:
        await ctx.step("object", object)

    execution = FakeExecution()
    for _ in range(2):
        with pytest.raises(StepFailed) as caught:
            await answer(fn, execution)
        execution = FakeExecution(execution.log)
        assert caught.value.message.startswith(
            'The step "object" failed: A value of type object in the result is not JSON. Return text,'
        )


async def test_a_result_of_a_tool_that_is_not_json_fails_the_call() -> None:
    @tool(effects="none")
    async def moment() -> dict[str, object]:
        return {"when": object()}

    async def fn(ctx: Context) -> None:
        await ctx.call(moment)

    with pytest.raises(ToolFailed, match=r"The tool moment failed: A value of type object in the result is not JSON\."):
        await answer(fn)


async def test_a_sync_function_does_not_block_the_event_loop() -> None:
    def from_a_thread(loop: asyncio.AbstractEventLoop) -> int:
        return asyncio.run_coroutine_threadsafe(asyncio.sleep(0, 7), loop).result(5)

    async def fn(ctx: Context) -> str:
        return str(await ctx.step("thread", from_a_thread, asyncio.get_running_loop()))

    assert (await answer(fn)).text == "7"


async def test_steps_and_tools_do_not_nest() -> None:
    async def fn(ctx: Context) -> None:
        async def outer() -> None:
            await ctx.step("inner", lambda: None)

        await ctx.step("outer", outer)

    execution = FakeExecution()
    for _ in range(2):
        with pytest.raises(StepFailed) as caught:
            await answer(fn, execution)
        execution = FakeExecution(execution.log)
        assert caught.value.message.startswith(
            'The step "outer" failed: Steps, tool calls and questions cannot be made inside a step or a tool'
        )


async def test_text_written_inside_a_finished_step_is_part_of_the_answer_after_a_crash() -> None:
    async def fn(ctx: Context) -> None:
        async def inside(word: str) -> None:
            await ctx.token(word)

        await ctx.token("a ")
        await ctx.step("closure", partial(inside, "b "))
        await ctx.step("closure", lambda: inside("c "))
        await ctx.step("argument", Context.token, ctx, "d ")
        await ctx.token("e")

    execution = FakeExecution()
    output = await answer(fn, execution)
    await execution.commit()
    for cut in range(1, len(execution.log) + 1):
        resumed = FakeExecution(execution.log[:cut])
        assert await answer(fn, resumed) == output == Output("a b c d e")
        assert resumed.fold().text == "a b c d e"


async def test_a_tool_that_takes_too_long_fails_with_timeout_and_is_measured_on_the_runs_clock() -> None:
    @tool(timeout=0.01)
    async def sleepy() -> None:
        execution.clock.ms += 250
        await asyncio.sleep(60)  # waits on purpose: to be cut off by the tool's timeout

    async def fn(ctx: Context) -> str:
        with pytest.raises(ToolFailed) as caught:
            await ctx.call(sleepy)
        return caught.value.error

    execution = FakeExecution()
    assert (await answer(fn, execution)).text == "timeout"
    (call,) = execution.fold().calls
    assert (call.error, call.ms) == ("timeout", 250)


async def test_wrong_arguments_are_refused_before_anything_is_recorded() -> None:
    @tool
    def add(a: int) -> int:
        return a

    async def fn(ctx: Context) -> None:
        with pytest.raises(Invalid):
            await ctx.call(add, a="secret")  # type: ignore[call-overload]
        with pytest.raises(Invalid):
            await ctx.call(add, a=object())  # type: ignore[call-overload]
        with pytest.raises(Invalid):
            await ctx.call("unknown")
        with pytest.raises(Invalid):
            await ctx.step("", add, 1)
        with pytest.raises(Invalid, match="add takes 1 argument"):
            await ctx.call(add, 1, 2)  # type: ignore[call-overload]
        with pytest.raises(Invalid, match="add gets a twice"):
            await ctx.call(add, 1, a=1)  # type: ignore[call-arg, arg-type]

    execution = FakeExecution()
    await answer(fn, execution)
    assert execution.types() == []
