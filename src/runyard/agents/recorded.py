"""Calls that are recorded: steps, tools and questions. The rules that make a crash repeat nothing silently live here.

What is durable before what: `tool.started` (and the `step.started` of a `once` step) before the function is called, and
every result before its caller gets it. So a call with a start and no end is ambiguous, and only then: `none` and
`idempotent` are called again with the same key and no second start in the log; `once` follows the agent's `on_unknown`,
and a repetition that a person allowed is announced again, because after a second crash they must be asked again.

A call that waits for a person hangs (see `parking.py`) and is done by a later execution.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from runyard.agents.agent import OnUnknown
from runyard.agents.execution import Execution
from runyard.agents.parking import Parking
from runyard.agents.replay import Replay
from runyard.agents.tools import Effects, Tool, call
from runyard.agents.values import digest, plain, same
from runyard.domain.approval import Approval, ApprovalKind
from runyard.domain.events import (
    ApprovalRequested,
    Payload,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolRequested,
    ToolStarted,
)
from runyard.domain.fold import CallState, QuestionState, StepState
from runyard.errors import (
    AgentError,
    Invalid,
    Nondeterministic,
    Rejected,
    StepFailed,
    ToolFailed,
    Unavailable,
    UnknownOutcome,
    WriteRefused,
)

UNKNOWN: Final = "unknown_outcome"
_inside: ContextVar[bool] = ContextVar("runyard_inside_a_recorded_call", default=False)


class RecordedCalls:
    """The recorded calls of one execution. `wrote` is told the text of calls that are not made again."""

    def __init__(
        self,
        execution: Execution,
        replay: Replay,
        parking: Parking,
        on_unknown: OnUnknown,
        wrote: Callable[[str], None],
    ) -> None:
        self._execution = execution
        self._replay = replay
        self._parking = parking
        self._on_unknown = on_unknown
        self._wrote = wrote

    # --- steps -----------------------------------------------------------------------------------------------------

    async def step(
        self,
        name: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        effects: Effects,
        may_write: bool,
    ) -> Any:
        hashed = digest(args, kwargs)
        key = self._next_key(name)
        known = self._replay.step(key, hashed)
        if known is not None and known.finished:
            self._reuse(key, known, may_write)
            return _step_result(name, known.error, known.result)
        again = known is not None
        if known is not None and effects == "once" and not await self._repeat(key, name, {"step": name}, known):
            await self._record(StepFinished(key, name, error=UNKNOWN))
            return _step_result(name, UNKNOWN, None)
        self._replay.use(key)
        with self._parking.working():
            if not again or effects == "once":
                self._execution.emit(StepStarted(key, name, hash=hashed))
            if effects == "once":
                await self._execution.commit()
            result, cause = await _attempt(call(fn, *args, **kwargs))
            error = type(cause).__name__ if cause else None
            await self._record(StepFinished(key, name, result=result, error=error))
        return _step_result(name, error, result, cause)

    # --- tools -----------------------------------------------------------------------------------------------------

    async def tool(self, tool: Tool[..., Any], given: Mapping[str, Any], context: object) -> Any:
        given = _json_object(tool, given)
        tool.arguments(given)
        key = self._next_key(tool.name)
        known = self._replay.call(key, given)
        if known is not None and known.status == "finished":
            self._reuse(key, known, tool.takes_context)
            return _tool_result(tool, known.error, known.output)
        if known is None or known.started_seq is None:
            wanted = await self._allowed(tool, key, given)
            return await self._perform(tool, key, wanted, context, announce=True)
        if tool.effects != "once":
            return await self._perform(tool, key, known.input, context, announce=False)
        if await self._repeat(key, tool.name, known.input, known):
            return await self._perform(tool, key, known.input, context, announce=True)
        await self._record(ToolFinished(key, tool.name, error=UNKNOWN))
        return _tool_result(tool, UNKNOWN, None)

    async def _allowed(self, tool: Tool[..., Any], key: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The input to call the tool with: as given, or as the person edited it. Rejected if they said no."""
        if self._replay.question(key, "tool") is None and not tool.needs_approval(given):
            return given
        answer = await self._decision(key, "tool", tool.name, given, ToolRequested(key, tool.name, given))
        self._replay.use(key)
        if answer.state != "approved":
            raise Rejected(f"The call of {tool.name} was rejected.", reason=answer.reason)
        if answer.edited is None:
            return given
        try:
            tool.arguments(answer.edited)
        except Invalid:
            raise ToolFailed(f"The edited input of {tool.name} does not fit.", error="invalid_input") from None
        return dict(answer.edited)

    async def _perform(
        self, tool: Tool[..., Any], key: str, wanted: Mapping[str, Any], context: object, announce: bool
    ) -> Any:
        self._replay.use(key)
        with self._parking.working():
            if announce:
                self._execution.emit(ToolStarted(key, tool.name, wanted))
                await self._execution.commit()
            began = self._execution.now_ms()
            output, cause = await _attempt(tool.run(wanted, context, f"{self._execution.run.id}:{key}"))
            ms = max(0, self._execution.now_ms() - began)
            error = _tool_error(cause)
            await self._record(ToolFinished(key, tool.name, output, error, ms))
        return _tool_result(tool, error, output, cause)

    # --- questions -------------------------------------------------------------------------------------------------

    async def approve(self, question: str, details: Mapping[str, Any]) -> bool:
        asked = plain({**details, "question": question})
        key = self._next_key("approve")
        answer = await self._decision(key, "question", "approve", asked)
        self._replay.use(key)
        return answer.state == "approved"

    async def _decision(
        self, key: str, kind: ApprovalKind, name: str, asked: Any, *before: Payload, after: int = 0
    ) -> QuestionState:
        """What a person decided; asks them if nobody did, and hangs while there is no answer."""
        found = self._replay.question(key, kind, after)
        if found is None:
            now = self._execution.now_ms()
            run_id, new_id = self._execution.run.id, self._execution.new_id()
            approval = Approval(
                id=new_id, run_id=run_id, call_id=key, kind=kind, tool=name, input=asked, created_at=now
            )
            self._execution.ask(approval, *before, ApprovalRequested(new_id, key, kind, name, asked))
            await self._parking.wait_for(new_id)
        approval_id, question = found
        if not same(question.input, asked):
            raise Nondeterministic
        if question.decided_seq is None:
            await self._parking.wait_for(approval_id)
        return question

    async def _repeat(self, key: str, name: str, asked: Any, known: StepState | CallState) -> bool:
        """Whether a `once` call that may have happened is to be made again."""
        if self._on_unknown == "ask":
            answer = await self._decision(key, UNKNOWN, name, asked, after=known.started_seq or 0)
            agreed = answer.state == "approved"
        else:
            agreed = False
        self._replay.use(key)
        return agreed

    # --- what they share -------------------------------------------------------------------------------------------

    def _next_key(self, name: str) -> str:
        if _inside.get():
            raise AgentError("Steps, tool calls and questions cannot be made inside a step or a tool.")
        return self._replay.key(name)

    def _reuse(self, key: str, known: StepState | CallState, may_write: bool) -> None:
        if may_write:
            self._wrote(self._replay.text.skip(known.text_from, known.text_to))
        self._replay.use(key)

    async def _record(self, payload: Payload) -> None:
        with self._parking.working():
            self._execution.emit(payload)
            await self._execution.commit()


async def _attempt(calling: Awaitable[Any]) -> tuple[Any, Exception | None]:
    """The JSON of what a function returned, or what it raised. Refused writes are not the function's fault."""
    inside = _inside.set(True)
    try:
        return plain(await calling), None
    except (WriteRefused, Unavailable):
        raise
    except Exception as error:  # whatever a user's function raises is recorded as its result
        return None, error
    finally:
        _inside.reset(inside)


def _step_result(name: str, error: str | None, result: Any, cause: Exception | None = None) -> Any:
    if error == UNKNOWN:
        raise UnknownOutcome from cause
    if error is not None:
        raise StepFailed(f'The step "{name}" failed with {error}.') from cause
    return result


def _tool_error(cause: Exception | None) -> str | None:
    if cause is None:
        return None
    return "timeout" if isinstance(cause, TimeoutError) else type(cause).__name__


def _tool_result(tool: Tool[..., Any], error: str | None, output: Any, cause: Exception | None = None) -> Any:
    if error == UNKNOWN:
        raise UnknownOutcome from cause
    if error is not None:
        raise ToolFailed(f"The tool {tool.name} failed with {error}.", error=error, output=output) from cause
    return output


def _json_object(tool: Tool[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(plain(given))
    except (TypeError, ValueError):
        raise Invalid(f"The arguments of {tool.name} are not JSON.") from None
