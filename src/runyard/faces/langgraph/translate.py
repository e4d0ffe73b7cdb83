"""Translates the log of a run to the events of LangGraph's API. Pure: needs only the events, from the first one.

A run of Runyard is one or more runs of the client, called parts here. A part ends where the run waits for something
that the client may answer; the next one begins with the event after that. Parts, the ids of messages and the number of
frames of each event depend on the log alone, whatever modes a stream has.

The text between two results is one message of the agent. Calls that the agent requests after it belong to the same
message, so a message is complete when something else begins (`_flush`). Frames of values have the messages of this run
only; the encoder puts the earlier messages of the thread before them (`follow.Encoder`).

After `model.reset` the text is written again as another message. A message of the type `remove` takes the first one
back, and so do the next values.
"""

from typing import Any

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelMessage,
    ModelThinking,
    ModelToken,
    RunFinished,
    RunOutput,
    RunQueued,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolOutput,
    ToolRequested,
    ToolStarted,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.state.parted import client_wait
from runyard.faces.langgraph import objects
from runyard.faces.langgraph.messages import CUSTOM, TOOLS, Messages
from runyard.faces.langgraph.objects import Frame
from runyard.faces.langgraph.state import State


class Translation(Messages):
    """Takes the events of a log in order and returns the frames of the current part."""

    state_type = State

    # --- parts

    def _begin(self, event: Event, out: list[Frame]) -> None:
        state = self.state
        if event.type == "run.queued" and isinstance(queued := event.payload, RunQueued):
            state.agent = queued.agent
            if queued.options is not None:
                state.echo, state.earlier = queued.options.echo, queued.options.earlier
        state.part += 1
        state.is_open = True
        run_id = objects.shown_run_id(state.run_id, state.part)
        out.append(Frame("", "metadata", {"run_id": run_id, "attempt": 1}))

    def _keep(self, out: list[Frame]) -> None:
        self._close_text()
        self.state.unkept = []

    def _end(self, how: str, out: list[Frame], event: str, data: Any = None) -> None:
        state = self.state
        state.ended.append(how)
        state.end_part()
        out.append(Frame("", event, data))

    # --- events

    def _apply(self, event: Event, out: list[Frame]) -> None:
        if not self.state.is_shown and (event.source == "worker" or event.type == "run.finished"):
            self.state.is_shown = True
            self._values(out)
        super()._apply(event, out)

    def _text(self, event: Event, out: list[Frame]) -> None:
        match event.payload:
            case ModelToken(text):
                self._write(text, event.id, out)
            case ModelThinking(text):
                self._write(text, event.id, out, is_reasoning=True)
            case ModelMessage(_, _, usage):
                self._close_text()
                if usage is not None and self.state.last is not None:
                    self._change(self.state.last, usage_metadata=objects.usage_metadata(usage))
            case RunOutput() as output:
                self._answer(output, event.id, out)
            case _:  # model.reset
                self._withdraw(out)

    def _step(self, event: Event, out: list[Frame]) -> None:
        steps = self.state.steps
        match event.payload:
            case StepStarted(step, name, None):
                self._flush(out)
                steps[step] = name
            case StepFinished(step, name, result=result, error=error):
                if steps.pop(step, None) is None:
                    if name == CUSTOM:  # data that a node of a graph streams
                        out.append(Frame("custom", "custom", result))
                    return
                self._close_text(name)
                if self.state.news:
                    self._flush(out)
                elif error is None:
                    out.append(Frame("updates", "updates", {name: result}))
            case _:
                pass  # a turn of the model

    def _say(self, message_id: str, text: str, out: list[Frame]) -> None:
        self._flush(out)
        self.state.messages.append(objects.human(message_id, text))
        self._values(out)

    def _ended(self, finished: RunFinished, out: list[Frame]) -> None:
        error = self.state.error
        self._flush(out)
        if finished.status == "done":
            self._end("success", out, "end")
        elif finished.status == "error":
            is_late = error is not None and error.code == "timeout"
            self._end("timeout" if is_late else "error", out, "error", objects.failure(error))
        else:
            self._end("interrupted", out, "error", objects.CANCELED)

    # --- tools

    def _tool(self, event: Event, out: list[Frame]) -> None:
        calls = self.state.calls
        match event.payload:
            case ToolRequested(call_id, tool, given):
                self._call(call_id, tool, given, event.id, out)
            case ToolStarted(call_id, tool, given):
                self._call(call_id, tool, given, event.id, out)
                self._flush(out)
            case ToolOutput(call_id, text):
                if call_id in calls:
                    about = {"type": "tool_output", "tool_call_id": calls[call_id], "text": text}
                    out.append(Frame("custom", "custom", about))
            case ToolFinished(call_id, tool, output, error):
                self._call(call_id, tool, None, event.id, out)
                self._flush(out)
                message = objects.tool_result(event.id, calls[call_id], tool, output, error)
                self.state.messages.append(message)
                out.append(self._tuple(message, TOOLS))
                out.append(Frame("updates", "updates", {TOOLS: {"messages": [message]}}))
                self._values(out)
            case _:
                raise AssertionError(event.type)

    # --- waits

    def _wait(self, event: Event, out: list[Frame]) -> None:
        state = self.state
        match event.payload:
            case (ApprovalRequested(wait_id) | WaitRequested(wait_id)) as asked if wait := client_wait(asked):
                state.waits[wait_id] = wait
            case WaitRequested(wait_id, kind=kind, name=name):
                state.others[wait_id] = {"type": "wait", "id": wait_id, "kind": kind, "name": name}
                out.append(Frame("custom", "custom", {**state.others[wait_id], "state": "pending"}))
            case ApprovalDecided(wait_id):
                self._answered(wait_id, "answered", out)
            case WaitAnswered(wait_id, outcome):
                self._answered(wait_id, outcome, out)
            case _:
                self._show_interrupts(out)

    def _answered(self, wait_id: str, outcome: str, out: list[Frame]) -> None:
        state = self.state
        if wait_id in state.waits:
            state.waits[wait_id].is_open = False
        if (other := state.others.pop(wait_id, None)) is not None:
            out.append(Frame("custom", "custom", {**other, "state": outcome}))

    def _show_interrupts(self, out: list[Frame]) -> None:
        """Show the interrupts, and end the part if there are some."""
        self._flush(out)
        if interrupts := self.interrupts():
            shown = {objects.INTERRUPT: interrupts}
            out.append(Frame("updates", "updates", shown))
            out.append(Frame("interrupt", "updates", shown))
            out.append(Frame("values", "values", {**self.values(), **shown}))
            self._end("interrupted", out, "end")
