"""A python agent that dies at any event resumes from the log: it repeats no finished call and shows no text twice."""

import asyncio
from collections import Counter

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.tools.tool import tool
from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from runyard.errors import Nondeterministic, StepFailed
from tests.agents.fake_execution import FakeExecution, python_agent

TEXT = "Let me see. I am writing inside. Found 2 and 3. Done."


class Scene:
    """An agent that uses every call, and a count of the calls that really happened."""

    def __init__(self) -> None:
        self.happened: Counter[str] = Counter()
        self.agent = self._agent()

    def _agent(self) -> Agent:
        happened = self.happened

        def look_up(word: str, times: int) -> dict[str, object]:
            happened[f"look up {word}"] += 1
            return {"word": word, "times": times}

        async def write_inside(ctx: Context) -> str:
            happened["write inside"] += 1
            for word in ("I ", "am ", "writing ", "inside. "):
                await ctx.token(word)
            return "written"

        async def broken() -> None:
            happened["broken"] += 1
            raise ValueError("with content")

        @tool(effects="idempotent")
        async def count(what: str, idempotency_key: str = "") -> dict[str, object]:
            happened[f"count {idempotency_key}"] += 1
            return {"what": what, "count": happened.total()}

        @agent
        async def everything(ctx: Context) -> Output:
            await ctx.trace("start")
            await ctx.thinking("hm ")
            await ctx.token("Let me ")
            await ctx.token("see. ")
            first = await ctx.step("look up", look_up, "a", times=2)
            await ctx.step("write", write_inside, ctx)
            await ctx.thinking("well ")
            second = await ctx.step("look up", look_up, "b", times=3)
            await ctx.call(count, what="x")
            await ctx.token(f"Found {first['times']} ")
            with pytest.raises(StepFailed):
                await ctx.step("break", broken)
            await ctx.token(f"and {second['times']}. ")
            await ctx.call(count, what="y")
            await ctx.trace("end")
            await ctx.token("Done.")
            return Output(sources=[str(first["word"]), str(second["word"])])

        return everything


async def play(log: list[Event] | None = None) -> tuple[Scene, FakeExecution, Output]:
    scene, execution = Scene(), FakeExecution(log or ())
    output = await run_python(scene.agent, execution)
    await execution.commit()
    return scene, execution, output


def results(events: list[Event]) -> list[tuple[str, object]]:
    state = fold(events)
    steps = [(step.key, step.error or step.result) for step in state.steps]
    return [*steps, *((call.call_id, call.input) for call in state.calls)]


def without_display(types: list[str]) -> list[str]:
    return [
        kind for kind in types if kind not in ("run.resumed", "model.reset", "model.token", "model.thinking", "trace")
    ]


@pytest.mark.req("S0.25", "S0.33")
async def test_resuming_after_any_event_gives_the_same_answer_and_repeats_nothing_finished() -> None:
    _, whole, output = await play()
    assert output == Output(TEXT, ["a", "b"], {})
    assert fold(whole.log).text == TEXT

    for cut in range(1, len(whole.log) + 1):
        prefix = whole.log[:cut]
        scene, resumed, again = await play(prefix)

        assert again == output
        assert resumed.fold().text == TEXT
        assert resumed.fold().thinking == "hm well "
        assert results(resumed.events) == results(whole.log)
        assert without_display(resumed.types()) == without_display([event.type for event in whole.log[cut:]])
        assert sum(scene.happened.values()) == 6 - len(
            [e for e in prefix if e.type in ("step.finished", "tool.finished")]
        )
        assert set(scene.happened.values()) <= {1}


async def test_a_second_crash_at_any_event_of_the_resumed_run_changes_nothing() -> None:
    _, whole, output = await play()

    for first in range(1, len(whole.log), 3):
        _, resumed, _ = await play(whole.log[:first])
        for second in range(first, len(resumed.log)):
            _, again, answer = await play(resumed.log[:second])

            assert answer == output
            assert again.fold().text == TEXT
            assert results(again.events) == results(whole.log)


@pytest.mark.req("S0.18")
async def test_without_a_crash_the_tokens_are_the_answer_and_nothing_is_reset() -> None:
    _, execution, output = await play()

    tokens = [event.payload.text for event in execution.log if event.type == "model.token"]  # type: ignore[union-attr]
    assert "".join(tokens) == output.text
    assert "model.reset" not in execution.types()


async def test_unfinished_text_is_withdrawn_once_and_first() -> None:
    _, whole, _ = await play()
    cut = next(event.seq for event in whole.log if event.type == "model.token") + 1

    _, resumed, _ = await play(whole.log[:cut])

    assert resumed.types()[0] == "model.reset"
    assert resumed.types().count("model.reset") == 1


async def test_text_beside_a_running_step_is_neither_lost_nor_shown_twice() -> None:
    async def slow() -> int:
        for _ in range(4):
            await asyncio.sleep(0)
        return 1

    async def write(ctx: Context) -> None:
        for number in range(8):
            await ctx.token(f"{number} ")
            await asyncio.sleep(0)

    @python_agent
    async def both(ctx: Context) -> None:
        await asyncio.gather(ctx.step("slow", slow), write(ctx))

    whole = FakeExecution()
    output = await run_python(both, whole)
    await whole.commit()
    for cut in range(1, len(whole.log) + 1):
        resumed = FakeExecution(whole.log[:cut])

        assert await run_python(both, resumed) == output
        assert resumed.fold().text == "0 1 2 3 4 5 6 7 "


async def test_only_text_that_a_step_wrote_itself_counts_as_its_text() -> None:
    """The silent step has the context as well, and a step may reach the context through any object."""
    holder: dict[str, Context] = {}

    async def silent(ctx: Context) -> None:
        for _ in range(4):
            await asyncio.sleep(0)

    async def through_a_holder() -> None:
        await holder["ctx"].token("inside ")

    async def write(ctx: Context) -> None:
        for number in range(8):
            await ctx.token(f"{number} ")
            await asyncio.sleep(0)

    @python_agent
    async def both(ctx: Context) -> None:
        holder["ctx"] = ctx
        await ctx.step("inside", through_a_holder)
        await asyncio.gather(ctx.step("silent", silent, ctx), write(ctx))

    whole = FakeExecution()
    output = await run_python(both, whole)
    await whole.commit()
    for cut in range(1, len(whole.log) + 1):
        resumed = FakeExecution(whole.log[:cut])

        assert await run_python(both, resumed) == output
        assert resumed.fold().text == "inside 0 1 2 3 4 5 6 7 "


async def test_other_arguments_than_recorded_are_nondeterministic() -> None:
    async def same(value: object) -> object:
        return value

    def asking(value: object) -> Agent:
        @agent(name="a")
        async def fn(ctx: Context) -> str:
            return str(await ctx.step("same", same, value))

        return fn

    first = FakeExecution()
    await run_python(asking(1), first)

    assert (await run_python(asking(1), FakeExecution(first.log))).text == "1"
    with pytest.raises(Nondeterministic):
        await run_python(asking(2), FakeExecution(first.log))


async def test_a_tool_called_with_other_input_than_recorded_is_nondeterministic() -> None:
    @tool
    def echo(value: int) -> int:
        return value

    def asking(value: int) -> Agent:
        @agent(name="a")
        async def fn(ctx: Context) -> str:
            return str(await ctx.call(echo, value=value))

        return fn

    first = FakeExecution()
    await run_python(asking(1), first)

    with pytest.raises(Nondeterministic):
        await run_python(asking(2), FakeExecution(first.log))


async def test_other_text_than_the_first_time_stays_silent_until_the_last_recorded_result_is_used() -> None:
    def saying(text: str) -> Agent:
        @agent(name="a")
        async def fn(ctx: Context) -> None:
            await ctx.token(text)
            await ctx.step("nothing", lambda: None)
            await ctx.token("after")

        return fn

    first = FakeExecution()
    await run_python(saying("one "), first)
    resumed = FakeExecution([event for event in first.log if event.type != "model.token" or event.seq < 4])

    assert (await run_python(saying("two "), resumed)).text == "two after"
    assert resumed.fold().text == "one after"
