"""One tool call, and what a crash may do to it. The rules are the same for python agents and for models.

`tool.started` is durable before the function is called, and the result is durable before the caller gets it. So only a
call with a start and no end is ambiguous. `none` and `idempotent` tools are then called again with the same key and
without a second start in the log. `once` tools follow the agent's `on_unknown`; a repetition that a person allowed gets
a second `tool.started`, because after another crash the person must be asked again.

An exception of a tool becomes its result: a code and, for the model, the text of the exception. The log also keeps the
traceback for the developer; callers never get it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from runyard.agents.durable.child_runs import ChildRuns
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.waits import UNKNOWN, WaitRequest, Waits
from runyard.agents.execution import Execution
from runyard.agents.json_values import plain
from runyard.agents.tools.tool import Tool
from runyard.agents.tools.waiting_tools import AgentTool, ClientTool
from runyard.agents.user_code.current_call import error_code
from runyard.agents.user_code.tracebacks import traceback_of
from runyard.domain.events import Payload, ToolFinished, ToolRequested, ToolStarted, clean
from runyard.domain.state.run_state import CallState, WaitState
from runyard.domain.task import Budget
from runyard.errors import (
    Invalid,
    InvalidInput,
    NestedCall,
    Rejected,
    ResultNotJson,
    RunyardError,
    ToolError,
    ToolFailed,
    TooManyChildren,
    Unavailable,
    WriteRefused,
)

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

P = TypeVar("P", bound=Payload)
PREFIX = "Error executing tool: "
MOST_CHARS = 4_000  # of an exception's text that a model gets


class RecordedCall:
    """A recorded call whose user code is running. `wrote`: whether that code has written text."""

    def __init__(self) -> None:
        self.wrote = False


# Tasks that a call creates inherit it, so their text counts as the call's. None outside a recorded call.
current_recorded_call: ContextVar[RecordedCall | None] = ContextVar("runyard_recorded_call", default=None)


class Result(Struct, frozen=True):
    """The end of a call: its output (JSON), or an error code with the text that the model may get."""

    output: Any = None
    error: str | None = None
    cause: BaseException | None = None


class ToolCalls:
    """Makes tool calls for one execution. `flush_text` writes the text of a tool that redaction holds back."""

    def __init__(
        self,
        execution: Execution,
        replay: Replay,
        parking: Parking,
        waits: Waits,
        flush_text: Callable[[], None],
    ) -> None:
        self._execution = execution
        self._flush_text = flush_text
        self._replay = replay
        self._parking = parking
        self._waits = waits
        self._children = ChildRuns(execution, parking, waits)
        self._announced: set[str] = {call.call_id for call in execution.state.calls}
        self.budget_left: Callable[[], Budget] = Budget  # what a child run may spend; the model's loop sets it

    async def make(
        self, tool: Tool[..., Any], key: str, given: Mapping[str, Any], known: CallState | None, context: object
    ) -> Result:
        """Make the call under `key`; `known` is its record in the log, if any.

        Raise Rejected if a person rejected it, ToolFailed if the input that a person edited does not fit the tool."""
        if isinstance(tool, ClientTool):
            return await self._from_client(tool, key, given)
        if isinstance(tool, AgentTool):
            return await self._from_child(tool, key, given)
        if known is None or known.started_seq is None:
            wanted = await self._allowed(tool, key, given)
            return await self._perform(tool, key, wanted, context, announce=True)
        if tool.effects != "once":
            return await self._perform(tool, key, known.input, context, announce=False)
        if await self._waits.repeat(key, tool.name, known.input, known):
            return await self._perform(tool, key, known.input, context, announce=True)
        await self.record(ToolFinished(key, tool.name, error=UNKNOWN))
        return Result(error=UNKNOWN)

    def request(self, tool: ClientTool, key: str, given: Mapping[str, Any]) -> None:
        """Announce the call of a client's tool and the wait for its result, in one append. The wait comes before the
        start, so that a reader knows at the start that the client makes the call."""
        expires_at = None if tool.timeout is None else self._execution.now_ms() + int(tool.timeout * 1000)
        wanted = WaitRequest(kind="client_tool", name=tool.name, input=given, schema=tool.answer, expires_at=expires_at)
        before = () if key in self._announced else (ToolRequested(key, tool.name, given),)
        self._waits.request(key, wanted, *before, after=[ToolStarted(key, tool.name, given)])

    async def _from_client(self, tool: ClientTool, key: str, given: Mapping[str, Any]) -> Result:
        if not self._waits.is_asked(key, "client_tool"):
            self.request(tool, key, given)
        return await self._record_answer(tool, key, await self._waits.block(key, "client_tool"))

    async def _from_child(self, tool: AgentTool, key: str, given: Mapping[str, Any]) -> Result:
        before = () if key in self._announced else (ToolRequested(key, tool.name, given),)
        started = ToolStarted(key, tool.name, given)
        try:
            found = await self._children.end_of(
                key, tool.agent, given["message"], self.budget_left(), None, *before, started
            )
        except (Invalid, TooManyChildren) as error:
            for event in (*before, started):
                self._execution.emit(event)
            stored = await self.record(ToolFinished(key, tool.name, f"{PREFIX}{error.message}", error.code))
            return Result(stored.output, stored.error)
        return await self._record_answer(tool, key, found)

    async def _record_answer(self, tool: Tool[..., Any], key: str, found: WaitState) -> Result:
        output, error = found.value, None
        if found.state == "expired":
            output, error = f"{PREFIX}No answer came in time.", "timeout"
        elif found.state == "failed":
            output, error = f"{PREFIX}{found.reason or found.code}", found.code or "error"
        elif isinstance(tool, AgentTool):
            output = output["outputs"] or output["text"]
        stored = await self.record(ToolFinished(key, tool.name, output, error))
        return Result(stored.output, stored.error)

    def announce(self, requested: ToolRequested) -> None:
        """Emit a requested call that is made later."""
        self._announced.add(requested.call_id)
        self._execution.emit(requested)

    async def record(self, payload: P) -> P:
        """Emit an event, wait until it is durable, and return it as stored."""
        with self._parking.working():
            stored = self._execution.emit(payload)
            await self._execution.commit()
        return stored

    async def _allowed(self, tool: Tool[..., Any], key: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the input for the tool: as given, or as a person edited it."""
        if not self._waits.is_asked(key, "tool") and not tool.needs_approval(given):
            return given
        requested = ToolRequested(key, tool.name, given)
        answer = await self._waits.decision(key, "tool", tool.name, given, requested)
        self._replay.use(key)
        if answer.state != "approved":
            raise Rejected(f"The call of {tool.name} was rejected.", reason=answer.reason)
        if answer.edited is None:
            return given
        try:
            tool.check(answer.edited)
        except Invalid:
            raise ToolFailed(f"The edited input of {tool.name} does not fit.", error="invalid_input") from None
        return dict(answer.edited)

    async def _perform(
        self, tool: Tool[..., Any], key: str, wanted: Mapping[str, Any], context: object, announce: bool
    ) -> Result:
        self._replay.use(key)
        with self._parking.working():
            if announce:
                wanted = self._execution.emit(ToolStarted(key, tool.name, wanted)).input
            await self._execution.commit_to_act()
            began = self._execution.now_ms()
            output, cause = await capture_result(
                RecordedCall(), tool.run(wanted, context, f"{self._execution.run.id}:{key}")
            )
            ms = max(0, self._execution.now_ms() - began)
            error = None if cause is None else error_code(cause)
            raised = None
            if cause is not None:
                output = error_text_for_model(cause, self._execution)
                raised = None if isinstance(cause, ToolError) else traceback_of(cause, self._execution.redactor)
            if tool.takes_context:
                self._flush_text()
            stored = await self.record(ToolFinished(key, tool.name, output, error, ms, raised))
        return Result(stored.output, stored.error, cause)


async def capture_result(call: RecordedCall, result: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Await a user's function and return its result as JSON, or the exception it raised. Errors of the store pass."""
    token = current_recorded_call.set(call)
    try:
        return result_as_json(await result), None
    except (WriteRefused, Unavailable):
        raise
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # an exception of a user's function is its result
        return None, error
    finally:
        current_recorded_call.reset(token)


def result_as_json(result: object) -> Any:
    """Return the result as a reader of the log gets it. Raise ResultNotJson with the type that is not JSON."""
    try:
        return plain(result)
    except (TypeError, ValueError) as error:
        found = re.search(r"objects of type ([\w.]+)", str(error))
        raise ResultNotJson(found[1] if found else "") from None


def error_text_for_model(cause: BaseException, execution: Execution) -> str:
    """Return the text that the model gets for an exception: its message, or its code if the settings withhold messages.

    Messages that are written for the model are always included."""
    meant = isinstance(cause, ToolFailed | InvalidInput | ResultNotJson | NestedCall)
    said = _text_of(cause, execution.redactor) if meant or execution.tells_tool_errors else ""
    return f"{PREFIX}{said or error_code(cause)}"


def _text_of(cause: BaseException, redactor: "Redactor") -> str:
    try:
        said = clean(cause.message if isinstance(cause, RunyardError) else str(cause)).strip()
    except Exception:  # `__str__` of a user's exception may raise
        return ""
    said = redactor.text(said)
    return (
        said if len(said) <= MOST_CHARS else f"{said[:MOST_CHARS]} ... ({len(said) - MOST_CHARS} characters left out)"
    )
