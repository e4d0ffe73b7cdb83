"""The durability backend for pydantic-ai: its durable operations become events of a run's log.

pydantic-ai describes each action that must not be repeated as a `DurableOperation`, and binds it to the backend of its
durability capability (`recording.py`). A request to the model becomes a turn, a call of a tool becomes a tool call, and
any other operation (compacting messages, a durable method of a capability, a call of a workspace) becomes a step.

Imported only when such an agent runs.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from pydantic_ai.durable_exec import (
    BoundDurableOperation,
    CacheIdentity,
    CapabilityOperationId,
    DurableOperation,
    DurableOperationBackend,
    EventStreamHandlerId,
    ModelCancelSuspendedResponseId,
    ModelCompactMessagesId,
    ModelRequestId,
    ModelRequestParams,
    ResultCodec,
    ToolsetCallToolId,
    ToolsetCallToolParams,
    durable_unit_scope,
)
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
from pydantic_ai.messages import TextPart
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.toolsets import ToolsetTool

from runyard.agents.kinds.frameworks.messages import FrameworkTool, RequestedTool
from runyard.agents.kinds.frameworks.run import FrameworkRun
from runyard.agents.kinds.pydantic_ai import messages as translate
from runyard.agents.tools.tool import Effects, Tool
from runyard.agents.user_code.containment import Signal
from runyard.domain.events import Usage
from runyard.errors import ToolError
from runyard.errors import ToolFailed as CallFailed

Operation = DurableOperation[Any, Any, Any]
WITHOUT_EFFECTS = ("tool-search", "capability-load")  # kinds of tools of pydantic-ai itself


class AnyModel(WrapperModel):
    """The model of the current request, whichever that is: the agent's, an override, or one that a hook chose."""

    def __init__(self) -> None:
        Model.__init__(self)  # `wrapped` is set by the first request

    def answer_for(self, request: ModelRequestContext) -> None:
        """Put this model in place of the request's, unless it is there already."""
        layer: Model | None = request.model
        while layer is not None and layer is not self:
            layer = layer.wrapped if isinstance(layer, WrapperModel) else None
        if layer is None:
            self.wrapped = request.model
            request.model, request.model_id = self, None


class LogBackend(DurableOperationBackend[Effects]):
    """Records the operations of one run.

    All requests go to `model`. `tools` are tools of Runyard that the agent gets in addition. `effects`
    has the effects of the agent's own tools and of other operations, by name."""

    def __init__(self, run: FrameworkRun, tools: Mapping[str, Tool[..., Any]], effects: Mapping[str, Effects]) -> None:
        self.model = AnyModel()
        self._run = run
        self._tools = tools
        self._effects = effects
        self._request: Operation | None = None

    def bind(self, operation: Operation) -> BoundDurableOperation[Any, Any, Any]:
        match operation.operation_id:
            case ModelRequestId(streaming=streaming):
                if not streaming:
                    self._request = operation
                return BoundOperation(operation, partial(self._turn, operation))
            case ToolsetCallToolId():
                return BoundOperation(operation, partial(self._call, operation))
            case ModelCompactMessagesId():
                return BoundOperation(operation, partial(self._step, operation, "compact_messages", "idempotent"))
            case CapabilityOperationId(capability_id=capability, operation=name):
                return BoundOperation(operation, partial(self._step, operation, f"{capability}.{name}", "once"))
            case ModelCancelSuspendedResponseId():  # also of a canceled run, which records nothing more
                return BoundOperation(operation, partial(_perform_unrecorded, operation))
            case EventStreamHandlerId():
                return BoundOperation(operation, _skip)  # the log has these events already
            case other:
                return BoundOperation(operation, partial(self._step, operation, type(other).__name__, "once"))

    def config_for_tool(self, operation: Operation, *, tool: object | None, tool_name: str) -> Effects | Literal[False]:
        """Return the effects of a tool. False for tools of pydantic-ai itself, which are not recorded."""
        if isinstance(tool, ToolsetTool) and tool.tool_def.tool_kind in WITHOUT_EFFECTS:
            return False
        return self._effects.get(tool_name, "once")

    def registrations(self) -> Sequence[Callable[..., object]]:
        return ()

    # --- requests to the model

    async def _turn(self, operation: Operation, params: ModelRequestParams, _: object) -> Any:
        self._run.end_invalid_calls(translate.results_in(params.messages))
        output_tools = frozenset(tool.name for tool in params.model_request_parameters.output_tools)
        stored = await self._run.turn(
            self.model.model_name,
            partial(self._ask, operation, params),
            lambda response: translate.said_by(translate.response_from(response), output_tools),
        )
        return translate.response_from(stored)

    async def _ask(self, operation: Operation, params: ModelRequestParams) -> tuple[Any, Usage]:
        """Ask the model. A streamed request writes its text as it arrives, by the handler of `recording.py`."""
        assert self._request is not None  # pydantic-ai binds both kinds of requests
        streams = _streams(self.model)
        with durable_unit_scope():
            response = await (operation if streams else self._request).handler(params)
        for part in () if streams else response.parts:
            if isinstance(part, TextPart):
                await self._run.token(part.content)
        response = translate.with_own_ids(response, self._run.call_ids | translate.call_ids_in(params.messages))
        return translate.response_as_json(response), translate.usage_of(response)

    # --- calls of tools

    async def _call(self, operation: Operation, params: ToolsetCallToolParams, effects: object) -> Any:
        call = self._run.requested(params.ctx.tool_call_id)
        if call is None:
            return await operation.handler(params)
        if call.name in self._tools:
            return await self._run.call_ours(call, self._tools[call.name])
        if not params.ctx.tool_call_approved and self._run.recorded(call.call_id) is None:
            self._defer_again(call)
        tool = FrameworkTool(call.name, partial(_perform, operation, params), _as_effects(effects))
        try:
            result = await self._run.call(call, tool)
        except _Deferred as deferred:
            raise deferred.cause from None
        translate.raise_error_of(result)
        return operation.result_codec.load(result.output)

    def _defer_again(self, call: RequestedTool) -> None:
        """Raise what the tool raised when it was called first, without a second call."""
        if self._run.is_asked(call.call_id, "client_tool"):
            raise CallDeferred
        if self._run.is_asked(call.call_id, "tool"):
            raise ApprovalRequired

    # --- other operations

    async def _step(self, operation: Operation, name: str, effects: Effects, params: Any, _: object) -> Any:
        async def perform() -> Any:
            with durable_unit_scope():
                return operation.result_codec.dump(await operation.handler(params))

        context = self._run.context
        record = context.step_once if self._effects.get(name, effects) == "once" else context.step
        # hooks of concurrent calls have no order, so the call is part of the name
        call_id = getattr(getattr(params, "run_context", None), "tool_call_id", None)
        return operation.result_codec.load(await record(f"{name}:{call_id}" if call_id else name, perform))


class BoundOperation(BoundDurableOperation[Any, Any, Any]):
    """An operation and the way to record it."""

    def __init__(self, operation: Operation, record: Callable[[Any, object], Awaitable[Any]]) -> None:
        self._operation = operation
        self._record = record

    @property
    def operation(self) -> Operation:
        return self._operation

    async def __call__(self, params: Any, *, config: object | None = None) -> Any:
        return await self._record(params, config)


class ToolResultCodec(ResultCodec[Any]):
    """Results of tools as JSON: the value that the tool returned, with its files."""

    def dump(self, value: Any) -> object:
        return translate.result_as_json(value)

    def load(self, payload: object) -> Any:
        return translate.value_of(payload)


class NoCacheIdentity(CacheIdentity[Any]):
    """Calls are known by the ids that the model gave them, not by their parameters."""

    def project(self, params: Any) -> tuple[object, ...]:
        return ()


class _Deferred(Signal):
    """A tool asked for an approval, or for a result from outside. The call has no end yet."""

    def __init__(self, cause: ApprovalRequired | CallDeferred) -> None:
        super().__init__(cause)
        self.cause = cause


async def _perform(operation: Operation, params: ToolsetCallToolParams, _: dict[str, Any]) -> Any:
    """Call the framework's tool. Its arguments are in `params`: the framework has read them, also if a person edited
    them."""
    try:
        with durable_unit_scope():
            return operation.result_codec.dump(await operation.handler(params))
    except (ApprovalRequired, CallDeferred) as cause:
        raise _Deferred(cause) from None
    except ModelRetry as error:
        raise ToolError(error.message) from error
    except ToolFailed as error:
        raise CallFailed(error.message) from error


async def _perform_unrecorded(operation: Operation, params: object, _: object) -> Any:
    with durable_unit_scope():
        return await operation.handler(params)


async def _skip(params: object, config: object) -> None:
    pass


def _as_effects(config: object) -> Effects:
    match config:
        case "none" | "idempotent":
            return config
        case _:
            return "once"


def _streams(model: Model) -> bool:
    while isinstance(model, WrapperModel):
        model = model.wrapped
    if isinstance(model, FunctionModel):
        return model.stream_function is not None
    return type(model).request_stream is not Model.request_stream
