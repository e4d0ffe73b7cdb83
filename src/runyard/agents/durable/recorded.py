"""Recorded calls of a python agent: steps, tools and questions. A crash repeats none of them silently.

The `step.started` of a `once` step is durable before its function is called, and every result is durable before the
caller gets it. Otherwise a step follows the rules of `tool_call.py`.

A call that waits for a person blocks (`parking.py`); a later execution finishes it.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from runyard.agents.declared.agent import OnUnknown
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.recorded_waits import RecordedWaits
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import PREFIX, RecordedCall, ToolCalls, capture_result, current_recorded_call
from runyard.agents.durable.waits import UNKNOWN, Waits
from runyard.agents.execution import Execution
from runyard.agents.json_values import digest, plain
from runyard.agents.tools.tool import Effects, Tool, call
from runyard.agents.user_code.tracebacks import traceback_of
from runyard.domain.content.parts import File, Image
from runyard.domain.conversations.thread import Message
from runyard.domain.events import StepFinished, StepStarted
from runyard.domain.state.run_state import CallState, StepState
from runyard.errors import Invalid, NestedCall, ResultNotJson, StepFailed, ToolFailed, UnknownOutcome

V = TypeVar("V")
NEW_MESSAGES = "new_messages"  # the step that takes them
ATTACH = "attach"  # the step that stores a file


class RecordedCalls:
    """The recorded calls of one execution.

    `add_text` gets the text of calls that are not made again. `flush_text` writes the text of an ending call that
    redaction holds back."""

    def __init__(
        self,
        execution: Execution,
        replay: Replay,
        parking: Parking,
        on_unknown: OnUnknown,
        add_text: Callable[[str], None],
        flush_text: Callable[[], None],
    ) -> None:
        self._execution = execution
        self._flush_text = flush_text
        self._replay = replay
        self._parking = parking
        self._add_text = add_text
        self._waits = Waits(execution, replay, parking, on_unknown)
        self.waits = RecordedWaits(execution, parking, self._waits, self._next_key, self._stored)
        self._tools = ToolCalls(execution, replay, parking, self._waits, flush_text)

    # --- steps -----------------------------------------------------------------------------------------------------

    async def step(
        self,
        name: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        effects: Effects,
    ) -> Any:
        hashed = digest(args, kwargs)
        key = self._next_key(name)
        known = self._replay.step(key, hashed)
        if known is not None and known.finished:
            self._reuse(key, known)
            return _step_result(name, known.error, known.result)
        again = known is not None
        if known is not None and effects == "once" and not await self._waits.repeat(key, name, {"step": name}, known):
            await self._tools.record(StepFinished(key, name, error=UNKNOWN))
            return _step_result(name, UNKNOWN, None)
        self._replay.use(key)
        with self._parking.working():
            if not again or effects == "once":
                self._execution.emit(StepStarted(key, name, hash=hashed))
            if effects == "once":
                await self._execution.commit_to_act()
            recorded = RecordedCall()
            result, cause = await capture_result(recorded, call(fn, *args, **kwargs))
            error = None if cause is None else _error(cause)
            if isinstance(cause, ResultNotJson):
                result = cause.kind
            if recorded.wrote:
                self._flush_text()
            raised = None if cause is None else traceback_of(cause, self._execution.redactor)
            ended = StepFinished(key, name, result=result, error=error, traceback=raised, wrote=recorded.wrote)
            result = (await self._tools.record(ended)).result
        return _step_result(name, error, result, cause)

    # --- messages ---------------------------------------------------------------------------------------------------

    async def new_messages(self) -> list[Message]:
        hashed = digest((), {})
        key = self._next_key(NEW_MESSAGES)
        known = self._replay.step(key, hashed)
        if known is not None and known.finished:
            self._reuse(key, known)
            return msgspec.convert(known.result, list[Message])
        self._replay.use(key)
        with self._parking.working():
            found = await self._execution.new_messages()
            if known is None:
                self._execution.emit(StepStarted(key, NEW_MESSAGES, hash=hashed))
            for message in found:
                self._execution.take_message(message)
            ended = await self._tools.record(StepFinished(key, NEW_MESSAGES, result=plain(found)))
        return msgspec.convert(ended.result, list[Message])

    # --- files ------------------------------------------------------------------------------------------------------

    async def attach(self, name: str, kind: str, size: int, store: Callable[[], Awaitable[File]]) -> File:
        hashed = digest((name, kind, size), {})
        key = self._next_key(ATTACH)
        known = self._replay.step(key, hashed)
        if known is not None and known.finished:
            self._reuse(key, known)
            return msgspec.convert(known.result, File | Image)
        self._replay.use(key)
        with self._parking.working():
            file = await store()
            if known is None:
                self._execution.emit(StepStarted(key, ATTACH, hash=hashed))
            await self._tools.record(StepFinished(key, ATTACH, result=plain(file)))
        return file

    # --- tools -----------------------------------------------------------------------------------------------------

    async def tool(self, tool: Tool[..., Any], given: Mapping[str, Any], context: object) -> Any:
        given = self._stored(_json_object(tool, given))
        tool.check(given)
        key = self._next_key(tool.name)
        known = self._replay.call(key, given)
        if known is not None and known.status == "finished":
            self._reuse(key, known, may_write=tool.takes_context)
            return _tool_result(tool, known.error, known.output)
        result = await self._tools.make(tool, key, given, known, context)
        return _tool_result(tool, result.error, result.output, result.cause)

    # --- questions -------------------------------------------------------------------------------------------------

    async def approve(self, question: str, details: Mapping[str, Any]) -> bool:
        asked = self._stored(plain({**details, "question": question}))
        key = self._next_key("approve")
        answer = await self._waits.decision(key, "confirmation", "approve", asked)
        self._replay.use(key)
        return answer.state == "approved"

    # --- what they share -------------------------------------------------------------------------------------------

    def _stored(self, value: V) -> V:
        """Return the value as the log stores it, so that it can be compared with the record."""
        return self._execution.redactor.value(value)

    def _next_key(self, name: str) -> str:
        if current_recorded_call.get() is not None:
            raise NestedCall
        return self._replay.key(name)

    def _reuse(self, key: str, known: StepState | CallState, may_write: bool = True) -> None:
        if may_write:
            self._add_text(self._replay.text.skip(known.text_from, known.text_to))
        self._replay.use(key)


def _error(cause: BaseException) -> str:
    """Return the error that the log records for a failed step: its class name, or its code if the call was invalid."""
    return cause.code if isinstance(cause, ResultNotJson | NestedCall) else type(cause).__name__


def _step_result(name: str, error: str | None, result: Any, cause: BaseException | None = None) -> Any:
    if error == UNKNOWN:
        raise UnknownOutcome from cause
    if error == ResultNotJson.code:
        raise StepFailed(f'The step "{name}" failed: {ResultNotJson(str(result or "")).message}') from cause
    if error == NestedCall.code:
        raise StepFailed(f'The step "{name}" failed: {NestedCall().message}') from cause
    if error is not None:
        raise StepFailed(f'The step "{name}" failed with {error}.') from cause
    return result


def _tool_result(tool: Tool[..., Any], error: str | None, output: Any, cause: BaseException | None = None) -> Any:
    if error == UNKNOWN:
        raise UnknownOutcome from cause
    if error in (ResultNotJson.code, NestedCall.code) and isinstance(output, str):
        said = output.removeprefix(PREFIX)
        raise ToolFailed(f"The tool {tool.name} failed: {said}", error=error, output=output) from cause
    if error is not None:
        raise ToolFailed(f"The tool {tool.name} failed with {error}.", error=error, output=output) from cause
    return output


def _json_object(tool: Tool[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return tool.in_order(plain(given))
    except (TypeError, ValueError):
        raise Invalid(f"The arguments of {tool.name} are not JSON; pass numbers, text, lists and dicts.") from None
