"""An agent of pydantic-ai in a run: recorded requests and calls, approvals, external tools, output types, history."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.transports import StdioTransport
from pydantic import BaseModel
from pydantic_ai import Agent, ApprovalRequired, CallDeferred, ModelRetry, RunContext, ToolDefinition
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import BinaryContent, ModelMessage, ToolReturn
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import AbstractToolset, ExternalToolset, ToolsetTool
from pydantic_ai.toolsets.external import TOOL_SCHEMA_VALIDATOR
from pydantic_ai.usage import UsageLimits

import runyard
from runyard.agents.execution import Canceled, ModelOutput
from runyard.agents.kinds.runners import RUNNERS
from runyard.domain.events import ToolFinished
from runyard.domain.redaction.redactor import Redactor
from runyard.errors import Invalid
from runyard.testing import Decision, RunResult, run_agent_sync
from tests.agents.fake_execution import FakeExecution
from tests.agents.frameworks.framework_agents import crashed_at_every_event, to_its_end
from tests.agents.frameworks.pydantic_ai_script import DONE, Script, calls
from tests.support.eventually import PATIENCE


def agent_of(model: Script, **options: Any) -> Agent[Any, Any]:
    return Agent(model, name="clerk", **options)


def run(agent: Agent[Any, Any], text: str = "hi", *, effects: Any = None, **given: Any) -> RunResult:
    return run_agent_sync(runyard.pydantic_ai(agent, effects=effects), text, **given)


def payer() -> tuple[runyard.Agent, list[str]]:
    """An agent that looks something up and pays it, and the list of what it did."""
    did: list[str] = []
    script = Script(
        calls(("look", {"what": "A"}), ("pay", {"amount": 3}), text=["Let me ", "see."]), calls(("fly", {})), DONE
    )
    agent = agent_of(script)

    @agent.tool_plain
    async def look(what: str) -> dict[str, str]:
        did.append("look")
        return {"seen": what}

    @agent.tool_plain(requires_approval=True)
    def pay(amount: int) -> str:
        did.append("pay")
        return f"paid {amount}"

    return runyard.pydantic_ai(agent, effects={"look": "none"}), did


async def test_at_any_event_a_crash_repeats_nothing_silently_and_the_answer_is_the_same() -> None:
    await crashed_at_every_event(payer, once="pay")


async def test_the_log_is_that_of_a_model_agent() -> None:
    output, log, _ = await to_its_end(payer()[0])
    types = [event.type for event in log if not event.type.startswith(("run.", "trace"))]
    assert types == [
        "step.started", "model.token", "model.token", "model.message", "step.finished",
        "tool.requested", "tool.requested", "tool.started", "tool.finished",
        "approval.requested", "approval.decided", "tool.started", "tool.finished",
        "step.started", "model.message", "step.finished", "tool.requested", "tool.started", "tool.finished",
        "step.started", "model.token", "model.token", "model.message", "step.finished",
    ]  # fmt: skip
    assert output.text == "Let me see.\n\nAll done."
    assert isinstance(output, ModelOutput)
    assert output.last == "All done."


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (True, "paid 3"),
        (Decision(True, input={"amount": 5}), "paid 5"),
        (Decision(False, reason="Too much."), "A person rejected this call; it was not made. Reason: Too much."),
    ],
    ids=["approved", "edited", "rejected"],
)
def test_a_tool_that_requires_approval_waits_for_a_person(decision: Any, told: str) -> None:
    script = Script(calls(("pay", {"amount": 3})), DONE)
    agent = agent_of(script)

    @agent.tool_plain(requires_approval=True)
    def pay(amount: int) -> str:
        return f"paid {amount}"

    result = run(agent, decisions={"pay": decision})
    assert result.text == "All done."
    assert [asked.name for asked in result.approvals] == ["pay"]
    assert script.seen[-1][-1].parts[0].content == told  # type: ignore[union-attr]


def test_a_tool_may_ask_for_an_approval_itself_and_is_then_called_once_more() -> None:
    ran: list[bool] = []
    agent = agent_of(Script(calls(("pay", {"amount": 300})), DONE))

    @agent.tool
    def pay(ctx: RunContext[None], amount: int) -> str:
        ran.append(ctx.tool_call_approved)
        if amount > 100 and not ctx.tool_call_approved:
            raise ApprovalRequired
        return "paid"

    result = run(agent, decisions={"pay": True})
    assert ran == [False, True]
    assert [call.output for call in result.tool_calls] == ["paid"]


def test_external_and_deferred_tools_wait_for_the_client() -> None:
    where = ToolDefinition(name="locate", parameters_json_schema={"type": "object", "properties": {}})
    script = Script(calls(("locate", {}), ("print_page", {"page": 2})), DONE)
    agent = agent_of(script, toolsets=[ExternalToolset([where])])
    queued: list[int] = []

    @agent.tool_plain
    def print_page(page: int) -> str:
        queued.append(page)
        raise CallDeferred

    result = run(agent, answers={"locate": "Oslo", "print_page": {"printed": True}})
    assert result.text == "All done."
    assert queued == [2], "the function is called once"
    assert {call.tool: call.output for call in result.tool_calls} == {"locate": "Oslo", "print_page": {"printed": True}}


class Seat(BaseModel):
    row: int
    window: bool = False


@pytest.mark.parametrize(
    ("output_type", "given", "outputs"),
    [(Seat, {"row": 7}, {"row": 7, "window": False}), (list[int], {"response": [1, 2]}, {"output": [1, 2]})],
    ids=["a model", "a list"],
)
def test_the_output_type_is_kept(output_type: Any, given: Any, outputs: Any) -> None:
    result = run(agent_of(Script(calls(("final_result", given))), output_type=output_type))
    assert result.outputs == outputs
    assert json.loads(result.text) == outputs.get("output", outputs)
    assert result.tool_calls == [], "the output tool is the answer, not a call"
    if output_type is Seat:
        assert result.answer_as(Seat) == Seat(row=7)


def test_an_answer_that_does_not_fit_ends_the_run_after_the_retries() -> None:
    result = run(agent_of(Script(*[calls(("final_result", {"row": "x"}))] * 3), output_type=Seat))
    assert (result.status, result.error and result.error.code) == ("error", "invalid_answer")


def test_a_tool_that_raises_model_retry_is_recorded_and_the_model_tries_again() -> None:
    script = Script(calls(("look", {"what": "A"})), calls(("look", {"what": "B"})), DONE)
    agent = agent_of(script)

    @agent.tool_plain
    def look(what: str) -> str:
        if what == "A":
            raise ModelRetry("Try B.")
        return "seen"

    result = run(agent)
    assert [(call.error, call.output) for call in result.tool_calls] == [
        ("tool_error", "Error executing tool: Try B."),
        (None, "seen"),
    ]
    assert "Try B." in str(script.seen[1][-1])


def test_a_tool_that_raises_ends_the_run_as_in_pydantic_ai() -> None:
    agent = agent_of(Script(calls(("look", {})), DONE))

    @agent.tool_plain
    def look() -> str:
        raise ZeroDivisionError

    result = run(agent)
    assert (result.status, result.error and result.error.code) == ("error", "tool_failed")


class OtherServer(AbstractToolset[Any]):
    """A toolset that calls its tools elsewhere, as that of an MCP server does."""

    def __init__(self, did: list[Any]) -> None:
        self._did = did

    @property
    def id(self) -> str:
        return "other"

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        described = ToolDefinition(name="fetch", parameters_json_schema={"type": "object", "properties": {}})
        return {
            "fetch": ToolsetTool(toolset=self, tool_def=described, max_retries=1, args_validator=TOOL_SCHEMA_VALIDATOR)
        }

    async def call_tool(self, name: str, tool_args: Any, ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        self._did.append(name)
        return ToolReturn({"page": 1}, content=["a picture", BinaryContent(b"\x89PNG", media_type="image/png")])


async def test_calls_of_servers_are_recorded_under_the_names_that_the_model_knows_with_their_files() -> None:
    did: list[Any] = []

    def made() -> tuple[runyard.Agent, Script]:
        script = Script(calls(("web_fetch", {})), DONE)
        agent = agent_of(script, toolsets=[OtherServer(did).prefixed("web").approval_required()])
        return runyard.pydantic_ai(agent), script

    agent, first = made()
    _, log, asked = await to_its_end(agent)
    assert (did, asked) == (["fetch"], ["tool"])
    assert [event.payload.tool for event in log if event.type == "tool.started"] == ["web_fetch"]  # type: ignore[union-attr]
    before_the_answer = next(n for n, event in enumerate(log) if event.type == "tool.finished") + 1
    agent, second = made()
    await to_its_end(agent, log[:before_the_answer])
    assert did == ["fetch"]
    assert [_content(message) for message in second.seen[-1]] == [_content(message) for message in first.seen[-1]]


def _content(message: ModelMessage) -> list[Any]:
    return [getattr(part, "content", getattr(part, "args", None)) for part in message.parts]


def test_earlier_runs_are_the_message_history_and_the_system_prompt_stays() -> None:
    script = Script(DONE)
    run(agent_of(script, system_prompt="Be kind."), "And now?", history=[("Hello", "Hi there.")])
    [messages] = script.seen
    said = [(part.part_kind, part.content) for message in messages for part in message.parts]  # type: ignore[union-attr]
    assert said == [
        ("system-prompt", "Be kind."),
        ("user-prompt", "Hello"),
        ("text", "Hi there."),
        ("user-prompt", "And now?"),
    ]


def test_tools_of_runyard_keep_their_rules() -> None:
    @runyard.tool(approval="always")
    async def refund(order: str, amount: int = 0) -> str:
        "Pay an order back."
        return f"refunded {order}"

    locate = runyard.client_tool("locate", "Return the city.", answer={"type": "string"})
    wanted = calls(("refund", {"amount": 5, "order": "A"}), ("locate", {}), ("refund", {"order": 1}))
    agent = agent_of(Script(wanted, DONE))
    declared = runyard.pydantic_ai(agent, tools=[refund, locate])
    result = run_agent_sync(declared, "hi", decisions={"refund": True}, answers={"locate": "Oslo"})
    assert result.text == "All done."
    assert list(result.approvals[0].input) == ["order", "amount"], "in the order of the tool"
    assert sorted(str(call.output) for call in result.tool_calls) == [
        "Error executing tool: The arguments of refund do not fit: expected `str`, got `int` - at `$.order`.",
        "Oslo",
        "refunded A",
    ]


def test_dependencies_are_made_for_each_run() -> None:
    agent = agent_of(Script(calls(("who", {})), DONE))

    @agent.tool
    def who(ctx: RunContext[str]) -> str:
        return ctx.deps

    async def deps(ctx: runyard.Context) -> str:
        return f"asked {ctx.message.text}"

    result = run_agent_sync(runyard.pydantic_ai(agent, deps_factory=deps), "hello")
    assert [call.output for call in result.tool_calls] == ["asked hello"]


def test_limits_of_pydantic_ai_end_the_run() -> None:
    agent = agent_of(Script(calls(("look", {}), text=["One moment."]), DONE))

    @agent.tool_plain
    def look() -> str:
        return "seen"

    result = run_agent_sync(runyard.pydantic_ai(agent, usage_limits=UsageLimits(request_limit=1)), "hi")
    assert (result.status, result.stop_reason, result.text) == ("done", "max_steps", "One moment.")


async def test_a_cancel_closes_the_request_to_the_model() -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "One "
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()

    execution = FakeExecution()
    agent = runyard.pydantic_ai(Agent(FunctionModel(stream_function=stream), name="slow"))
    running = asyncio.ensure_future(RUNNERS["pydantic_ai"](agent, execution))
    await asked.wait()
    execution.cancelled = True  # as the engine does it: set the flag, cancel the task
    running.cancel()
    with pytest.raises((Canceled, asyncio.CancelledError)):
        await running
    assert closed.is_set()


async def test_the_agent_goes_on_with_the_redacted_text() -> None:
    got: list[str] = []
    script = Script(calls(("save", {"text": "mail ada@example.org"})), DONE)
    agent = agent_of(script)

    @agent.tool_plain
    def save(text: str) -> str:
        got.append(text)
        return "from bob@example.org"

    execution = FakeExecution(redactor=Redactor(["email"]))
    await RUNNERS["pydantic_ai"](runyard.pydantic_ai(agent), execution)
    await execution.commit()
    log = b"".join(event.data for event in execution.log)
    assert b"example.org" not in log
    assert "example.org" not in str(script.seen[-1]) + got[0]


def test_an_object_that_is_not_an_agent_is_refused() -> None:
    with pytest.raises(Invalid, match="not an agent of pydantic-ai"):
        runyard.pydantic_ai("clerk")  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="effects"):
        runyard.pydantic_ai(agent_of(Script(DONE)), effects={"look": "twice"})  # type: ignore[dict-item]


async def test_a_call_of_an_mcp_server_is_recorded(tmp_path: Path) -> None:
    server = Path(__file__).parents[1] / "tools" / "mcp_server_for_tests.py"
    toolset = MCPToolset(StdioTransport(sys.executable, [str(server), str(tmp_path)]), init_timeout=PATIENCE)
    agent = agent_of(Script(calls(("add", {"a": 2, "b": 3})), DONE), toolsets=[toolset])
    _, log, _ = await to_its_end(runyard.pydantic_ai(agent))
    ends = [event.payload for event in log if isinstance(event.payload, ToolFinished)]
    assert [(end.tool, end.output) for end in ends] == [("add", 5)]
