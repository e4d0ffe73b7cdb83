"""A call that may have happened is repeated only if its declaration or a person allows it."""

from collections.abc import Callable

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, OnUnknown
from runyard.agents.declared.kinds import agent
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.tools.tool import Effects, tool
from runyard.domain.events import Event
from runyard.errors import UnknownOutcome
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked


class Sender:
    """An agent that sends one mail, by a tool or in a step, and the list of sent mails."""

    def __init__(self, effects: Effects, on_unknown: OnUnknown = "ask", by_step: bool = False) -> None:
        self.sent: list[str] = []
        self.durable_before: list[str] = []
        self.execution: FakeExecution | None = None

        @tool(effects=effects)
        async def send(to: str, idempotency_key: str = "") -> dict[str, str]:
            return self._send(to, idempotency_key)

        @agent(on_unknown=on_unknown)
        async def sender(ctx: Context) -> str:
            try:
                if by_step:
                    step = ctx.step_once if effects == "once" else ctx.step
                    await step("send", self._send, "ada", ctx.idempotency_key("mail"))
                else:
                    await ctx.call(send, to="ada")
            except UnknownOutcome:
                return "unknown"
            return "sent"

        self.agent: Agent = sender

    def _send(self, to: str, key: str) -> dict[str, str]:
        assert self.execution is not None
        self.durable_before = [event.type for event in self.execution.log]
        self.sent.append(key)
        return {"to": to}

    async def run(self, log: list[Event] | None = None) -> FakeExecution:
        self.execution = FakeExecution(log or ())
        self.output = await run_python(self.agent, self.execution)
        return self.execution

    async def park(self, log: list[Event]) -> tuple[FakeExecution, str]:
        self.execution = FakeExecution(log)
        (approval_id,) = await run_until_parked(self.agent, self.execution)
        return self.execution, approval_id


async def begun(sender: Sender) -> list[Event]:
    """Return a log that ends after the call's start."""
    log = (await sender.run()).log
    sender.sent.clear()
    return log[: next(event.seq for event in log if event.type in ("tool.started", "step.started"))]


both_ways = pytest.mark.parametrize("by_step", [False, True], ids=["tool", "step"])
Make = Callable[..., Sender]


@both_ways
async def test_the_start_of_a_once_call_is_durable_before_the_call(by_step: bool) -> None:
    sender = Sender("once", by_step=by_step)
    await sender.run()

    assert sender.durable_before[-1] == ("step.started" if by_step else "tool.started")


async def test_the_start_of_any_tool_is_durable_before_the_call() -> None:
    sender = Sender("none")
    await sender.run()

    assert sender.durable_before[-1] == "tool.started"


@both_ways
@pytest.mark.parametrize("effects", ["none", "idempotent"])
async def test_a_repeatable_call_is_repeated_with_the_same_key_and_no_second_start(
    effects: Effects, by_step: bool
) -> None:
    sender = Sender(effects, by_step=by_step)
    execution = await sender.run(await begun(sender))

    assert sender.sent == ["run-1:mail" if by_step else "run-1:send#1"]
    assert execution.types() == ["step.finished" if by_step else "tool.finished"]


@both_ways
async def test_a_once_call_without_an_end_asks_a_person_and_is_not_made(by_step: bool) -> None:
    sender = Sender("once", by_step=by_step)
    execution, approval_id = await sender.park(await begun(sender))

    assert sender.sent == []
    assert execution.types() == ["approval.requested"]
    (approval,) = execution.approvals
    assert (approval.id, approval.kind, approval.call_id, approval.name) == (
        approval_id,
        "unknown_outcome",
        "send#1",
        "send",
    )


@both_ways
async def test_an_unanswered_question_is_not_asked_twice(by_step: bool) -> None:
    sender = Sender("once", by_step=by_step)
    waiting, approval_id = await sender.park(await begun(sender))
    again, same_id = await sender.park(waiting.log)

    assert same_id == approval_id
    assert again.approvals == []


@both_ways
async def test_approved_means_called_again_and_a_second_crash_asks_again(by_step: bool) -> None:
    sender = Sender("once", by_step=by_step)
    waiting, approval_id = await sender.park(await begun(sender))
    approved = log_with_decision(waiting.log, approval_id)

    execution = await sender.run(approved)
    assert len(sender.sent) == 1
    assert sender.output.text == "sent"

    crashed = execution.log[: execution.began + 1]  # after the second start
    assert crashed[-1].type in ("tool.started", "step.started")
    _, second_id = await sender.park(crashed)
    assert second_id != approval_id
    assert len(sender.sent) == 1


@both_ways
@pytest.mark.parametrize("decision", ["rejected", "expired"])
async def test_rejected_means_the_agent_is_told_that_the_outcome_is_unknown(decision: str, by_step: bool) -> None:
    sender = Sender("once", by_step=by_step)
    waiting, approval_id = await sender.park(await begun(sender))
    execution = await sender.run(log_with_decision(waiting.log, approval_id, decision))  # type: ignore[arg-type]

    assert sender.sent == []
    assert sender.output.text == "unknown"
    replayed = await sender.run(execution.log)
    assert (sender.output.text, replayed.types()) == ("unknown", [])


@both_ways
async def test_on_unknown_fail_neither_asks_nor_repeats(by_step: bool) -> None:
    sender = Sender("once", on_unknown="fail", by_step=by_step)
    execution = await sender.run(await begun(sender))

    assert sender.sent == []
    assert sender.output.text == "unknown"
    assert execution.approvals == []


def test_a_tool_without_declared_effects_counts_as_once() -> None:
    @tool
    def anything() -> None: ...

    assert anything.effects == "once"


async def test_a_step_and_a_tool_of_one_name_have_different_keys() -> None:
    @tool
    def send() -> str:
        return "by tool"

    @agent
    async def fn(ctx: Context) -> str:
        return f"{await ctx.step('send', lambda: 'by step')} {await ctx.call(send)}"

    execution = FakeExecution()

    assert (await run_python(fn, execution)).text == "by step by tool"
    assert (await run_python(fn, FakeExecution(execution.log))).text == "by step by tool"
    state = execution.fold()
    assert (state.steps[0].key, state.calls[0].call_id) == ("send#1", "send#2")
