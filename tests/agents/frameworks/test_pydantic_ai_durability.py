"""The durability capability of pydantic-ai in a run: other operations as steps, any model, any toolset, one id."""

import ast
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pydantic_ai.durable_exec
import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import (
    AbstractCapability,
    LocalWorkspace,
    ModelFallback,
    ResolveModelId,
    durable_operation,
)
from pydantic_ai.durable_exec import BaseDurabilityCapability, DurabilityEngineSpec
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestContext, ModelResolutionContext
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

import runyard
from runyard.domain.events import Event, StepFinished, StepStarted
from runyard.testing import run_agent_sync
from tests.agents.frameworks.framework_agents import to_its_end
from tests.agents.frameworks.pydantic_ai_script import DONE, Script, calls

SOURCES = Path(runyard.__file__).parent / "agents" / "kinds" / "pydantic_ai"


def steps(log: list[Event]) -> list[str]:
    return [event.payload.step for event in log if isinstance(event.payload, StepFinished)]


def after(kind: type[StepStarted] | type[StepFinished], name: str, log: list[Event]) -> list[Event]:
    """The log up to and with this event of a step."""
    at = next(n for n, e in enumerate(log) if isinstance(e.payload, kind) and e.payload.step.startswith(name))
    return log[: at + 1]


class Budget(AbstractCapability[Any]):
    """A capability that reserves money before each request, and asks a service about each call."""

    id = "budget"

    def __init__(self, did: list[str]) -> None:
        self._did = did

    @durable_operation("reserve")
    async def reserve(self, ctx: RunContext[Any], cents: int) -> dict[str, int]:
        self._did.append("reserve")
        return {"reserved": cents}

    @durable_operation("check")
    async def check(self, ctx: RunContext[Any], tool: str) -> str:
        self._did.append("check")
        return tool

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> Any:
        self._did.append(str(await self.reserve(ctx, 5)))
        return request_context

    async def before_tool_execute(self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any) -> Any:
        await self.check(ctx, call.tool_name)
        return args


def careful() -> tuple[runyard.Agent, list[str]]:
    did: list[str] = []
    agent = Agent(Script(calls(("look", {})), DONE), name="clerk", capabilities=[Budget(did)])

    @agent.tool
    async def look(ctx: RunContext[None]) -> str:
        [budget] = [each for each in agent.root_capability.capabilities if isinstance(each, Budget)]
        return str(await budget.reserve(ctx, 1))

    return runyard.pydantic_ai(agent, effects={"budget.check": "none"}), did


async def test_a_durable_method_of_a_capability_is_a_step_and_is_not_repeated_after_a_crash() -> None:
    agent, did = careful()
    output, log, _ = await to_its_end(agent)
    [call] = [event.payload.call_id for event in log if event.type == "tool.requested"]  # type: ignore[union-attr]
    assert steps(log) == ["budget.reserve#1", "turn#1", f"budget.check:{call}#1", "budget.reserve#2", "turn#2"]
    assert did.count("reserve") == 3, "that of the tool belongs to the tool's call"
    agent, did = careful()
    again, _, asked = await to_its_end(agent, after(StepFinished, "budget.reserve#2", log))
    assert again == output
    assert (did, asked) == (["{'reserved': 5}", "{'reserved': 5}"], [])


async def test_a_durable_method_without_a_recorded_end_follows_its_effects() -> None:
    agent, _ = careful()
    _, log, _ = await to_its_end(agent)
    agent, did = careful()
    _, _, asked = await to_its_end(agent, after(StepStarted, "budget.check", log))
    assert ("check" in did, asked) == (True, []), "it has no effects, so it is repeated"
    agent, did = careful()
    with pytest.raises(runyard.UnknownOutcome):
        await to_its_end(agent, after(StepStarted, "budget.reserve#1", log))
    assert "reserve" not in did, "a person was asked, and said no"


class Compacting(Script):
    """A model that can summarize a conversation."""

    def __init__(self, did: list[str]) -> None:
        super().__init__(DONE)
        self._did = did

    async def compact_messages(self, request_context: Any, *, instructions: str | None = None) -> ModelResponse:
        self._did.append("compact")
        return ModelResponse([TextPart("They said hello.")])


class Summary(AbstractCapability[Any]):
    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> Any:
        found = await request_context.model.compact_messages(request_context)
        request_context.messages = [*request_context.messages[:-1], found, request_context.messages[-1]]
        return request_context


async def test_compacting_messages_is_a_step_and_is_not_repeated_after_a_crash() -> None:
    did: list[str] = []
    agent = runyard.pydantic_ai(Agent(model := Compacting(did), name="clerk", capabilities=[Summary()]))
    _, log, _ = await to_its_end(agent)
    assert steps(log) == ["compact_messages#1", "turn#1"]
    await to_its_end(agent, after(StepFinished, "compact_messages", log))
    assert did == ["compact"]
    assert ["They said hello." in str(messages) for messages in model.seen] == [True, True]


class Counting(AbstractCapability[Any]):
    """A hook that appends to a file in the workspace before each request."""

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> Any:
        before = await ctx.workspace.read_bytes("count") if await ctx.workspace.exists("count") else b""
        await ctx.workspace.write_bytes("count", before + b"1")
        return request_context


async def test_a_workspace_is_not_written_again_after_a_crash(tmp_path: Path) -> None:
    agent = Agent(Script(DONE), name="clerk", capabilities=[LocalWorkspace(tmp_path), Counting()])
    declared = runyard.pydantic_ai(agent)
    output, log, _ = await to_its_end(declared)
    assert steps(log) == ["workspace.call#1", "workspace.call#2", "workspace.call#3", "turn#1"]
    assert (await to_its_end(declared, after(StepFinished, "workspace.call#3", log)))[0] == output
    assert (tmp_path / "count").read_bytes() == b"1"


class OtherModel(AbstractCapability[Any]):
    """A hook that sends each request to another model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> Any:
        request_context.model = self._model
        return request_context


async def _refuses(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
    if messages:
        raise ModelHTTPError(500, "broken")
    yield ""


def overridden() -> Agent[Any, Any]:
    return Agent(TestModel(custom_output_text="no"), name="clerk")


def with_a_hook() -> Agent[Any, Any]:
    return Agent(TestModel(custom_output_text="no"), name="clerk", capabilities=[OtherModel(Script(DONE))])


def with_a_fallback() -> Agent[Any, Any]:
    return Agent(FallbackModel(FunctionModel(stream_function=_refuses), Script(DONE)), name="clerk")


def with_a_fallback_of_the_agent() -> Agent[Any, Any]:
    fallback = ModelFallback[Any](Script(DONE))
    return Agent(FunctionModel(stream_function=_refuses), name="clerk", capabilities=[fallback])


def without_streams() -> Agent[Any, Any]:
    return Agent(FunctionModel(lambda messages, info: ModelResponse([TextPart("All done.")])), name="clerk")


MODELS = [overridden, with_a_hook, with_a_fallback, with_a_fallback_of_the_agent, without_streams]


@pytest.mark.parametrize("made", MODELS)
def test_the_model_of_a_request_may_be_any(made: Callable[[], Agent[Any, Any]]) -> None:
    agent = made()
    with agent.override(model=Script(DONE)) if made is overridden else _as_it_is():
        result = run_agent_sync(runyard.pydantic_ai(agent), "hi")
    assert (result.status, result.text) == ("done", "All done.")
    tokens = [event.type for event in result.events if event.type == "model.token"]
    assert len(tokens) == (1 if made is without_streams else 2), "it is streamed if the model can"


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


def test_a_model_may_be_a_name_which_is_resolved_once_for_a_run() -> None:
    resolved: list[str] = []

    def resolve(ctx: ModelResolutionContext[Any], name: str) -> Model:
        resolved.append(name)
        return Script(calls(("look", {})), DONE)

    agent = Agent("mine", name="clerk", capabilities=[ResolveModelId(resolve)])

    @agent.tool_plain
    def look() -> str:
        return "seen"

    result = run_agent_sync(runyard.pydantic_ai(agent), "hi")
    assert (result.status, result.text, resolved) == ("done", "All done.", ["mine"])


def test_a_model_that_is_no_name_is_not_resolved() -> None:
    def resolve(ctx: ModelResolutionContext[Any], name: str) -> Model:
        raise AssertionError(name)

    agent = Agent(Script(DONE), name="clerk", capabilities=[ResolveModelId(resolve)])
    assert run_agent_sync(runyard.pydantic_ai(agent), "hi").text == "All done."


def test_a_stream_that_breaks_keeps_its_text_and_ends_the_run() -> None:
    async def breaks(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "One "
        raise ModelHTTPError(503, "broken")

    result = run_agent_sync(runyard.pydantic_ai(Agent(FunctionModel(stream_function=breaks), name="clerk")), "hi")
    assert (result.status, result.error and result.error.code) == ("error", "model_unavailable")
    assert [event.type for event in result.events].count("model.token") == 1


async def test_toolsets_need_no_ids_and_may_be_added_for_a_run() -> None:
    did: list[str] = []

    def toolset(name: str) -> FunctionToolset[Any]:
        made = FunctionToolset[Any]()

        @made.tool_plain(name=name)
        def tool() -> str:
            did.append(name)
            return name

        return made

    wanted = calls(("first", {}), ("second", {}), ("third", {}))
    agent = Agent(Script(wanted, DONE), name="clerk", toolsets=[toolset("first"), toolset("other")])

    @agent.toolset
    def chosen(ctx: RunContext[Any]) -> FunctionToolset[Any]:
        return toolset("second")

    declared = runyard.pydantic_ai(agent)
    with agent.override(toolsets=[*agent.toolsets, toolset("third")]):
        output, log, _ = await to_its_end(declared)
        ends = [n for n, event in enumerate(log) if event.type == "tool.finished"]
        assert sorted(did) == ["first", "second", "third"]
        again, _, _ = await to_its_end(declared, log[: ends[-1] + 1])
        assert again == output
    assert len(did) == 3


async def test_the_run_has_the_same_ids_in_pydantic_ai_after_a_crash() -> None:
    seen: list[tuple[str | None, str | None]] = []
    agent = Agent(Script(calls(("look", {})), DONE), name="clerk")

    @agent.tool
    def look(ctx: RunContext[object]) -> str:
        seen.append((ctx.run_id, ctx.conversation_id))
        return "seen"

    declared = runyard.pydantic_ai(agent, effects={"look": "none"})
    _, log, _ = await to_its_end(declared)
    started = next(n for n, event in enumerate(log) if event.type == "tool.started")
    await to_its_end(declared, log[: started + 1])
    assert seen[0] == seen[1]
    assert seen[0][0] == log[0].run_id


class OtherEngine(BaseDurabilityCapability[Any]):
    """A durability capability of the agent's author, which does nothing outside of its engine."""

    engine_spec = DurabilityEngineSpec(
        engine_name="Other",
        durable_unit_noun="step",
        durable_container_noun="flow",
        wrapped_toolset_kinds=frozenset(),
    )
    in_durable_context = False

    def get_durable_operation_backend(self) -> Any:
        return None


def test_an_agent_with_another_durable_engine_is_refused() -> None:
    agent = Agent(Script(DONE), name="clerk", capabilities=[OtherEngine()])
    result = run_agent_sync(runyard.pydantic_ai(agent), "hi")
    assert (result.status, result.text) == ("error", "")
    assert result.error is not None
    assert "durable execution engine" in str(result.error.traceback)


def test_only_public_names_of_pydantic_ai_are_used() -> None:
    used: dict[str, set[str]] = {}
    for source in SOURCES.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pydantic_ai"):
                used.setdefault(node.module or "", set()).update(name.name for name in node.names)
    assert not [each for module in used for each in (*module.split("."), *used[module]) if each.startswith("_")]
    assert {"BaseDurabilityCapability", "DurableOperationBackend"} <= used["pydantic_ai.durable_exec"]
    assert used["pydantic_ai.durable_exec"] <= set(pydantic_ai.durable_exec.__all__)
