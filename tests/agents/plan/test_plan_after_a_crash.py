"""A finished node of a plan is never run twice, and a `once` node only with approval."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from runyard.agents.declared.agent import OnUnknown
from runyard.agents.declared.kinds import plan
from runyard.agents.declared.nodes import Node
from runyard.agents.execution import Parked
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.agents.kinds.plan.runner import run_plan
from runyard.agents.tools.tool import Effects
from runyard.domain.events import Event
from runyard.errors import UnknownOutcome
from tests.agents.fake_execution import FakeExecution, log_with_decision
from tests.agents.plan.plan_agents import one, plan_of, step_results, three, two

# --- after a crash -----------------------------------------------------------------------------------------------


class Counting:
    """The plan of `one`, `two`, `three`, and a count of the calls of each."""

    def __init__(self) -> None:
        self.calls: list[str] = []

        def counted(fn: Callable[[NodeContext], Awaitable[Any]]) -> Node:
            async def call(ctx: NodeContext) -> Any:
                self.calls.append(ctx.node)
                return await fn(ctx)

            return Node(fn.__name__, call)

        self.agent = plan("p", [counted(fn) for fn in (one, two, three)])


async def whole_log() -> list[Event]:
    execution = FakeExecution()
    await run_plan(plan_of(one, two, three), execution)
    return execution.events


@pytest.mark.req("S4.46")
@pytest.mark.parametrize("cut", range(1, 11))
async def test_a_crash_at_any_event_repeats_no_finished_node(cut: int) -> None:
    log = (await whole_log())[:cut]
    finished = [event.name for event in log if event.type == "step.finished"]
    counting, resumed = Counting(), FakeExecution(log)
    await run_plan(counting.agent, resumed)

    assert counting.calls == [name for name in ("one", "two", "three") if name not in finished]
    assert step_results(resumed) == {"one": {"found": 1}, "two": ["two", 1], "three": None}
    types = [event.type for event in resumed.events]
    assert (types.count("step.started"), types.count("step.finished")) == (3, 3), "a start is told once"


async def test_the_nodes_of_a_plan_that_changed_meanwhile_are_known_by_their_names() -> None:
    log = (await whole_log())[:6]  # one and two have finished
    resumed = FakeExecution(log)
    await run_plan(plan_of(two, three), resumed)
    assert [event.name for event in resumed.new_events if event.type == "step.started"] == ["three"]


# --- a node that must not be done twice --------------------------------------------------------------------------


class Payer:
    def __init__(self, effects: Effects = "once", on_unknown: OnUnknown = "ask") -> None:
        self.paid = 0
        self.durable: list[str] = []
        self.execution: FakeExecution | None = None

        async def pay(ctx: NodeContext) -> str:
            assert self.execution is not None
            self.durable = [event.type for event in self.execution.log]
            self.paid += 1
            return "paid"

        self.agent = plan("p", [Node("pay", pay, effects=effects), Node("one", one)], on_unknown=on_unknown)

    async def run(self, log: list[Event] | None = None) -> FakeExecution:
        self.execution = FakeExecution(log or ())
        await run_plan(self.agent, self.execution)
        return self.execution

    async def parked(self, log: list[Event]) -> tuple[list[Event], str]:
        self.execution = FakeExecution(log)
        with pytest.raises(Parked) as caught:
            await run_plan(self.agent, self.execution)
        [approval_id] = caught.value.waits
        return self.execution.events, approval_id


async def begun() -> list[Event]:
    return (await Payer().run()).log[:2]


async def test_the_start_of_a_once_node_is_durable_before_it_is_called() -> None:
    payer = Payer()
    await payer.run()
    assert payer.durable == ["run.queued", "step.started"]


@pytest.mark.parametrize("effects", ["none", "idempotent"])
async def test_a_node_that_had_begun_is_called_again_unless_it_is_once(effects: Effects) -> None:
    payer = Payer(effects)
    await payer.run(await begun())
    assert payer.paid == 1


async def test_a_once_node_that_had_begun_is_called_again_only_if_a_person_says_so() -> None:
    payer = Payer()
    log, approval_id = await payer.parked(await begun())
    assert payer.paid == 0
    assert payer.execution is not None
    [approval] = payer.execution.approvals
    assert (approval.id, approval.kind, approval.name) == (approval_id, "unknown_outcome", "pay")

    waiting, same = await payer.parked(log)
    assert (same, payer.paid) == (approval_id, 0), "the question is not asked twice"

    allowed = await payer.run(log_with_decision(waiting, approval_id))
    assert payer.paid == 1
    assert step_results(allowed) == {"pay": "paid", "one": {"found": 1}}


async def test_a_repetition_that_was_allowed_and_died_is_asked_about_again() -> None:
    payer = Payer()
    log, approval_id = await payer.parked(await begun())
    allowed = await payer.run(log_with_decision(log, approval_id))
    again = next(event.seq for event in allowed.new_events if event.type == "step.started")
    _, other = await payer.parked(allowed.events[:again])
    assert other != approval_id


@pytest.mark.parametrize("decision", ["rejected", "expired"])
async def test_a_once_node_whose_repetition_is_rejected_ends_the_run(decision: Any) -> None:
    payer = Payer()
    log, approval_id = await payer.parked(await begun())
    with pytest.raises(UnknownOutcome):
        await payer.run(log_with_decision(log, approval_id, decision))
    assert payer.paid == 0


async def test_a_plan_with_on_unknown_fail_ends_with_an_unknown_outcome() -> None:
    payer = Payer(on_unknown="fail")
    with pytest.raises(UnknownOutcome):
        await payer.run(await begun())
    assert payer.paid == 0
