"""A plan runs its nodes one after another, each within its timeout; two runs do not affect each other."""

import asyncio
from typing import Any

import pytest

from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.kinds.plan.runner import run_plan
from runyard.agents.kinds.runners import RUNNERS
from runyard.domain.state.fold import fold
from runyard.errors import NodeFailed
from tests.agents.fake_execution import FakeExecution
from tests.agents.plan.plan_agents import event_lines, one, plan_of, step_results, three, two

# --- in order ----------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.47", "S4.46")
async def test_nodes_run_in_order_and_only_the_runner_writes_their_start_and_end() -> None:
    execution = FakeExecution()
    await run_plan(plan_of(one, two, three), execution)

    assert event_lines(execution) == [
        "step.started one",
        "trace one.check",
        "step.finished one",
        "step.started two",
        "step.finished two",
        "step.started three",
        "trace three.first",
        "trace three.second",
        "step.finished three",
    ]


@pytest.mark.req("S4.47")
async def test_a_node_sees_what_the_nodes_before_it_returned_and_nothing_later() -> None:
    seen: list[dict[str, Any]] = []

    async def first(ctx: NodeContext) -> Any:
        seen.append(dict(ctx.results))
        return {"a": (1, 2)}

    async def second(ctx: NodeContext) -> Any:
        seen.append(dict(ctx.results))

    async def third(ctx: NodeContext) -> Any:
        seen.append(dict(ctx.results))
        with pytest.raises(TypeError):
            ctx.results["first"] = "changed"  # type: ignore[index]

    await run_plan(plan_of(first, second, third), FakeExecution())
    assert seen == [{}, {"first": {"a": [1, 2]}}, {"first": {"a": [1, 2]}, "second": None}]


async def test_a_node_knows_its_run_its_name_and_its_own_key() -> None:
    keys: list[str] = []

    async def ask(ctx: NodeContext) -> None:
        keys.extend([ctx.idempotency_key(), ctx.idempotency_key("mail"), ctx.run_id, ctx.node])
        assert (ctx.attempt, ctx.cancelled()) == (1, False)
        assert ctx.message is not None
        assert ctx.message.text == "hello"

    await run_plan(plan_of(ask), FakeExecution())
    assert keys == ["run-1:ask", "run-1:ask:mail", "run-1", "ask"]


async def test_a_result_is_durable_before_the_next_node_begins() -> None:
    durable: list[list[str]] = []
    execution = FakeExecution()

    async def look(ctx: NodeContext) -> None:
        durable.append([event.type for event in execution.log])

    async def again(ctx: NodeContext) -> None:
        await look(ctx)

    await run_plan(plan_of(look, again), execution)
    assert durable[1] == ["run.queued", "step.started", "step.finished"]


async def test_a_plan_outside_of_a_thread_has_no_output() -> None:
    assert await RUNNERS["plan"](plan_of(one), FakeExecution(thread_id=None)) is None


@pytest.mark.parametrize(("result", "text"), [("words", "words"), (None, ""), ([1, "é"], '[1,"é"]'), (0, "0")])
async def test_in_a_thread_a_plan_answers_with_what_its_last_node_returned(result: Any, text: str) -> None:
    async def last(ctx: NodeContext) -> Any:
        return result

    execution = FakeExecution()
    output = await run_plan(plan_of(one, last), execution)
    assert output is not None
    assert (output.text, fold(execution.events).text) == (text, text)
    resumed = FakeExecution(execution.events)
    assert await run_plan(plan_of(one, last), resumed) == output
    assert fold(resumed.events).text == text, "an answer that was begun is taken back and written again"


async def test_a_mark_waits_when_the_journal_is_full() -> None:
    execution = FakeExecution()
    execution.congested = True
    await run_plan(plan_of(one), execution)
    assert execution.drains == 1


@pytest.mark.parametrize("mark", ["", "a b", "ä", "x" * 129, '{"user": 1}', "a\n"])
async def test_a_mark_is_a_name_and_never_content(mark: str) -> None:
    async def tell(ctx: NodeContext) -> None:
        await ctx.trace(mark)

    execution = FakeExecution()
    with pytest.raises(NodeFailed) as caught:
        await run_plan(plan_of(tell), execution)
    assert caught.value.message == "The node tell failed with Invalid."
    assert execution.types() == ["step.started"]


# --- two at once -------------------------------------------------------------------------------------------------


@pytest.mark.req("S4.47", "S4.34")
async def test_two_runs_of_one_plan_do_not_affect_each_other() -> None:
    executions = [FakeExecution(text=text, thread_id=None) for text in ("a", "b")]
    both = asyncio.Barrier(2)

    async def say(ctx: NodeContext) -> str:
        await both.wait()
        assert ctx.message is not None
        return ctx.message.text

    async def repeat(ctx: NodeContext) -> str:
        await both.wait()
        return str(ctx.results["say"]) * 2

    agent = plan_of(say, repeat)
    await asyncio.gather(*[run_plan(agent, execution) for execution in executions])
    assert [step_results(execution) for execution in executions] == [
        {"say": "a", "repeat": "aa"},
        {"say": "b", "repeat": "bb"},
    ]
    for execution in executions:
        assert [event.seq for event in execution.events] == [1, 2, 3, 4, 5]
