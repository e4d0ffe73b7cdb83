"""The fold: the state of a run at any seq, from its log up to that seq.

It is pure and incremental: `fold(a + b) == fold(b, fold(a))`, and the given state is never changed.
`GET /api/runs/{id}/state?at=` returns it, and a resumed execution continues from it.

`text` is what a reader sees: `model.reset` discards the text after the last result (`PROGRESS`), because it will be
written again. `kept_text` and `kept_thinking` are the lengths of the text and the thinking before that result.
"""

from collections.abc import Iterable
from copy import copy
from io import StringIO
from typing import assert_never

from runyard.domain.content.parts import encoded
from runyard.domain.events import (
    PROGRESS,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    MessageReceived,
    MessageTaken,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunResumed,
    RunWaiting,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolOutput,
    ToolRequested,
    ToolStarted,
    Trace,
    Usage,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.runs.run import Status
from runyard.domain.state.run_state import CallState, ReceivedMessage, State, StepState, WaitState
from runyard.domain.wait import WaitKind


def fold(events: Iterable[Event], state: State | None = None) -> State:
    """Return the state after `events`, which follow directly on the events of `state`."""
    folding = Folding(state or State())
    for event in events:
        folding.take(event)
    return folding.state


class _Text:
    """Growing text. A log may have a million pieces, and adding strings is quadratic."""

    def __init__(self, text: str, kept: int) -> None:
        self._text = StringIO()
        self._text.write(text)
        self.length = len(text)
        self.kept = kept

    def add(self, piece: str) -> None:
        self._text.write(piece)
        self.length += len(piece)

    def keep(self) -> None:
        self.kept = self.length

    def reset(self) -> None:
        self._text.seek(self.kept)
        self._text.truncate()
        self.length = self.kept

    def joined(self) -> str:
        return self._text.getvalue()


class Folding:
    """A state under construction. It starts as a copy, so that the given state stays unchanged."""

    def __init__(self, state: State) -> None:
        self._state = new = copy(state)
        new.steps = [copy(step) for step in state.steps]
        new.calls = [copy(call) for call in state.calls]
        new.waits = {key: copy(wait) for key, wait in state.waits.items()}
        new.messages = list(state.messages)
        new.received = [copy(message) for message in state.received]
        new.counts = dict(state.counts)
        self.text = _Text(state.text, state.kept_text)
        self.thinking = _Text(state.thinking, state.kept_thinking)
        self.steps = {step.key: step for step in new.steps}
        self.calls = {call.call_id: call for call in new.calls}

    @property
    def state(self) -> State:
        """The state after the events so far. It changes with the next event that is taken."""
        state = self._state
        state.text, state.kept_text = self.text.joined(), self.text.kept
        state.thinking, state.kept_thinking = self.thinking.joined(), self.thinking.kept
        return state

    def take(self, event: Event) -> None:
        state = self._state
        state.last_seq = event.seq
        state.counts[event.type] = state.counts.get(event.type, 0) + 1
        if event.source == "worker":
            state.status = Status.RUNNING
        self._apply(event)
        if event.type in PROGRESS:
            state.last_result_seq = event.seq
            state.open_text = False
            self.text.keep()
            self.thinking.keep()

    def _apply(self, event: Event) -> None:
        state = self._state
        match event.payload:
            case ModelToken(text):
                self.text.add(text)
                state.open_text = True
            case ModelThinking(text):
                self.thinking.add(text)
                state.open_text = True
            case ModelReset():
                self.text.reset()
                self.thinking.reset()
                state.open_text = False
            case ModelMessage() as said:
                self._said(said)
            case StepStarted() as started:
                self._step_started(event.seq, started)
            case StepFinished() as finished:
                self._step_finished(event.seq, finished)
            case ToolRequested() as requested:
                call = self._call(requested.call_id, requested.tool)
                call.asked = call.input = requested.input
            case ToolStarted() as called:
                self._tool_started(event.seq, called)
            case ToolFinished() as returned:
                self._tool_finished(event.seq, returned)
            case ApprovalRequested() as question:
                self._approval_requested(event.seq, question)
            case ApprovalDecided() as decision:
                self._decided(event.seq, decision)
            case WaitRequested() as wanted:
                self._waits(event.seq, wanted)
            case WaitAnswered() as answer:
                self._answered(event.seq, answer)
            case RunQueued(agent, task=task, client_tools=tools, options=options):
                state.agent, state.task, state.client_tools, state.options = agent, task, tools, options
                state.status = Status.QUEUED
            case MessageReceived() as message:
                self._received(event.seq, message)
            case MessageTaken(message_id):
                self._taken(event.seq, message_id)
            case RunResumed(attempt):
                state.attempt = attempt
            case RunWaiting():
                state.status = Status.WAITING
            case RunOutput() as output:
                state.output = output
            case RunError() as error:
                state.error = error
            case RunCanceled(reason):
                state.canceled = reason
            case RunFinished() as end:
                state.status = Status(end.status)
                state.stop_reason = end.stop_reason
                state.usage = end.usage or state.usage
            case ToolOutput() | Trace():
                pass  # for display; no state depends on them
            case never:
                assert_never(never)

    def _received(self, seq: int, message: MessageReceived) -> None:
        parts = encoded(message.parts) if message.parts else None
        self._state.received.append(
            ReceivedMessage(message_id=message.message_id, text=message.text, parts=parts, received_seq=seq)
        )

    def _step_started(self, seq: int, started: StepStarted) -> None:
        step = self._step(started.step, started.name)
        step.hash = started.hash
        step.started_seq = seq
        step.text_from = self.text.length

    def _step_finished(self, seq: int, finished: StepFinished) -> None:
        step = self._step(finished.step, finished.name)
        step.finished, step.finished_seq = True, seq
        step.result, step.error, step.traceback = finished.result, finished.error, finished.traceback
        step.text_to = self.text.length if finished.wrote else step.text_from
        if step.usage is None:  # else the model's message has set it
            self._spend(finished.usage)
            step.usage = finished.usage

    def _said(self, message: ModelMessage) -> None:
        self._state.messages.append(message.message)
        self._spend(message.usage)
        if (step := self.steps.get(message.step)) is not None:
            step.usage = message.usage

    def _taken(self, seq: int, message_id: str) -> None:
        for message in self._state.received:
            if message.message_id == message_id:
                message.after, message.taken_seq = len(self._state.messages), seq

    def _tool_started(self, seq: int, called: ToolStarted) -> None:
        call = self._call(called.call_id, called.tool)
        if call.asked is None:
            call.asked = called.input
        call.input, call.status, call.started_seq = called.input, "started", seq
        call.text_from = self.text.length

    def _tool_finished(self, seq: int, returned: ToolFinished) -> None:
        call = self._call(returned.call_id, returned.tool)
        call.status, call.finished_seq = "finished", seq
        call.output, call.error, call.ms = returned.output, returned.error, returned.ms
        call.traceback = returned.traceback
        call.text_to = self.text.length

    def _approval_requested(self, seq: int, question: ApprovalRequested) -> None:
        kind: WaitKind = "confirmation" if question.kind == "question" else question.kind
        self._wait_for(
            question.approval_id,
            WaitState(
                call_id=question.call_id,
                kind=kind,
                name=question.tool,
                input=question.input,
                expires_at=question.expires_at,
                requested_seq=seq,
            ),
        )

    def _waits(self, seq: int, wanted: WaitRequested) -> None:
        self._wait_for(
            wanted.wait_id,
            WaitState(
                call_id=wanted.call_id,
                kind=wanted.kind,
                name=wanted.name,
                prompt=wanted.prompt,
                input=wanted.input,
                schema=wanted.schema,
                child=wanted.child,
                expires_at=wanted.expires_at,
                requested_seq=seq,
            ),
        )

    def _wait_for(self, wait_id: str, wait: WaitState) -> None:
        self._state.waits[wait_id] = wait
        call = self.calls.get(wait.call_id)
        if call is not None and call.status == "requested":
            call.status = "waiting"

    def _decided(self, seq: int, decision: ApprovalDecided) -> None:
        wait = self._end_wait(seq, decision.approval_id)
        if wait is not None:
            wait.state, wait.edited, wait.reason = decision.decision, decision.input, decision.reason

    def _answered(self, seq: int, answer: WaitAnswered) -> None:
        wait = self._end_wait(seq, answer.wait_id)
        if wait is not None:
            wait.state, wait.value = answer.outcome, answer.value
            wait.code, wait.reason = answer.code, answer.message
            self._spend(answer.usage)

    def _end_wait(self, seq: int, wait_id: str) -> WaitState | None:
        """Return the wait that gets its first answer now."""
        state = self._state
        if state.status is Status.WAITING:
            state.status = Status.QUEUED
        wait = state.waits.get(wait_id)
        if wait is None or wait.answered_seq is not None:
            return None
        wait.answered_seq = seq
        call = self.calls.get(wait.call_id)
        if call is not None and call.status == "waiting":
            call.status = "requested"
        return wait

    def _spend(self, usage: Usage | None) -> None:
        if usage is not None:
            self._state.usage = (self._state.usage or Usage()) + usage

    def _step(self, key: str, name: str) -> StepState:
        if key not in self.steps:
            self.steps[key] = StepState(key=key, name=name)
            self._state.steps.append(self.steps[key])
        return self.steps[key]

    def _call(self, call_id: str, tool: str) -> CallState:
        if call_id not in self.calls:
            self.calls[call_id] = CallState(call_id=call_id, tool=tool)
            self._state.calls.append(self.calls[call_id])
        return self.calls[call_id]
