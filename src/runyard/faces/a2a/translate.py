"""Translates the log of a run to the updates of an A2A task. Pure: needs only the events, from the first one.

The answer is one artifact, which grows by its text. Outputs and files of the answer are separate artifacts. Tool
calls are messages of the status `WORKING`; they are for display and are not kept in the history. Thinking is not shown.

A task requires input while the run waits for something that the client may answer: an approval, a question or a tool of
the client. That ends a part of the run. The next one begins with the answer. Parts depend on the log alone, so a client
that sends an answer follows the part after it, from any process.
"""

from typing import Any, assert_never

from msgspec import UNSET

from runyard.domain.events import (
    PROGRESS,
    ApprovalDecided,
    ApprovalRequested,
    Event,
    MessageReceived,
    MessageTaken,
    ModelToken,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    ToolFinished,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.state.parted import client_wait
from runyard.faces.a2a import objects
from runyard.faces.a2a.objects import Shown
from runyard.faces.a2a.state import (
    CANCELED,
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    SUBMITTED,
    WORKING,
    State,
)

STATES = {"done": COMPLETED, "error": FAILED, "canceled": CANCELED}
NO_WORK = frozenset({"run.queued", "run.waiting", "run.error", "run.canceled", "run.finished"})


class Translation:
    """Takes the events of a log in order and returns the updates of the task, without the ids of the request."""

    def __init__(self, run_id: str, state: State | None = None) -> None:
        self.state = state or State(run_id=run_id)

    def take(self, event: Event) -> list[Shown]:
        """Return the updates that this event makes."""
        state, out = self.state, list[Shown]()
        if event.source == "worker" and state.name == SUBMITTED and event.type not in NO_WORK:
            self._change(WORKING, event, out)
        self._apply(event, out)
        if event.type in PROGRESS:
            state.kept = len(state.written)
        return out

    def _change(self, name: str, event: Event, out: list[Shown], said: Shown | None = None) -> None:
        self.state.status = objects.status(name, event.ts, said)
        out.append(objects.status_update(self.state.status, self.state.metadata))

    # --- events

    def _apply(self, event: Event, out: list[Shown]) -> None:
        match event.type:
            case "run.queued":
                self._begin(event)
            case "model.token" | "model.reset" | "run.output":
                self._text(event, out)
            case "tool.started" | "tool.finished":
                self._tool(event, out)
            case "approval.requested" | "wait.requested":
                self._ask(event)
            case "approval.decided" | "wait.answered":
                self._answer(event, out)
            case "run.waiting":
                self._require_input(event, out)
            case "message.received" | "message.taken":
                self._message(event)
            case "run.error" | "run.finished":
                self._finish(event, out)
            case (
                "run.resumed" | "step.started" | "step.finished" | "model.thinking" | "model.message"
                | "tool.requested" | "tool.output" | "trace" | "run.canceled"
            ):  # fmt: skip
                pass  # `model.message` repeats the tokens; `run.finished` follows `run.canceled`
            case never:
                assert_never(never)

    def _begin(self, event: Event) -> None:
        queued = event.payload
        assert isinstance(queued, RunQueued)
        self.state.status = objects.status(SUBMITTED, event.ts)
        self.state.echo = {} if queued.options is None else queued.options.echo

    def _message(self, event: Event) -> None:
        match event.payload:
            case MessageReceived(message_id, text, parts):
                said = objects.message(message_id, objects.USER, objects.content(text, parts))
                self.state.received[message_id] = said
            case MessageTaken(message_id):
                if (taken := self.state.received.pop(message_id, None)) is not None:
                    self.state.history.append(taken)
            case _:
                raise AssertionError(event.type)

    def _finish(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case RunError() as error:
                state.error = error
            case RunFinished(status, reason, usage):
                for wait in state.waits.values():
                    wait.is_open = False
                self._keep_question()
                state.metadata = {**state.metadata, **objects.ending(reason, usage)}
                said = objects.failure(state.run_id, state.error) if status == "error" else None
                self._change(STATES[status], event, out, said)
            case _:
                raise AssertionError(event.type)

    # --- tools

    def _tool(self, event: Event, out: list[Shown]) -> None:
        match event.payload:
            case ToolStarted(call_id, tool, given):
                self._tell({"toolCall": {"id": call_id, "name": tool, "input": given}}, event, out)
            case ToolFinished(call_id, tool, output, error):
                found: dict[str, Any] = {"id": call_id, "name": tool, "output": output}
                self._tell({"toolResult": found if error is None else {**found, "error": error}}, event, out)
            case _:
                raise AssertionError(event.type)

    def _tell(self, data: Shown, event: Event, out: list[Shown]) -> None:
        said = objects.message(event.id, objects.AGENT, [objects.data_part(data)])
        self._change(WORKING, event, out, said)

    # --- waits

    def _ask(self, event: Event) -> None:
        match event.payload:
            case (ApprovalRequested(wait_id) | WaitRequested(wait_id)) as asked if wait := client_wait(asked):
                self.state.waits[wait_id] = wait
            case _:
                pass  # a child, a timer or an event: the client cannot answer it

    def _answer(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        if state.name == INPUT_REQUIRED:
            state.part += 1
            self._keep_question()
            self._change(WORKING, event, out)
        match event.payload:
            case ApprovalDecided(wait_id) as decided:
                if self._close(wait_id) and decided.decision != "expired":
                    state.history.append(objects.decision(event.id, decided))
            case WaitAnswered(wait_id) as answered:
                if self._close(wait_id) and answered.outcome != "expired":
                    state.history.append(objects.answer(event.id, answered))
            case _:
                raise AssertionError(event.type)

    def _close(self, wait_id: str) -> bool:
        """Close a wait. Return whether it was open."""
        wait = self.state.waits.get(wait_id)
        if wait is None or not wait.is_open:
            return False
        wait.is_open = False
        return True

    def _keep_question(self) -> None:
        """Move the message that asked for input to the history."""
        if self.state.name == INPUT_REQUIRED:
            self.state.history.append(self.state.status["message"])

    def _require_input(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        waiting = {key: wait for key, wait in state.waits.items() if wait.is_open}
        for wait in waiting.values():
            wait.part = state.part
        if waiting:
            self._change(INPUT_REQUIRED, event, out, objects.question(state.run_id, state.part, waiting))

    # --- text

    def _text(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case ModelToken(text):
                if text:
                    out.append(objects.chunk(text, append=state.has_answer))
                    state.written.append(text)
                    state.has_answer = True
            case RunOutput() as output:
                self._output(output, out)
            case _:  # model.reset
                if len(state.written) > state.kept:
                    del state.written[state.kept :]
                    out.append(objects.chunk("".join(state.written), append=False))

    def _output(self, output: RunOutput, out: list[Shown]) -> None:
        """Write what the answer has and the stream had not. An answer that differs replaces the text."""
        state, written = self.state, "".join(self.state.written)
        if output.text.startswith(written):
            if output.text or state.has_answer:
                out.append(objects.chunk(output.text[len(written) :], append=state.has_answer, last=True))
        else:
            out.append(objects.chunk(output.text, append=False, last=True))
        state.has_answer = state.has_answer or bool(output.text)
        state.written, state.kept = [output.text], 1
        if output.outputs:
            made = [objects.data_part(output.outputs)]
            state.artifacts.append(objects.artifact(objects.OUTPUTS, objects.OUTPUTS, made))
        for file in () if output.files is UNSET else output.files:
            state.artifacts.append(objects.artifact(file.id, file.name, [objects.file_part(file)]))
        out.extend(objects.artifact_update(each) for each in state.artifacts)
        if output.sources:
            state.metadata = {**state.metadata, "sources": list(output.sources)}
