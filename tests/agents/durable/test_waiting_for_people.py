"""Approvals: the run leaves its worker, resumes by replay, and loses no work in flight."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent
from runyard.agents.execution import Parked
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.tools.tool import tool
from runyard.errors import Nondeterministic, Rejected, ToolFailed
from tests.agents.fake_execution import FakeExecution, log_with_decision, python_agent, run_until_parked


@tool(approval="always")
def pay(amount: int) -> dict[str, int]:
    """Move money."""
    return {"paid": amount}


@python_agent
async def payer(ctx: Context) -> str:
    await ctx.token("Paying. ")
    try:
        result = await ctx.call(pay, amount=5)
    except Rejected as no:
        return f"rejected: {no.reason}"
    except ToolFailed as failed:
        return failed.error
    return f"paid {result['paid']}"


async def test_a_tool_that_needs_approval_is_requested_and_not_called() -> None:
    execution = FakeExecution()
    (approval_id,) = await run_until_parked(payer, execution)

    assert execution.types() == ["model.token", "tool.requested", "approval.requested"]
    (approval,) = execution.approvals
    assert (approval.id, approval.kind, approval.call_id, approval.input) == (
        approval_id,
        "tool",
        "pay#1",
        {"amount": 5},
    )


async def test_an_approved_tool_is_called_and_the_text_before_it_is_not_written_again() -> None:
    waiting = FakeExecution()
    (approval_id,) = await run_until_parked(payer, waiting)
    execution = FakeExecution(log_with_decision(waiting.log, approval_id))

    assert (await run_python(payer, execution)).text == "paid 5"
    assert execution.types() == ["tool.started", "tool.finished"]


async def test_an_edited_input_is_used_and_recorded() -> None:
    waiting = FakeExecution()
    (approval_id,) = await run_until_parked(payer, waiting)
    execution = FakeExecution(log_with_decision(waiting.log, approval_id, input={"amount": 3}))

    assert (await run_python(payer, execution)).text == "paid 3"
    assert execution.fold().calls[0].input == {"amount": 3}
    replayed = FakeExecution(execution.log)
    assert (await run_python(payer, replayed)).text == "paid 3"
    assert replayed.types() == []


@pytest.mark.parametrize("edited", [{"amount": "much"}, {"other": 1}, "text"])
async def test_an_edited_input_that_does_not_fit_is_not_called(edited: object) -> None:
    waiting = FakeExecution()
    (approval_id,) = await run_until_parked(payer, waiting)
    execution = FakeExecution(log_with_decision(waiting.log, approval_id, input=edited))

    assert (await run_python(payer, execution)).text == "invalid_input"
    assert execution.types() == []


async def test_after_a_rejection_the_agent_gets_the_reason_but_not_in_the_message() -> None:
    waiting = FakeExecution()
    (approval_id,) = await run_until_parked(payer, waiting)
    execution = FakeExecution(log_with_decision(waiting.log, approval_id, "rejected", reason="too much"))

    assert (await run_python(payer, execution)).text == "rejected: too much"
    assert "too much" not in Rejected("The call of pay was rejected.", reason="too much").message


async def test_a_rule_decides_from_the_input_whether_a_person_is_asked() -> None:
    def large(given: Mapping[str, Any]) -> bool:
        return bool(given["amount"] > 10)

    @tool(approval=large)
    def move(amount: int) -> int:
        return amount

    @agent(tools=[move])
    async def mover(ctx: Context) -> str:
        return str(await ctx.call("move", amount=int(ctx.message.text)))

    assert (await run_python(mover, FakeExecution(text="10"))).text == "10"
    assert len(await run_until_parked(mover, FakeExecution(text="11"))) == 1


@pytest.mark.parametrize(("decision", "answer"), [("approved", "True"), ("rejected", "False"), ("expired", "False")])
async def test_a_question_is_answered_by_a_person(decision: Any, answer: str) -> None:
    @python_agent
    async def asker(ctx: Context) -> str:
        return str(await ctx.request_approval("Really?", cost=3))

    waiting = FakeExecution()
    (approval_id,) = await run_until_parked(asker, waiting)

    assert waiting.approvals[0].input == {"question": "Really?", "cost": 3}
    assert (
        await run_python(asker, FakeExecution(log_with_decision(waiting.log, approval_id, decision)))
    ).text == answer


async def test_another_question_than_the_one_on_record_is_nondeterministic() -> None:
    def asking(question: str) -> Agent:
        @agent(name="a")
        async def fn(ctx: Context) -> str:
            return str(await ctx.request_approval(question))

        return fn

    waiting = FakeExecution()
    (approval_id,) = await run_until_parked(asking("Really?"), waiting)

    with pytest.raises(Nondeterministic):
        await run_python(asking("Truly?"), FakeExecution(log_with_decision(waiting.log, approval_id)))


class Crowd:
    """Two calls that need approval, beside work that does not."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.tasks: set[asyncio.Task[Any]] = set()

        async def slow(name: str) -> str:
            for _ in range(50):
                await asyncio.sleep(0)
            self.done.append(name)
            return name

        async def chain(ctx: Context) -> str:
            return "".join([await ctx.step(name, slow, name) for name in "abc"])

        @python_agent
        async def crowd(ctx: Context) -> str:
            results = await asyncio.gather(ctx.call(pay, amount=1), chain(ctx), ctx.call(pay, amount=2))
            return repr(results)

        self.agent = crowd


async def test_other_calls_finish_and_are_recorded_before_the_run_parks_on_all_open_approvals() -> None:
    crowd, execution = Crowd(), FakeExecution()
    approvals = await run_until_parked(crowd.agent, execution)

    assert approvals == [approval.id for approval in execution.approvals]
    assert len(approvals) == 2
    assert crowd.done == ["a", "b", "c"]
    assert execution.types().count("step.finished") == 3


async def test_one_decision_runs_one_call_and_parks_again_on_the_rest() -> None:
    crowd, waiting = Crowd(), FakeExecution()
    first, second = await run_until_parked(crowd.agent, waiting)

    once_more = FakeExecution(log_with_decision(waiting.log, second))
    assert await run_until_parked(crowd.agent, once_more) == [first]
    assert once_more.types() == ["tool.started", "tool.finished"]

    last = FakeExecution(log_with_decision(once_more.log, first))
    assert (await run_python(crowd.agent, last)).text == "[{'paid': 1}, 'abc', {'paid': 2}]"
    assert crowd.done == ["a", "b", "c"], "finished steps were called again"


async def test_no_task_of_a_parked_run_continues() -> None:
    before = asyncio.all_tasks()

    @python_agent
    async def stray(ctx: Context) -> None:
        async def forever() -> None:
            while True:
                await ctx.step("tick", lambda: None)
                await asyncio.sleep(3600)  # waits on purpose: to be ended with the run

        background = asyncio.create_task(forever())
        await asyncio.sleep(0)
        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.request_approval("A?"))
            group.create_task(ctx.request_approval("B?"))
        await background

    assert len(await run_until_parked(stray, FakeExecution())) == 2
    assert asyncio.all_tasks() == before


async def test_an_agent_that_swallows_its_cancellation_cannot_write_any_more() -> None:
    @python_agent
    async def stubborn(ctx: Context) -> str:
        try:
            await ctx.request_approval("May I?")
        except asyncio.CancelledError:
            try:
                await ctx.token("nevertheless")
            finally:
                return "done"  # noqa: B012
        return "approved"

    execution = FakeExecution()
    with pytest.raises(Parked):
        await run_python(stubborn, execution)
    assert execution.types() == ["approval.requested"]


async def test_an_error_beside_a_question_ends_the_run() -> None:
    @python_agent
    async def fn(ctx: Context) -> None:
        async def fail() -> None:
            await ctx.step("ok", lambda: None)
            raise ValueError

        await asyncio.gather(ctx.request_approval("A?"), fail())

    with pytest.raises(Exception, match="failed with ValueError"):
        await run_python(fn, FakeExecution())


async def test_a_task_between_two_steps_keeps_the_run_from_parking() -> None:
    @python_agent
    async def fn(ctx: Context) -> None:
        async def pausing() -> None:
            await ctx.step("first", lambda: None)
            for _ in range(10):
                await asyncio.sleep(0)
            await ctx.step("second", lambda: None)

        await asyncio.gather(ctx.request_approval("A?"), pausing())

    execution = FakeExecution()
    await run_until_parked(fn, execution)
    assert execution.types().count("step.finished") == 2
