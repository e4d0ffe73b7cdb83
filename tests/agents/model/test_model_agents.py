"""A model agent asks, calls tools and answers; every call has exactly one result for the model."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runyard.agents.execution import ModelOutput
from runyard.agents.tools.tool import tool
from runyard.agents.user_code.current_call import set_current_execution, stream_output
from runyard.domain.events import ModelMessage, StepFinished, ToolFinished, ToolOutput, ToolStarted, Usage
from runyard.domain.state.conversation import messages
from runyard.errors import ToolFailed
from tests.agents.fake_execution import FakeExecution, run_until_parked
from tests.agents.model.model_agents import (
    DONE,
    model_agent,
    payloads,
    results,
    run_to_output,
    run_with_requests,
    turn_with_calls,
)

# --- think, call, observe ----------------------------------------------------------------------------------------


@pytest.mark.req("S1.44", "S1.14")
async def test_a_turn_is_a_step_with_its_text_its_message_and_what_it_cost() -> None:
    turn = {
        "thinking": ["hm", "m"],
        "text": ["He", "llo"],
        "usage": {"input_tokens": 3, "output_tokens": 2, "usd": 0.01},
    }
    execution = FakeExecution(text="hi")
    output, [request] = await run_with_requests(model_agent(turn, instructions="Be kind."), execution)

    assert output == ModelOutput("Hello", stop_reason="end_turn")
    assert execution.types() == [
        "step.started", "model.thinking", "model.thinking", "model.token", "model.token", "model.message",
        "step.finished",
    ]  # fmt: skip
    [message] = payloads(execution, ModelMessage)
    assert message.message == {"role": "assistant", "content": "Hello", "reasoning_content": "hmm"}
    assert payloads(execution, StepFinished)[0].usage == Usage(3, 2, 0.01)
    assert execution.fold().usage == Usage(3, 2, 0.01), "what a turn cost is counted once"
    assert request.messages == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    assert [described["function"]["name"] for described in request.tools] == ["look", "pay"]
    assert request.tools[0]["function"]["parameters"]["required"] == ["where"]


@pytest.mark.req("S1.14", "S1.44")
async def test_the_model_gets_the_result_of_the_tool_and_then_answers() -> None:
    execution = FakeExecution()
    agent = model_agent(turn_with_calls(("look", {"where": "here"}), text="One moment."), DONE)
    output, [_, second] = await run_with_requests(agent, execution)

    assert output.text == "One moment.\n\nAll done."
    assert output.text == execution.fold().text, "the answer is what was shown"
    assert execution.types() == [
        "step.started", "model.token", "model.message", "step.finished", "tool.requested", "tool.started",
        "tool.finished", "step.started", "model.token", "model.token", "model.message", "step.finished",
    ]  # fmt: skip
    assert [message["role"] for message in second.messages] == ["user", "assistant", "tool"]
    assert results(second) == ['{"seen":"here"}']


@pytest.mark.req("S1.55")
async def test_the_calls_of_a_turn_run_concurrently_and_their_results_keep_the_order() -> None:
    both = asyncio.Barrier(2)

    @tool(effects="none")
    async def meet(name: str) -> str:
        await asyncio.wait_for(both.wait(), 5)
        return name

    execution = FakeExecution()
    agent = model_agent(turn_with_calls(("meet", {"name": "a"}), ("meet", {"name": "b"})), DONE, tools=[meet])
    _, requests = await run_with_requests(agent, execution)

    assert results(requests[1]) == ["a", "b"]
    assert execution.types()[3:7] == ["tool.requested", "tool.requested", "tool.started", "tool.started"]


async def test_the_answer_is_the_whole_text_and_names_the_last_message() -> None:
    turns = turn_with_calls(("look", {"where": "x"}), text=["Let me look."]), DONE
    output, _ = await run_with_requests(model_agent(*turns), FakeExecution())

    assert output == ModelOutput("Let me look.\n\nAll done.", stop_reason="end_turn", last="All done.")


async def test_a_message_and_its_requested_calls_are_one_append() -> None:
    execution = FakeExecution()
    turn = turn_with_calls(("look", {"where": "x"}), ("pay", {"amount": 1}), ("pay", {"amount": 2}))
    await run_until_parked(model_agent(turn), execution)

    committed = execution.commits[0]
    assert committed[-7:] == [
        "model.message", "step.finished", "tool.requested", "tool.requested", "approval.requested",
        "tool.requested", "approval.requested",
    ]  # fmt: skip


@pytest.mark.req("S1.54")
async def test_a_tool_may_show_its_output_while_it_runs(tmp_path: Path) -> None:
    @tool(effects="none")
    async def dig() -> str:
        await stream_output("10 %")
        await stream_output("90 %")
        return "gold"

    execution = FakeExecution()
    with set_current_execution(execution, tmp_path):
        _, requests = await run_with_requests(model_agent(turn_with_calls(("dig", {})), DONE, tools=[dig]), execution)

    shown = payloads(execution, ToolOutput)
    assert [(piece.call_id, piece.text) for piece in shown] == [("call_1_1", "10 %"), ("call_1_1", "90 %")]
    assert results(requests[1]) == ["gold"]


async def test_calls_get_ids_of_their_own_where_the_provider_repeats_them() -> None:
    same = {
        "calls": [
            {"tool": "look", "input": {"where": "x"}, "id": "c"},
            {"tool": "look", "input": {"where": "y"}, "id": ""},
        ]
    }
    execution = FakeExecution()
    await run_to_output(model_agent(same, same, DONE), execution)

    ids = [started.call_id for started in payloads(execution, ToolStarted)]
    assert len(ids) == len(set(ids)) == 4
    assert ids[0] == "c"
    assert len(messages(execution.fold(), "hi")) == 1 + 3 + 3 + 1


# --- what goes wrong in a call is told to the model --------------------------------------------------------------


@pytest.mark.req("S1.41")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("order 7 is closed"), "Error executing tool: order 7 is closed"),
        (ValueError(), "Error executing tool: ValueError"),
        (ValueError("x" * 5000), f"Error executing tool: {'x' * 4000} ... (1000 characters left out)"),
        (ToolFailed("Out of stock."), "Error executing tool: Out of stock."),
        (TimeoutError(), "Error executing tool: timeout"),
        (SystemExit(3), "Error executing tool: The tool called exit."),
    ],
)
async def test_an_exception_of_a_tool_becomes_its_result(error: BaseException, told: str) -> None:
    @tool(effects="none")
    async def fails() -> None:
        raise error

    execution = FakeExecution()
    output, requests = await run_with_requests(
        model_agent(turn_with_calls(("fails", {})), DONE, tools=[fails]), execution
    )

    assert output.text == "All done."
    assert results(requests[1]) == [told]
    [finished] = payloads(execution, ToolFinished)
    assert finished.output == told
    assert finished.error is not None


@pytest.mark.req("S1.41")
async def test_the_settings_can_withhold_the_text_of_an_exception() -> None:
    @tool(effects="none")
    async def fails() -> None:
        raise ValueError("a secret")

    @tool(effects="none")
    async def declines() -> None:
        raise ToolFailed("Out of stock.")

    execution = FakeExecution()
    execution.tells_tool_errors = False
    agent = model_agent(turn_with_calls(("fails", {}), ("declines", {})), DONE, tools=[fails, declines])
    _, requests = await run_with_requests(agent, execution)

    assert results(requests[1]) == ["Error executing tool: ValueError", "Error executing tool: Out of stock."]


@pytest.mark.req("S1.41", "S1.15")
@pytest.mark.parametrize(
    ("call", "told", "code"),
    [
        ({"tool": "fly", "input": {}}, "There is no tool of that name.", "unknown_tool"),
        ({"tool": "look", "arguments": "{oops"}, "The arguments are not valid JSON.", "invalid_input"),
        ({"tool": "look", "arguments": "[1]"}, "The arguments are not a JSON object.", "invalid_input"),
        ({"tool": "look", "input": {"where": 5}}, "The arguments of look do not fit: expected `str`", "invalid_input"),
        ({"tool": "pay", "input": {}}, "The arguments of pay do not fit: object missing", "invalid_input"),
    ],
)
async def test_the_model_gets_the_reason_why_a_call_cannot_be_made(call: dict[str, Any], told: str, code: str) -> None:
    execution = FakeExecution()
    output, requests = await run_with_requests(model_agent({"calls": [call]}, DONE), execution)

    assert output == ModelOutput("All done.", stop_reason="end_turn")
    [said] = results(requests[1])
    assert said.startswith(f"Error executing tool: {told}")
    assert [finished.error for finished in payloads(execution, ToolFinished)] == [code]
    assert execution.types()[3:6] == ["tool.requested", "tool.started", "tool.finished"]
