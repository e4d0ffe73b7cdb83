"""The work of an agent of another framework, recorded: requests to a model, tool calls, questions to people.

The framework runs its own loop. It reaches models and tools only through this class, which its runner puts in between
(`pydantic_ai/`, `openai_agents/`). The order of durable events is that of every kind: a model's message before the
calls that it requests, the start of a call before the call, its result before the framework gets it.

After a crash or an answer the framework's loop starts from the beginning. A recorded request or call is not made again:
the framework gets the recorded result, so its loop reaches the same place. The framework's own code between these calls
runs again. Requests are numbered (`turn#2`). Calls have the ids that the model gave them, which are recorded.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from pydantic_core import to_jsonable_python

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.wrapped import Wrapped
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay, ReplayedText
from runyard.agents.durable.tool_call import PREFIX, Result, ToolCalls, current_recorded_call
from runyard.agents.durable.waits import Waits
from runyard.agents.execution import Canceled, Execution, ModelOutput
from runyard.agents.json_values import plain
from runyard.agents.kinds.frameworks.messages import RequestedTool, Said
from runyard.agents.tools.tool import Tool
from runyard.agents.tools.waiting_tools import ClientTool
from runyard.domain.events import (
    ModelMessage,
    ModelReset,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    Usage,
    clean,
)
from runyard.domain.runs.ledger import THINK
from runyard.domain.runs.run import StopReason
from runyard.domain.state.conversation import UNKNOWN, refusal
from runyard.domain.state.run_state import CallState, WaitState
from runyard.domain.task import Budget
from runyard.domain.wait import WaitKind
from runyard.errors import AgentError, AnswerTooLarge, Invalid, Rejected, ToolFailed

BETWEEN_TURNS = "\n\n"
Ask = Callable[[], Awaitable[tuple[Any, Usage]]]
Read = Callable[[Any], Said]


class OutOfTokens(Exception):
    """The models of the run have written as many tokens as its budget allows."""


class FrameworkRun:
    """One execution of an agent of another framework. `context` writes text and records further steps."""

    def __init__(self, agent: Agent, execution: Execution, parking: Parking) -> None:
        state, replay = execution.state, Replay(execution.state)
        replay.text, replay.thinking = ReplayedText(""), ReplayedText("")  # recorded text is not written again
        self._execution = execution
        self._parking = parking
        self._replay = replay
        self.context = Context(agent, execution, parking, replay)
        self._waits = Waits(execution, replay, parking, agent.on_unknown)
        self._calls = ToolCalls(execution, replay, parking, self._waits, self.context.flush_text)
        self._tools = {tool.name: tool for tool in agent.tools}
        self._steps = {step.key: step for step in state.steps}
        self._known = {call.call_id: call for call in state.calls}
        self._text_before = state.text[: state.kept_text]
        self._started = set(self._steps)
        self._turns = 0
        self._written_tokens = sum(step.usage.output_tokens for step in state.steps if step.usage is not None)
        self._most_tokens = _token_limit(execution)
        self._gap = ""
        self._received = 0
        self._requested: dict[str, RequestedTool] = {}
        self._open: set[str] = set()  # requested calls that have no end in the log
        if state.open_text:
            execution.emit(ModelReset(after=state.last_result_seq))

    @property
    def text(self) -> str:
        """All text that followers of the run have."""
        return self._text_before + self.context.written()

    async def dependencies(self, wrapped: Wrapped) -> Any:
        """Return the dependencies of the run, as declared."""
        if wrapped.deps_factory is None:
            return wrapped.deps
        made = wrapped.deps_factory(self.context)
        return await made if inspect.isawaitable(made) else made

    # --- the model

    async def turn(self, model: str, ask: Ask, read: Read) -> Any:
        """Return the model's response: the recorded one, or that of `ask`, which writes text as it arrives.

        A response is JSON for the framework. `read` finds in it what followers see."""
        if self._execution.cancelled:
            raise Canceled
        key = f"turn#{self._turns + 1}"
        step = self._steps.get(key)
        if step is not None and step.finished:
            self._replay.use(key)
            response = step.result
            self._expect(read(response).calls)
        else:
            if self._most_tokens is not None and self._written_tokens >= self._most_tokens:
                raise OutOfTokens
            with self._parking.working():
                response = await self._ask(key, model, ask, read)
        self._turns += 1
        return response

    async def _ask(self, key: str, model: str, ask: Ask, read: Read) -> Any:
        if key not in self._started:
            self._started.add(key)
            self._execution.emit(StepStarted(key, THINK, model))
        self._gap, self._received = BETWEEN_TURNS if self.text else "", 0
        try:
            response, usage = await ask()
        finally:
            self.context.flush_text()
        self._written_tokens += usage.output_tokens
        response = plain(response)
        self._execution.emit(ModelMessage(key, read(response).as_message(), usage))
        stored = self._execution.emit(StepFinished(key, THINK, usage, response)).result
        calls = read(stored).calls
        self._expect(calls)
        for call in calls:  # no await since the message was emitted, so all of it is one append
            self._announce(self._requested[call.call_id])
        await self._execution.commit()
        return stored

    async def token(self, text: str) -> None:
        """Write a piece of a model's text."""
        if not text:
            return
        self._received += len(text)
        if self._received > self._execution.most_answer_bytes:
            raise AnswerTooLarge(self._execution.most_answer_bytes)
        await self.context.token(self._gap + text)
        self._gap = ""

    async def mark(self, name: str, result: Any) -> None:
        """Record that the framework did something: a step without a function. A repetition is recorded once."""
        key = self._replay.key(name)
        if key in self._steps and self._steps[key].finished:
            self._replay.use(key)
        elif current_recorded_call.get() is None:
            self._execution.emit(StepStarted(key, name))
            await self._calls.record(StepFinished(key, name, result=result))

    async def output(self, value: Any) -> ModelOutput:
        """Return the output of the run: text is the answer, a value of another type is in `outputs`."""
        if not isinstance(value, str):
            try:
                value = to_jsonable_python(value)
            except ValueError:
                raise AgentError(f"The output is a {type(value).__name__}, which is not JSON.") from None
        shown = clean(value) if isinstance(value, str) else msgspec.json.encode(value).decode()
        if not self.text:
            self._gap = ""
            await self.token(shown)
            self.context.flush_text()
        is_over = self._most_tokens is not None and self._written_tokens > self._most_tokens
        why: StopReason = "max_tokens_exceeded" if is_over else "end_turn"
        if isinstance(value, str):
            return ModelOutput(self.text, last=shown if shown != self.text else None, stop_reason=why)
        return ModelOutput(self.text, outputs=value if isinstance(value, dict) else {"output": value}, stop_reason=why)

    def _expect(self, calls: Sequence[RequestedTool]) -> None:
        for call in calls:
            tool = self._tools.get(call.name)
            if tool is not None:
                call = msgspec.structs.replace(call, input=tool.in_order(call.input))
            self._requested[call.call_id] = call
            known = self._known.get(call.call_id)
            if known is None or known.status != "finished":
                self._open.add(call.call_id)

    def _announce(self, call: RequestedTool) -> None:
        """Emit a requested call, and request the approval or the client's result that a tool of Runyard needs."""
        tool, requested = self._tools.get(call.name), ToolRequested(call.call_id, call.name, call.input)
        try:
            if tool is not None:
                tool.check(call.input)
        except Invalid:
            tool = None  # the framework gets the error when it makes the call
        if isinstance(tool, ClientTool):
            self._calls.request(tool, call.call_id, call.input)
        elif tool is not None and _must_ask(tool, call.input):
            self._waits.ask(call.call_id, "tool", call.name, call.input, requested)
        else:
            self._calls.announce(requested)

    # --- tools

    @property
    def call_ids(self) -> set[str]:
        """The ids of all calls that the model has requested."""
        return set(self._requested)

    def requested(self, call_id: str | None) -> RequestedTool | None:
        """Return the call as the model requested it. None if the model did not, or if it is part of another call."""
        return None if call_id is None or current_recorded_call.get() is not None else self._requested.get(call_id)

    def recorded(self, call_id: str) -> Result | None:
        """Return the result of a call that the log has."""
        known = self._known.get(call_id)
        if known is None or known.status != "finished":
            return None
        self._replay.use(call_id)
        return Result(known.output, known.error)

    async def call(self, call: RequestedTool, tool: Tool[..., Any]) -> Result:
        """Make a call under the rules of `agents/durable/tool_call.py` and return its result.

        Raises Rejected, or ToolFailed if the input that an approver edited does not fit."""
        found = self.recorded(call.call_id)
        if found is None:
            known = self._started_call(call.call_id)
            found = await self._calls.make(tool, call.call_id, call.input, known, self.context)
            self._open.discard(call.call_id)
        return found

    async def call_ours(self, call: RequestedTool, tool: Tool[..., Any]) -> Any:
        """Call a tool of Runyard and return what the model gets."""
        try:
            tool.check(call.input)
            result = await self.call(call, tool)
        except Rejected:
            return refusal(await self.decision(call))
        except (Invalid, ToolFailed) as failure:
            return f"{PREFIX}{failure.message}"
        return result.output if result.error is None else result.output or UNKNOWN

    def _started_call(self, call_id: str) -> CallState | None:
        """Return the record of a call. A start before its approval does not count: the tool asked for the approval."""
        known, asked = self._known.get(call_id), self._replay.wait(call_id, "tool")
        if known is None or asked is None or known.started_seq is None or known.started_seq > asked[1].requested_seq:
            return known
        return msgspec.structs.replace(known, started_seq=None)

    def end_invalid_calls(self, results: Mapping[str, str]) -> None:
        """End the calls that the framework did not make, with the text that the model gets for them: an unknown tool,
        invalid arguments. Followers expect an end of every call."""
        for call_id in sorted(self._open & set(results)):
            self._open.discard(call_id)
            call, known = self._requested[call_id], self._known.get(call_id)
            if known is None or known.started_seq is None:
                self._execution.emit(ToolStarted(call_id, call.name, call.input))
            self._execution.emit(ToolFinished(call_id, call.name, results[call_id], "invalid_input"))

    # --- people and clients

    def is_asked(self, call_id: str, kind: WaitKind) -> bool:
        """Return whether a person or a client was asked about this call."""
        return self._waits.is_asked(call_id, kind)

    async def decision(self, call: RequestedTool) -> WaitState:
        """Return a person's decision on a call. Blocks while it is pending."""
        decided = await self._waits.decision(call.call_id, "tool", call.name, call.input)
        self._replay.use(call.call_id)
        known = self._known.get(call.call_id)
        if decided.state != "approved" and (known is None or known.started_seq is None):
            self._open.discard(call.call_id)  # a rejected call has neither a start nor an end
        return decided

    async def from_client(self, call: RequestedTool, schema: Mapping[str, Any]) -> Result:
        """Return the result of a call that is made outside of this process."""
        tool = ClientTool("tool", "", schema)
        tool.name = call.name
        return await self.call(call, tool)


def _must_ask(tool: Tool[..., Any], given: Mapping[str, Any]) -> bool:
    """Return whether a person must approve the call. A rule that raises counts as yes."""
    try:
        return tool.needs_approval(given)
    except Exception:  # a user's rule may raise any exception
        return True


def _token_limit(execution: Execution) -> int | None:
    """Return how many tokens models may write in the run, as its budget and its options say."""
    task, options = execution.state.task, execution.state.options
    budget = Budget() if task is None else task.budget
    asked = None if options is None else options.max_output_tokens
    return budget.within(Budget(max_output_tokens=asked)).max_output_tokens
