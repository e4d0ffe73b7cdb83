"""The loop of a model agent: ask the model, make its tool calls, repeat until it has answered or a limit is reached.

One request to the model is one step. Its message, the end of the step, and all requested calls with the approvals they
need are one append: after a crash the log has all of a turn or nothing of it. The model is asked again when every call
has a result (`tool_execution.py`). Messages that came meanwhile are taken before it is asked, never between calls and
their results.

After a crash the conversation is rebuilt from the log. Finished messages and calls are reused. The text of an
unfinished message is withdrawn with `model.reset` and requested again. Calls that may have happened follow the rules of
`agents/durable/tool_call.py`.
"""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, assert_never

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import ToolCalls
from runyard.agents.durable.waits import Waits
from runyard.agents.execution import Canceled, Execution, ModelOutput
from runyard.agents.json_values import plain
from runyard.agents.kinds.model.file_blocks import with_files
from runyard.agents.kinds.model.output_limit import OutputLimit
from runyard.agents.kinds.model.requested_calls import RequestedCall, requested_calls, with_own_ids
from runyard.agents.kinds.model.structured_answer import StructuredAnswer
from runyard.agents.kinds.model.summarizer import Summarizer
from runyard.agents.kinds.model.tool_execution import ToolExecution
from runyard.agents.kinds.model.window import Window
from runyard.domain.content.parts import model_content
from runyard.domain.events import ModelMessage, ModelReset, StepFinished, StepStarted, Usage
from runyard.domain.runs.run import StopReason
from runyard.domain.state.conversation import call_ids, messages, results_of, taken_messages
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import SUMMARIZE
from runyard.domain.task import Budget
from runyard.errors import AnswerTooLarge, ContextTooLong, ModelRefused, ModelUnavailable
from runyard.models.model import Finished, Model, Request, Text, Thinking

INVALID = ("unknown_tool", "invalid_input")  # errors of calls that could not be made
BETWEEN_TURNS = "\n\n"  # before the text of a turn, if an earlier turn wrote text


class Loop:
    def __init__(
        self, agent: Agent, model_settings: ModelSettings, model: Model, execution: Execution, parking: Parking
    ) -> None:
        state, replay = execution.state, Replay(execution.state)
        self._agent = agent
        self._settings = model_settings
        self._model = model
        self._execution = execution
        self._state = state
        self._context = Context(agent, execution, parking, Replay(State()))  # everything it writes is new
        waits = Waits(execution, replay, parking, agent.on_unknown)
        calls = ToolCalls(execution, replay, parking, waits, self._context.flush_text)
        calls.budget_left = self._budget_left
        self._tool_execution = ToolExecution(execution, replay, waits, calls, self._context)
        self._structured = StructuredAnswer(None if execution.run.in_mailbox else agent.answer, execution)
        self._tools = {tool.name: tool for tool in agent.tools}
        self._turns = len(state.messages)
        self._usage = state.usage or Usage()
        self._cut_short = any(step.key == _step(self._turns) and step.result == "length" for step in state.steps)
        self._text_before = state.text[: state.kept_text]
        summarizer = Summarizer(model_settings, model, execution, self._spend)
        self._window = Window(agent, model_settings, execution, summarizer)
        summaries = [step.usage for step in state.steps if step.name == SUMMARIZE and step.usage is not None]
        self._summary_tokens = sum(usage.output_tokens for usage in summaries)  # they are not part of the answer
        self._took = 0
        self._retaken: list[Any] = []  # messages that an earlier attempt took before the model answered them
        self._acted = any(call.error not in INVALID for call in state.calls)

    async def run(self) -> Output:
        message = await self._rebuild_conversation()
        while True:
            if message is None:
                if (limit := self._limit()) is not None:
                    return self._answer(limit)
                await self._take_messages()
                if self._window.summarizes:
                    await self._window.fit()
                message = await self._ask_model()
            if (end := self._end(message)) is not None:
                if end != "end_turn" or not (self._is_corrected(message) or await self._has_to_continue()):
                    return self._answer(end, message)
                message = None
                continue
            requested = requested_calls(message, self._tools)
            await self._make_calls(requested)
            if all(call.ends_turn for call in requested) and not await self._has_to_continue():
                return self._answer("end_turn", message)
            if not any(call.is_valid for call in requested) and self._turns >= self._settings.max_turns:
                return self._answer("invalid_tool_call")
            message = None

    async def _rebuild_conversation(self) -> dict[str, Any] | None:
        """Rebuild the conversation from the log. Return the last message, whose calls may not all be made yet."""
        if self._state.open_text:
            self._execution.emit(ModelReset(_step(self._turns + 1), self._state.last_result_seq))
        question = self._execution.message
        own = messages(self._state, None if question is None else model_content(question.text, question.parts))
        last = self._state.messages[-1] if self._state.messages else None
        self._retaken = taken_messages(self._state, len(self._state.messages))
        own = own[: len(own) - len(self._retaken)]  # they follow the results of the last message's calls
        if last is not None:
            # the results of its calls are added when they are known
            own = own[: len(own) - len(results_of(self._state, last))]
        await self._window.begin(own)
        return last

    async def _take_messages(self) -> None:
        """Add the messages that came meanwhile to the conversation, where the model expects a message."""
        taken, self._retaken = self._retaken, []
        if self._execution.has_new_messages:
            for message in await self._execution.new_messages():
                self._execution.take_message(message)
                taken.append({"role": "user", "content": model_content(message.text, message.parts)})
        self._window.add(taken)
        self._took += len(taken)

    async def _has_to_continue(self) -> bool:
        """Take messages that came while the model answered. Return whether it has to answer them too."""
        if self._retaken:
            return True
        if not self._execution.has_new_messages:
            return False
        try:
            if self._limit() is not None:
                return False
        except ContextTooLong:
            return False  # the messages start the next run, which may leave out older ones
        before = self._took
        await self._take_messages()
        return self._took > before

    def _is_corrected(self, message: dict[str, Any]) -> bool:
        """Return whether the model has to correct this answer. Tell it how, unless it was told before a crash."""
        correction = self._structured.correction(self._turns, message)
        self._window.add(correction or [])
        return correction is not None

    async def _ask_model(self) -> dict[str, Any]:
        """Ask the model and record its message."""
        if self._execution.cancelled:
            raise Canceled
        self._turns += 1
        step = _step(self._turns)
        if not any(known.key == step for known in self._state.steps):
            self._execution.emit(StepStarted(step, "think", self._settings.model))
        finished = await self._stream_fitting_answer()
        self._usage += finished.usage
        if finished.reason == "content_filter":
            raise ModelRefused("The provider's filter stopped the model.")
        taken = {call_id for earlier in self._window.read for call_id in call_ids(earlier)}
        message = with_own_ids(plain(finished.message), taken)
        self._cut_short = finished.reason == "length"
        if self._cut_short:
            message.pop("tool_calls", None)  # they may be incomplete
        message = self._execution.emit(ModelMessage(step, message, finished.usage)).message
        self._execution.emit(StepFinished(step, "think", finished.usage, finished.reason))
        if message.get("content") or call_ids(message):  # providers refuse an empty message
            self._window.add([message])
        return message

    async def _stream_fitting_answer(self) -> Finished:
        """Stream the answer. If the provider finds the conversation too long, fold half of it and ask once more."""
        try:
            return await self._stream_answer(await self._request())
        except ContextTooLong:
            if not await self._window.shrink():
                raise
            return await self._stream_answer(await self._request())

    async def _stream_answer(self, request: Request) -> Finished:
        gap = BETWEEN_TURNS if self._text_before or self._context.written() else ""
        most, received = self._execution.most_answer_bytes, 0
        output_limit = OutputLimit(request.max_output_tokens)
        try:
            async with aclosing(self._model.stream(request)) as pieces:
                async for piece in pieces:
                    match piece:
                        case Text(text):
                            received += len(text)
                            if received > most:
                                raise AnswerTooLarge(most)
                            await self._context.token(gap + text)
                            gap = ""
                        case Thinking(text):
                            await self._context.thinking(text)
                        case Finished():
                            return output_limit.checked(piece)
                        case never:
                            assert_never(never)
                    if output_limit.is_overrun_by(piece):
                        return output_limit.cut_off()
        finally:
            self._context.flush_text()
        raise ModelUnavailable("The model's answer was cut off; try again.")

    async def _make_calls(self, requested: Sequence[RequestedCall]) -> None:
        """Make the calls and add their results to the conversation."""
        self._tool_execution.announce(requested)  # no await since the message was emitted, so both are one append
        await self._execution.commit()
        self._window.add(await self._tool_execution.results(requested))
        self._acted |= any(call.is_valid for call in requested)

    def _limit(self) -> StopReason | None:
        """Return why the model may not be asked again, if so. Raise ContextTooLong if the conversation is too long."""
        model_settings = self._settings
        if self._turns >= model_settings.max_turns:
            return "max_steps"
        spent = self._usage.usd >= model_settings.max_usd
        spent |= (
            model_settings.max_output_tokens is not None and self._written_tokens >= model_settings.max_output_tokens
        )
        if spent:
            return "max_tokens_exceeded"
        if not self._window.summarizes:
            self._window.check()
        return None

    @property
    def _written_tokens(self) -> int:
        return self._usage.output_tokens - self._summary_tokens

    def _spend(self, usage: Usage) -> None:
        """Count a summary."""
        self._usage += usage
        self._summary_tokens += usage.output_tokens

    def _end(self, message: dict[str, Any]) -> StopReason | None:
        """Return why this message ends the run, or None if it has tool calls."""
        if call_ids(message):
            return None
        if self._cut_short:
            return "max_tokens_exceeded"
        return "end_turn" if self._acted or not self._execution.run.in_mailbox else "no_tool_call"

    def _answer(self, why: StopReason, message: dict[str, Any] | None = None) -> ModelOutput:
        """Return all text of the run, as its followers saw it, and the last message if that differs."""
        text, last = self._text_before + self._context.written(), (message or {}).get("content")
        return ModelOutput(
            text=text,
            outputs=self._structured.value(why, message),
            stop_reason=why,
            last=last if isinstance(last, str) and last != text else None,
        )

    def _budget_left(self) -> Budget:
        """Return what a child run may spend."""
        limits = Budget(max_usd=self._settings.max_usd, max_output_tokens=self._settings.max_output_tokens)
        return limits.after(self._usage.output_tokens, self._usage.usd)

    async def _request(self) -> Request:
        most = self._settings.max_output_tokens
        return Request(
            model=self._settings.model,
            messages=await with_files(self._execution, self._window.messages),
            tools=tool_definitions(self._agent),
            max_output_tokens=None if most is None else most - self._written_tokens,
            options=self._settings.options,
            answer=self._structured.schema,
        )


def tool_definitions(agent: Agent) -> list[dict[str, Any]]:
    """Return the agent's tools in the format of OpenAI's function calling."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in agent.tools
    ]


def _step(turn: int) -> str:
    return f"turn#{turn}"
