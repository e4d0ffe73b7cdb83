"""Make the tool calls that a model requests: announced together, made concurrently, each with a result for the model.

`announce` emits without waiting, so that a message and its requested calls are one append. A call that needs a person
blocks in `results` while the others continue. Every call ends with exactly one text for the model: the tool's result or
error, the person's rejection, or the reason why the call could not be made.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from runyard.agents.context import Context
from runyard.agents.durable.questions import Questions
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import ToolCalls, told
from runyard.agents.execution import Execution
from runyard.agents.model.requested_calls import RequestedCall
from runyard.domain.conversation import tool_message
from runyard.domain.events import ToolFinished, ToolRequested, ToolStarted
from runyard.domain.fold import CallState, QuestionState
from runyard.errors import Rejected, ToolFailed


class ToolExecution:
    def __init__(
        self, execution: Execution, replay: Replay, questions: Questions, calls: ToolCalls, context: Context
    ) -> None:
        self._execution = execution
        self._replay = replay
        self._questions = questions
        self._calls = calls
        self._context = context
        self._known = {call.call_id: call for call in execution.state.calls}

    def announce(self, wanted: Sequence[RequestedCall]) -> None:
        """Emit the requested calls, ask for approvals where needed, and fail the calls that cannot be made."""
        for wish in wanted:
            known = self._known.get(wish.call_id)
            requested = ToolRequested(wish.call_id, wish.name, wish.given)
            if known is None and wish.problem is None and _must_ask(wish):
                self._questions.ask(wish.call_id, "tool", wish.name, wish.given, requested)
            elif known is None:
                self._execution.emit(requested)
            if wish.problem is not None and not _is_finished(known):
                self._fail(wish, wish.given, *wish.problem)

    async def results(self, wanted: Sequence[RequestedCall]) -> list[dict[str, Any]]:
        """Make the calls and return their tool messages, in the order of the request."""
        return await asyncio.gather(*[self._result(wish) for wish in wanted])

    async def _result(self, wish: RequestedCall) -> dict[str, Any]:
        known = self._known.get(wish.call_id)
        if known is not None and _is_finished(known):
            return tool_message(wish.call_id, known)
        if wish.tool is None or wish.problem is not None:
            return tool_message(wish.call_id, None if wish.problem is None else _ended(wish, wish.given, *wish.problem))
        try:
            result = await self._calls.make(wish.tool, wish.call_id, wish.given, known, self._context)
        except Rejected:
            return tool_message(wish.call_id, None, self._decision(wish))
        except ToolFailed as failure:  # the input that an approver edited does not fit
            given, said = self._input(wish), told(failure, self._execution)
            self._fail(wish, given, failure.error, said)
            await self._execution.commit()
            return tool_message(wish.call_id, _ended(wish, given, failure.error, said))
        return tool_message(wish.call_id, _ended(wish, self._input(wish), result.error, result.output))

    def _fail(self, wish: RequestedCall, given: Any, error: str, said: str) -> None:
        """Emit a start and an end for a call that is not made, because followers expect pairs."""
        self._execution.emit(ToolStarted(wish.call_id, wish.name, given))
        self._execution.emit(ToolFinished(wish.call_id, wish.name, said, error))

    def _input(self, wish: RequestedCall) -> Any:
        """Return the input of the call: the model's, or the one that an approver edited."""
        decision = self._decision(wish)
        return wish.given if decision is None or decision.edited is None else decision.edited

    def _decision(self, wish: RequestedCall) -> QuestionState | None:
        found = self._replay.question(wish.call_id, "tool")
        return None if found is None else found[1]


def _is_finished(known: CallState | None) -> bool:
    return known is not None and known.status == "finished"


def _ended(wish: RequestedCall, given: Any, error: str | None, output: Any) -> CallState:
    """Return the call as the fold of the log will show it."""
    return CallState(
        call_id=wish.call_id,
        tool=wish.name,
        asked=wish.given,
        input=given,
        status="finished",
        output=output,
        error=error,
        started_seq=0,
    )


def _must_ask(wish: RequestedCall) -> bool:
    """Return whether a person must approve the call. A rule that raises counts as yes."""
    assert wish.tool is not None
    try:
        return wish.tool.needs_approval(wish.given)
    except Exception:  # a user's rule may raise any exception
        return True
