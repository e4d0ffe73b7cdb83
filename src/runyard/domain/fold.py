"""The fold: the state of a run at any seq, from its log up to that seq.

It is pure and incremental: `fold(a + b) == fold(b, fold(a))`, and the given state is never changed.
`GET /api/runs/{id}/state?at=` returns it, and a resumed execution continues from it.

`text` is what a reader sees: `model.reset` discards the text after the last result (`PROGRESS`), because it will be
written again. `kept_text` and `kept_thinking` are the lengths of the text and the thinking before that result.
"""

from collections.abc import Iterable
from copy import copy
from io import StringIO
from typing import Any, Literal, assert_never

from msgspec import Struct, field

from runyard.domain.approval import ApprovalKind, ApprovalState
from runyard.domain.events import (
    PROGRESS,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    EventType,
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
)
from runyard.domain.run import Status
from runyard.domain.task import Task


class StepState(Struct, kw_only=True):
    """A step. `text_from` and `text_to`: the part of the run's text that it wrote; the same if it wrote none."""

    key: str
    name: str
    hash: str | None = None
    finished: bool = False
    result: Any = None
    error: str | None = None
    traceback: str | None = None
    usage: Usage | None = None
    started_seq: int | None = None
    finished_seq: int | None = None
    text_from: int = 0
    text_to: int = 0


class CallState(Struct, kw_only=True):
    """A tool call. `asked` is the input that the agent requested, `input` the effective one after an approver's
    edit."""

    call_id: str
    tool: str
    asked: Any = None
    input: Any = None
    status: Literal["requested", "waiting", "started", "finished"] = "requested"
    output: Any = None
    error: str | None = None
    traceback: str | None = None
    ms: int | None = None
    started_seq: int | None = None
    finished_seq: int | None = None
    text_from: int = 0
    text_to: int = 0


class QuestionState(Struct, kw_only=True):
    """An approval, from the log. `edited` is the approver's replacement for `input`."""

    call_id: str
    kind: ApprovalKind
    state: ApprovalState = "pending"
    input: Any = None
    edited: Any = None
    reason: str | None = None
    requested_seq: int = 0
    decided_seq: int | None = None


class State(Struct, kw_only=True):
    """The state of a run after the event `last_seq`."""

    last_seq: int = 0
    status: Status = Status.QUEUED
    agent: str | None = None
    task: Task | None = None
    attempt: int = 1
    text: str = ""
    thinking: str = ""
    steps: list[StepState] = field(default_factory=list)
    calls: list[CallState] = field(default_factory=list)
    approvals: dict[str, QuestionState] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    output: RunOutput | None = None
    error: RunError | None = None
    canceled: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    counts: dict[EventType, int] = field(default_factory=dict)
    last_result_seq: int = 0
    kept_text: int = 0
    kept_thinking: int = 0
    open_text: bool = False


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
        new.approvals = {key: copy(approval) for key, approval in state.approvals.items()}
        new.messages = list(state.messages)
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
            case ModelMessage() as message:
                self._said(message)
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
                self._asked(event.seq, question)
            case ApprovalDecided() as decision:
                self._decided(event.seq, decision)
            case RunQueued(agent, task=task):
                state.agent, state.task = agent, task
                state.status = Status.QUEUED
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

    def _asked(self, seq: int, question: ApprovalRequested) -> None:
        self._state.approvals[question.approval_id] = QuestionState(
            call_id=question.call_id, kind=question.kind, input=question.input, requested_seq=seq
        )
        call = self.calls.get(question.call_id)
        if call is not None and call.status == "requested":
            call.status = "waiting"

    def _decided(self, seq: int, decision: ApprovalDecided) -> None:
        state = self._state
        if state.status is Status.WAITING:
            state.status = Status.QUEUED
        approval = state.approvals.get(decision.approval_id)
        if approval is None or approval.decided_seq is not None:
            return
        approval.state, approval.decided_seq = decision.decision, seq
        approval.edited, approval.reason = decision.input, decision.reason
        call = self.calls.get(approval.call_id)
        if call is not None and call.status == "waiting":
            call.status = "requested"

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
