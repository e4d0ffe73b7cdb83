"""Make the tool calls that a model requests: announced together, made concurrently, each with a result for the model.

`announce` emits without waiting, so that a message and its requested calls are one append. A call that needs a person
blocks in `results` while the others continue. Every call ends with exactly one text for the model: the tool's result or
error, the person's rejection, or the reason why the call could not be made.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from runyard.agents.context.context import Context
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import ToolCalls, error_text_for_model
from runyard.agents.durable.waits import Waits
from runyard.agents.execution import Execution
from runyard.agents.kinds.model.requested_calls import RequestedCall
from runyard.agents.tools.waiting_tools import ClientTool
from runyard.domain.events import ToolFinished, ToolRequested, ToolStarted
from runyard.domain.state.conversation import tool_files, tool_message
from runyard.domain.state.run_state import CallState, WaitState
from runyard.errors import Rejected, ToolFailed


class ToolExecution:
    def __init__(self, execution: Execution, replay: Replay, waits: Waits, calls: ToolCalls, context: Context) -> None:
        self._execution = execution
        self._replay = replay
        self._waits = waits
        self._calls = calls
        self._context = context
        self._known = {call.call_id: call for call in execution.state.calls}
        self._outputs: dict[str, Any] = {}

    def announce(self, requested_calls: Sequence[RequestedCall]) -> None:
        """Emit the requested calls, ask for approvals where needed, and fail the calls that cannot be made."""
        for call in requested_calls:
            known = self._known.get(call.call_id)
            requested = ToolRequested(call.call_id, call.name, call.given)
            if known is None and call.problem is None and _must_ask(call):
                self._waits.ask(call.call_id, "tool", call.name, call.given, requested)
            elif known is None and call.problem is None and isinstance(call.tool, ClientTool):
                self._calls.request(call.tool, call.call_id, call.given)
            elif known is None:
                self._calls.announce(requested)
            if call.problem is not None and not _is_finished(known):
                self._fail(call, call.given, *call.problem)

    async def results(self, requested_calls: Sequence[RequestedCall]) -> list[dict[str, Any]]:
        """Make the calls and return their tool messages, in the order of the request, and the files among them."""
        messages = await asyncio.gather(*[self._result(call) for call in requested_calls])
        outputs = [self._outputs[call.call_id] for call in requested_calls if call.call_id in self._outputs]
        return [*messages, *tool_files(outputs)]

    async def _result(self, call: RequestedCall) -> dict[str, Any]:
        known = self._known.get(call.call_id)
        if known is not None and _is_finished(known):
            self._outputs[call.call_id] = known.output
            return tool_message(call.call_id, known)
        if call.tool is None or call.problem is not None:
            return tool_message(call.call_id, None if call.problem is None else _ended(call, call.given, *call.problem))
        try:
            result = await self._calls.make(call.tool, call.call_id, call.given, known, self._context)
        except Rejected:
            return tool_message(call.call_id, None, self._decision(call))
        except ToolFailed as failure:  # the input that an approver edited does not fit
            given, said = self._input(call), error_text_for_model(failure, self._execution)
            self._fail(call, given, failure.error, said)
            await self._execution.commit()
            return tool_message(call.call_id, _ended(call, given, failure.error, said))
        self._outputs[call.call_id] = result.output
        return tool_message(call.call_id, _ended(call, self._input(call), result.error, result.output))

    def _fail(self, call: RequestedCall, given: Any, error: str, said: str) -> None:
        """Emit a start and an end for a call that is not made, because followers expect pairs."""
        self._execution.emit(ToolStarted(call.call_id, call.name, given))
        self._execution.emit(ToolFinished(call.call_id, call.name, said, error))

    def _input(self, call: RequestedCall) -> Any:
        """Return the input of the call: the model's, or the one that an approver edited."""
        decision = self._decision(call)
        return call.given if decision is None or decision.edited is None else decision.edited

    def _decision(self, call: RequestedCall) -> WaitState | None:
        found = self._replay.wait(call.call_id, "tool")
        return None if found is None else found[1]


def _is_finished(known: CallState | None) -> bool:
    return known is not None and known.status == "finished"


def _ended(call: RequestedCall, given: Any, error: str | None, output: Any) -> CallState:
    """Return the call as the fold of the log will show it."""
    return CallState(
        call_id=call.call_id,
        tool=call.name,
        asked=call.given,
        input=given,
        status="finished",
        output=output,
        error=error,
        started_seq=0,
    )


def _must_ask(call: RequestedCall) -> bool:
    """Return whether a person must approve the call. A rule that raises counts as yes."""
    assert call.tool is not None
    try:
        return call.tool.needs_approval(call.given)
    except Exception:  # a user's rule may raise any exception
        return True
