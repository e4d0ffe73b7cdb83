"""The capability that records a run of pydantic-ai. Imported only when such an agent runs.

It is the innermost capability of the run. Every request to the model goes through `RecordedModel`, and every call of a
tool, also of an MCP server, through `RecordedToolset`. Calls that need an approval, and calls that another process
makes, become waits (`handle_deferred_tool_calls`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic_ai.capabilities.abstract import AbstractCapability, CapabilityOrdering, WrapModelRequestHandler
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestContext,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
from pydantic_ai.toolsets import AbstractToolset, ExternalToolset, ToolsetTool, WrapperToolset

from runyard.agents.kinds.frameworks.messages import FrameworkTool, RequestedTool
from runyard.agents.kinds.frameworks.run import FrameworkRun
from runyard.agents.kinds.pydantic_ai import messages as translate
from runyard.agents.tools.tool import Effects, Tool
from runyard.agents.user_code.containment import Signal
from runyard.domain.events import Usage
from runyard.domain.state.conversation import refusal
from runyard.errors import ToolError
from runyard.errors import ToolFailed as CallFailed

WITHOUT_EFFECTS = ("tool-search", "capability-load")  # kinds of tools of pydantic-ai itself


class Recording(AbstractCapability[Any]):
    """Records one run. `tools` are tools of Runyard that the agent gets in addition. `effects` has the effects of the
    agent's own tools, by name."""

    def __init__(self, run: FrameworkRun, tools: Mapping[str, Tool[..., Any]], effects: Mapping[str, Effects]) -> None:
        self._run = run
        self._tools = tools
        self._effects = effects

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        request_context.model = RecordedModel(request_context.model, self._run, ctx)
        return await handler(request_context)

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return toolset.visit_and_replace(self._recorded)

    def _recorded(self, leaf: AbstractToolset[Any]) -> AbstractToolset[Any]:
        if isinstance(leaf, ExternalToolset):
            return leaf  # its tools are not called here
        return RecordedToolset(leaf, self._run, self._tools, self._effects)

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


class RecordedModel(WrapperModel):
    """A model whose responses are recorded. It streams, whether or not the run does."""

    def __init__(self, wrapped: Model, run: FrameworkRun, context: RunContext[Any]) -> None:
        super().__init__(wrapped)
        self._run = run
        self._context = context

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._run.end_invalid_calls(translate.results_in(messages))
        output_tools = frozenset(tool.name for tool in model_request_parameters.output_tools)
        stored = await self._run.turn(
            self.wrapped.model_name,
            partial(self._ask, messages, model_settings, model_request_parameters),
            lambda response: translate.said_by(translate.response_from(response), output_tools),
        )
        return translate.response_from(stored)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(response, model_request_parameters=model_request_parameters, replay_events=True)

    async def _ask(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> tuple[Any, Usage]:
        if _streams(self.wrapped):
            response = await self._stream(messages, model_settings, parameters)
        else:
            response = await self.wrapped.request(messages, model_settings, parameters)
            for part in response.parts:
                if isinstance(part, TextPart):
                    await self._run.token(part.content)
        response = translate.with_own_ids(response, self._run.call_ids | translate.call_ids_in(messages))
        return translate.response_as_json(response), translate.usage_of(response)

    async def _stream(
        self, messages: list[ModelMessage], model_settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        async with self.wrapped.request_stream(messages, model_settings, parameters, self._context) as stream:
            async for event in stream:
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
            return stream.get()


@dataclass
class RecordedToolset(WrapperToolset[Any]):
    """A toolset whose calls are recorded."""

    run: FrameworkRun
    tools: Mapping[str, Tool[..., Any]]
    effects: Mapping[str, Effects]

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        make = partial(self.wrapped.call_tool, name, tool_args, ctx, tool)
        call = self.run.requested(ctx.tool_call_id)
        if call is None or tool.tool_def.tool_kind in WITHOUT_EFFECTS:
            return await make()
        if call.name in self.tools:
            return await self.run.call_ours(call, self.tools[call.name])
        if not ctx.tool_call_approved and self.run.recorded(call.call_id) is None:
            self._defer_again(call)
        effects = self.effects.get(call.name, "once")
        try:
            result = await self.run.call(call, FrameworkTool(call.name, partial(_perform, make), effects))
        except _Deferred as deferred:
            raise deferred.cause from None
        return translate.result_from(result)

    def _defer_again(self, call: RequestedTool) -> None:
        """Raise what the tool raised when it was called first, without a second call."""
        if self.run.is_asked(call.call_id, "client_tool"):
            raise CallDeferred
        if self.run.is_asked(call.call_id, "tool"):
            raise ApprovalRequired


class _Deferred(Signal):
    """A tool asked for an approval, or for a result from outside. The call has no end yet."""

    def __init__(self, cause: ApprovalRequired | CallDeferred) -> None:
        super().__init__(cause)
        self.cause = cause


async def _perform(make: Callable[[], Any], _: dict[str, Any]) -> Any:
    """Call the framework's tool. Its arguments are bound: the framework has read them, also if a person edited them."""
    try:
        return translate.result_as_json(await make())
    except (ApprovalRequired, CallDeferred) as cause:
        raise _Deferred(cause) from None
    except ModelRetry as error:
        raise ToolError(error.message) from error
    except ToolFailed as error:
        raise CallFailed(error.message) from error


def _streams(model: Model) -> bool:
    while isinstance(model, WrapperModel):
        model = model.wrapped
    if isinstance(model, FunctionModel):
        return model.stream_function is not None
    return type(model).request_stream is not Model.request_stream
