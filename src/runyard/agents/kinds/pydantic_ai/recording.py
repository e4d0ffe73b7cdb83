"""The durability capability that records a run of pydantic-ai. Imported only when such an agent runs.

It is built on pydantic-ai's public API for durability backends (`pydantic_ai.durable_exec`). The base class turns
requests to the model, durable methods of capabilities and calls of workspaces into operations, and `backend.py` records
these. Text is streamed by the event stream handler, which the base class calls inside the operation.

Two things differ from other engines, because a run stays in one process and its agent was not written for Runyard:

- Any model may be asked. The base class knows models by their ids, so that another process can build them. Here all
  requests go through `AnyModel`, which it knows.
- Any toolset is recorded, without an id, also one that is added for a run. The base class wraps three kinds of toolsets
  that have ids, and encodes results in a form that only pydantic-ai may read. Here `RecordedToolset` makes the
  operation, and the log has the result as the tool returned it.

Calls that need an approval, and calls that another process makes, become waits (`handle_deferred_tool_calls`).
"""

import asyncio
from collections.abc import AsyncIterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.agent import AbstractAgent, WrapperAgent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.capabilities.abstract import WrapModelRequestHandler, leaf_capabilities
from pydantic_ai.durable_exec import (
    JSON_CODEC,
    BaseDurabilityCapability,
    DurabilityEngineSpec,
    DurableOperation,
    ToolsetCallToolId,
    ToolsetCallToolParams,
)
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import (
    AgentStreamEvent,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
from pydantic_ai.toolsets import AbstractToolset, ExternalToolset, ToolsetTool, WrapperToolset

from runyard.agents.kinds.frameworks.messages import RequestedTool
from runyard.agents.kinds.frameworks.run import FrameworkRun
from runyard.agents.kinds.pydantic_ai.backend import LogBackend, NoCacheIdentity, ToolResultCodec
from runyard.domain.state.conversation import refusal

RUN_MODEL = "runyard-model-of-this-run"


class Recording(BaseDurabilityCapability[Any]):
    """Records one run. `models` are models that durable methods of capabilities may get."""

    engine_spec = DurabilityEngineSpec(
        engine_name="Runyard",
        durable_unit_noun="step",
        durable_container_noun="run",
        codec=JSON_CODEC,
    )

    def __init__(self, name: str, run: FrameworkRun, backend: LogBackend, models: Mapping[str, Model] = {}) -> None:
        super().__init__(name=name, models=models, event_stream_handler=self._write)
        self._run = run
        self._backend = backend

    @property
    def in_durable_context(self) -> bool:
        return True

    def get_durable_operation_backend(self) -> LogBackend:
        return self._backend

    def get_default_run_id(self) -> str:
        return self._run.context.run_id

    def get_default_conversation_id(self, run_id: str) -> str:
        return self._run.context.thread_id or run_id

    def for_agent(self, agent: AbstractAgent[Any, Any]) -> AbstractCapability[Any]:
        return super().for_agent(_AgentOfRun(agent, self._backend.model))

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """Bind again, with the model of the run: durable methods of capabilities may ask it."""
        assert ctx.agent is not None
        assert isinstance(ctx.model, Model)
        models = {RUN_MODEL: ctx.model}
        bound = Recording(self.name, self._run, self._backend, models).for_agent(ctx.agent)
        return next(each for each in leaf_capabilities(bound) if isinstance(each, Recording))

    # --- the model

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        self._backend.model.answer_for(request_context)
        return await super().wrap_model_request(ctx, request_context=request_context, handler=handler)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self._backend.model.answer_for(request_context)
        return await super().before_model_request(ctx, request_context)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self._backend.model.answer_for(request_context)
        return await super().prepare_model_request(ctx, request_context)

    async def _write(self, ctx: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
        """Write the text of a response as it arrives."""
        async for event in events:
            match event:
                case PartStartEvent(part=TextPart(content=text)):
                    await self._run.token(text)
                case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                    await self._run.token(text)
                case PartStartEvent(part=ThinkingPart(content=text)):
                    await self._run.context.thinking(text)
                case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
                    await self._run.context.thinking(text)
                case _:
                    pass

    # --- tools

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return toolset.visit_and_replace(self._recorded)

    def _recorded(self, leaf: AbstractToolset[Any]) -> AbstractToolset[Any]:
        if isinstance(leaf, ExternalToolset):
            return leaf  # its tools are not called here
        return RecordedToolset(leaf, self._backend)

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults:
        """Wait for people and clients, for all calls at once."""
        approvals = [self._approval(part) for part in requests.approvals]
        calls = [self._from_client(part, ctx) for part in requests.calls]
        found = await asyncio.gather(*approvals, *calls)
        decided, answered = found[: len(approvals)], found[len(approvals) :]
        return DeferredToolResults(approvals=dict(decided), calls=dict(answered))

    async def _approval(self, part: ToolCallPart) -> tuple[str, ToolApproved | ToolDenied]:
        decided = await self._run.decision(self._requested(part))
        if decided.state == "approved":
            return part.tool_call_id, ToolApproved(override_args=decided.edited)
        return part.tool_call_id, ToolDenied(refusal(decided))

    async def _from_client(self, part: ToolCallPart, ctx: RunContext[Any]) -> tuple[str, Any]:
        manager = ctx.tool_manager
        definition = None if manager is None else manager.get_tool_def(part.tool_name)
        schema = {} if definition is None else definition.parameters_json_schema
        result = await self._run.from_client(self._requested(part), schema)
        return part.tool_call_id, result.output if result.error is None else ToolFailed(str(result.output))

    def _requested(self, part: ToolCallPart) -> RequestedTool:
        call = self._run.requested(part.tool_call_id)
        assert call is not None  # the model requested it
        return call


class _AgentOfRun(WrapperAgent[Any, Any]):
    """The agent as the base class binds it: with one model that it knows, and without toolsets for it to wrap."""

    def __init__(self, wrapped: AbstractAgent[Any, Any], model: Model) -> None:
        super().__init__(wrapped)
        self._model = model

    @property
    def model(self) -> Model:
        return self._model

    @property
    def toolsets(self) -> Sequence[AbstractToolset[Any]]:
        return ()


@dataclass
class RecordedToolset(WrapperToolset[Any]):
    """A toolset whose calls are durable operations."""

    backend: LogBackend

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        operation = DurableOperation[ToolsetCallToolParams, Any, Any](
            operation_id=ToolsetCallToolId("function", toolset_id=self.id or self.label),
            handler=self._make,
            parameter_transport=self.backend.parameter_transports.mcp_call(self.wrapped),
            cache_identity=NoCacheIdentity(),
            result_codec=ToolResultCodec(),
            config_role="tool",
        )
        params = ToolsetCallToolParams(name, tool_args=tool_args, ctx=ctx, tool=tool)
        effects = self.backend.config_for_tool(operation, tool=tool, tool_name=name)
        if effects is False:
            return await self._make(params)
        return await self.backend.bind(operation)(params, config=effects)

    async def _make(self, params: ToolsetCallToolParams) -> Any:
        assert params.tool is not None
        return await self.wrapped.call_tool(params.name, params.tool_args, params.ctx, params.tool)
