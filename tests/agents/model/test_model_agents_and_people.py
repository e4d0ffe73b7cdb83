"""Tool calls of a model agent that need approval."""

from collections.abc import Mapping
from typing import Any

import pytest

from runyard.agents.execution import ModelOutput
from runyard.agents.tools.tool import Tool
from runyard.domain.events import ToolFinished, ToolStarted
from runyard.domain.state.conversation import messages
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked
from tests.agents.model.model_agents import (
    DONE,
    model_agent,
    pay,
    payloads,
    results,
    run_with_requests,
    turn_with_calls,
)


@pytest.mark.req("S1.17", "S1.22")
async def test_a_call_that_needs_approval_starts_after_it() -> None:
    agent, first = model_agent(turn_with_calls(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await run_until_parked(agent, first)
    assert "tool.started" not in first.types()
    assert first.approvals[0].name == "pay"
    assert first.approvals[0].input == {"amount": 5}

    execution = FakeExecution(log_with_decision(first.log, approval_id))
    output, requests = await run_with_requests(agent, execution)

    assert execution.types()[:2] == ["tool.started", "tool.finished"]
    assert results(requests[0]) == ["paid 5"]
    assert output.text == "All done."


@pytest.mark.req("S1.23")
async def test_a_rejected_call_is_not_made_and_the_model_is_told_why() -> None:
    agent, first = model_agent(turn_with_calls(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await run_until_parked(agent, first)

    execution = FakeExecution(log_with_decision(first.log, approval_id, "rejected", reason="Too much."))
    output, [request] = await run_with_requests(agent, execution)

    assert not {"tool.started", "tool.finished"} & set(execution.types())
    assert results(request) == ["A person rejected this call; it was not made. Reason: Too much."]
    assert output == ModelOutput("All done.", stop_reason="end_turn")


async def test_an_edited_call_is_made_as_edited_and_the_model_is_told() -> None:
    agent, first = model_agent(turn_with_calls(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await run_until_parked(agent, first)

    execution = FakeExecution(log_with_decision(first.log, approval_id, input={"amount": 3}))
    _, [request] = await run_with_requests(agent, execution)

    assert [started.input for started in payloads(execution, ToolStarted)] == [{"amount": 3}]
    assert results(request) == ['A person changed the input of this call to {"amount":3}.\npaid 3']
    assert messages(execution.fold(), "hello")[:-1] == list(request.messages), "the log tells the same"


async def test_an_edit_that_does_not_fit_is_told_to_the_model() -> None:
    agent, first = model_agent(turn_with_calls(("pay", {"amount": 5})), DONE), FakeExecution()
    [approval_id] = await run_until_parked(agent, first)

    execution = FakeExecution(log_with_decision(first.log, approval_id, input={"amount": "all"}))
    _, [request] = await run_with_requests(agent, execution)

    [said] = results(request)
    assert said.endswith("Error executing tool: The edited input of pay does not fit.")
    assert messages(execution.fold(), "hello")[:-1] == list(request.messages)


@pytest.mark.req("S1.19", "S1.55")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_other_calls_continue_any_decision_resumes_and_the_model_waits_for_all(order: tuple[int, int]) -> None:
    turn = turn_with_calls(("pay", {"amount": 1}), ("look", {"where": "x"}), ("pay", {"amount": 2}))
    agent, first = model_agent(turn, DONE), FakeExecution()
    approvals = await run_until_parked(agent, first)
    assert [finished.tool for finished in payloads(first, ToolFinished)] == ["look"], "it did not wait for the others"
    assert len(approvals) == 2

    one, other = (approvals[place] for place in order)
    second = FakeExecution(log_with_decision(first.log, one))
    assert await run_until_parked(agent, second) == [other], "it waits for what is left"
    assert second.types() == ["tool.started", "tool.finished"]

    third = FakeExecution(log_with_decision(second.log, other, "rejected"))
    _, [request] = await run_with_requests(agent, third)
    told = ["paid 1", "paid 2"]
    told[order[1]] = "A person rejected this call; it was not made."
    assert results(request) == [told[0], '{"seen":"x"}', told[1]]


async def test_a_rule_that_raises_asks_for_approval() -> None:
    def rule(given: Mapping[str, Any]) -> bool:
        raise KeyError("amount")

    ruled = Tool(pay.fn, approval=rule)
    assert (
        len(
            await run_until_parked(model_agent(turn_with_calls(("pay", {"amount": 5})), tools=[ruled]), FakeExecution())
        )
        == 1
    )
