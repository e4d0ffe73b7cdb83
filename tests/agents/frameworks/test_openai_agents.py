"""An agent of OpenAI Agents SDK in a run, with a model over HTTP: recorded requests and calls, handoffs, approvals."""

import asyncio
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import agents
import pytest
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI
from pydantic import BaseModel

import runyard
from runyard.agents.execution import Canceled
from runyard.agents.kinds.runners import RUNNERS
from runyard.domain.events import StepFinished, ToolFinished
from runyard.domain.redaction.redactor import Redactor
from runyard.errors import Invalid
from runyard.testing import Decision, RunResult, run_agent
from tests.agents.fake_execution import FakeExecution
from tests.agents.frameworks.framework_agents import crashed_at_every_event, to_its_end
from tests.support.eventually import PATIENCE
from tests.support.fakes.fake_chat_api import FakeChatApi, fake_chat_api
from tests.support.fakes.scripted_openai import begin, scripted_openai, text

DONE = {"text": ["All ", "done."]}


@pytest.fixture(scope="module")
def api() -> Iterator[FakeChatApi]:
    with fake_chat_api() as server:
        yield server


@cache
def model_at(url: str) -> agents.Model:
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    return agents.OpenAIChatCompletionsModel("gpt-5-mini", client)


def agent_of(api: FakeChatApi, **options: Any) -> agents.Agent[Any]:
    return agents.Agent(name="clerk", model=model_at(api.url), **options)


async def run(agent: agents.Agent[Any], *turns: Any, tools: Any = (), effects: Any = None, **given: Any) -> RunResult:
    declared = runyard.openai_agents(agent, tools=tools, effects=effects)
    return await run_agent(declared, json.dumps(turns), max_seconds=PATIENCE, **given)


def calls(*wanted: tuple[str, Any], **more: Any) -> Any:
    return {"calls": wanted, **more}


def paying(did: list[str]) -> agents.FunctionTool:
    @agents.function_tool(needs_approval=True)
    def pay(amount: int) -> str:
        "Pay."
        did.append("pay")
        return f"paid {amount}"

    return pay


PROGRAM = [
    calls(("look", {"what": "A"}), text=["Let me ", "see."]),
    calls(("transfer_to_billing", {})),
    calls(("pay", {"amount": 3})),
    DONE,
]


async def test_at_any_event_a_crash_repeats_nothing_silently_and_the_answer_is_the_same(api: FakeChatApi) -> None:
    def payer() -> tuple[runyard.Agent, list[str]]:
        did: list[str] = []

        @agents.function_tool
        async def look(what: str) -> dict[str, str]:
            "Look."
            did.append("look")
            return {"seen": what}

        billing = agents.Agent(name="billing", model=model_at(api.url), tools=[paying(did)])
        return runyard.openai_agents(agent_of(api, tools=[look], handoffs=[billing]), effects={"look": "none"}), did

    await crashed_at_every_event(payer, once="pay", text=json.dumps(PROGRAM))


async def test_the_log_is_that_of_a_model_agent_and_a_handoff_is_a_step(api: FakeChatApi) -> None:
    billing = agents.Agent(name="billing", model=model_at(api.url), tools=[paying([])])
    agent = runyard.openai_agents(agent_of(api, handoffs=[agents.handoff(billing)]))
    program = [*PROGRAM[1:2], calls(("pay", {"amount": 3})), DONE]
    output, log, _ = await to_its_end(agent, text=json.dumps(program))
    types = [event.type for event in log if not event.type.startswith(("run.", "trace"))]
    assert types == [
        "step.started", "model.message", "step.finished", "step.started", "step.finished",
        "step.started", "model.message", "step.finished", "tool.requested",
        "approval.requested", "approval.decided", "tool.started", "tool.finished",
        "step.started", "model.token", "model.token", "model.message", "step.finished",
    ]  # fmt: skip
    assert output.text == "All done."
    ends = [event.payload for event in log if isinstance(event.payload, StepFinished)]
    assert (ends[1].name, ends[1].result) == ("handoff", {"from": "clerk", "to": "billing"})


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (True, "paid 3"),
        (Decision(True, input={"amount": 5}), "paid 5"),
        (Decision(False, reason="Too much."), "A person rejected this call; it was not made. Reason: Too much."),
    ],
    ids=["approved", "edited", "rejected"],
)
async def test_a_tool_that_needs_approval_waits_for_a_person(api: FakeChatApi, decision: Any, told: str) -> None:
    result = await run(
        agent_of(api, tools=[paying([])]), calls(("pay", {"amount": 3})), DONE, decisions={"pay": decision}
    )
    assert result.text == "All done."
    assert [asked.name for asked in result.approvals] == ["pay"]
    assert api.requests[-1]["messages"][-1]["content"] == told


class Seat(BaseModel):
    row: int
    window: bool = False


async def test_the_output_type_is_kept(api: FakeChatApi) -> None:
    result = await run(agent_of(api, output_type=Seat), {"text": ['{"row": 7, "window": true}']})
    assert result.answer_as(Seat) == Seat(row=7, window=True)
    result = await run(agent_of(api, output_type=Seat), {"text": ["Seven."]})
    assert (result.status, result.error and result.error.code) == ("error", "invalid_answer")


async def test_the_limit_of_turns_ends_the_run(api: FakeChatApi) -> None:
    @agents.function_tool
    def look() -> str:
        raise ZeroDivisionError

    agent = runyard.openai_agents(agent_of(api, tools=[look]), max_turns=1)
    result = await run_agent(agent, json.dumps([calls(("look", {}), text=["One moment."]), DONE]))
    assert (result.status, result.stop_reason, result.text) == ("done", "max_steps", "One moment.")
    assert "An error occurred" in result.tool_calls[0].output, "the SDK tells the model"


async def test_tools_of_runyard_keep_their_rules(api: FakeChatApi) -> None:
    @runyard.tool(approval="always")
    async def refund(order: str) -> str:
        "Pay an order back."
        return f"refunded {order}"

    locate = runyard.client_tool("locate", "Return the city.", answer={"type": "string"})
    wanted = calls(("refund", {"order": "A"}), ("locate", {}), ("refund", {"order": 1}))
    result = await run(
        agent_of(api), wanted, DONE, tools=[refund, locate], decisions={"refund": True}, answers={"locate": "Oslo"}
    )
    assert sorted(str(call.output) for call in result.tool_calls) == [
        "Error executing tool: The arguments of refund do not fit: expected `str`, got `int` - at `$.order`.",
        "Oslo",
        "refunded A",
    ]


async def test_an_agent_that_is_a_tool_is_one_recorded_call(api: FakeChatApi) -> None:
    inner = agents.Agent(name="inner", model=model_at(api.url))
    asked = json.dumps([{"text": ["Inside."]}])
    agent = agent_of(api, tools=[inner.as_tool("ask_inner", "Ask.")])
    result = await run(agent, calls(("ask_inner", {"input": asked})), DONE)
    assert [(call.tool, call.output) for call in result.tool_calls] == [("ask_inner", "Inside.")]
    assert [step.name for step in result.steps] == ["think", "think"], "requests inside the call are part of it"
    assert result.text == "All done."


class Traces(agents.TracingProcessor):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        self.seen.append(trace)

    def on_trace_end(self, trace: Any) -> None: ...

    def on_span_start(self, span: Any) -> None:
        self.seen.append(span)

    def on_span_end(self, span: Any) -> None: ...

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


async def test_the_sdk_traces_only_if_it_is_told_to(api: FakeChatApi) -> None:
    traces = Traces()
    agents.set_trace_processors([traces])
    try:
        await run(agent_of(api), DONE)
        assert traces.seen == []
        agent = runyard.openai_agents(agent_of(api), tracing=True)
        await run_agent(agent, json.dumps([DONE]))
        assert traces.seen
    finally:
        agents.set_trace_processors([])


async def test_a_cancel_closes_the_request_to_the_model() -> None:
    async with scripted_openai() as server:
        server.answer(begin(), *text("He"), server.stall())
        execution = FakeExecution()
        agent = runyard.openai_agents(agents.Agent(name="slow", model=model_at(server.api_base)))
        running = asyncio.ensure_future(RUNNERS["openai_agents"](agent, execution))
        await asyncio.wait_for(server.reached.wait(), PATIENCE)
        execution.cancelled = True  # as the engine does it: set the flag, cancel the task
        running.cancel()
        with pytest.raises((Canceled, asyncio.CancelledError)):
            await running
        await asyncio.wait_for(server.hung_up.wait(), PATIENCE)


async def test_a_call_of_an_mcp_server_is_recorded(api: FakeChatApi, tmp_path: Path) -> None:
    program = Path(__file__).parents[1] / "tools" / "mcp_server_for_tests.py"
    async with MCPServerStdio(
        {"command": sys.executable, "args": [str(program), str(tmp_path)]}, client_session_timeout_seconds=PATIENCE
    ) as server:
        agent = runyard.openai_agents(agent_of(api, mcp_servers=[server]))
        _, log, _ = await to_its_end(agent, text=json.dumps([calls(("add", {"a": 2, "b": 3})), DONE]))
    assert [event.payload.tool for event in log if isinstance(event.payload, ToolFinished)] == ["add"]


async def test_the_agent_goes_on_with_the_redacted_text(api: FakeChatApi) -> None:
    @agents.function_tool
    def save(text: str) -> str:
        return "from bob@example.org"

    wanted = [calls(("save", {"text": "mail ada@example.org"})), DONE]
    execution = FakeExecution(redactor=Redactor(["email"]), text=json.dumps(wanted))
    await RUNNERS["openai_agents"](runyard.openai_agents(agent_of(api, tools=[save])), execution)
    await execution.commit()
    assert b"example.org" not in b"".join(event.data for event in execution.log)
    assert "example.org" not in str(api.requests[-1]["messages"][2:])


def test_an_object_that_is_not_an_agent_is_refused(api: FakeChatApi) -> None:
    with pytest.raises(Invalid, match="not an agent of OpenAI Agents SDK"):
        runyard.openai_agents("clerk")  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="max_turns"):
        runyard.openai_agents(agent_of(api), max_turns=0)
