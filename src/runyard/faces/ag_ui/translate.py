"""Translates the log of a run to the events of AG-UI. Pure: needs only the events, from the first one.

A run of Runyard is one or more runs of the client, called parts here. A part ends where the run waits for something
that the client may answer: an approval or a question (an interrupt), or a tool of the client (a pending tool call). The
next part begins with the event after that. Parts and the ids of messages depend on the log alone.

AG-UI can withdraw a message only by a snapshot of all messages. So `model.reset` becomes a snapshot, which the
encoder completes with the messages of the request (`follow.Encoder`).
"""

from typing import Any

import msgspec

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
from runyard.domain.state.parted import PartedTranslation, client_wait
from runyard.faces.ag_ui import events
from runyard.faces.ag_ui.events import Shown
from runyard.faces.ag_ui.state import State


class Translation(PartedTranslation[State, Shown]):
    """Takes the events of a log in order and returns the events of the current part."""

    state_type = State

    # --- parts

    def _begin(self, event: Event, out: list[Shown]) -> None:
        state, queued = self.state, event.payload if event.type == "run.queued" else None
        if isinstance(queued, RunQueued) and queued.options is not None:
            state.echo = queued.options.echo
        state.part += 1
        state.is_open, state.made = True, 0
        state.messages, state.spare, state.agents_open = [], [], []
        out.append({"type": "RUN_STARTED", "protocolVersion": "1.0", "metadata": {"runyard": {"runId": state.run_id}}})

    def _keep(self, out: list[Shown]) -> None:
        self._close_text(out)
        self.state.unkept = []

    def _end(self, out: list[Shown], last: Shown) -> None:
        """End the part. AG-UI wants everything closed before its last event."""
        state = self.state
        self._close_text(out)
        out.extend({"type": "STEP_FINISHED", "stepName": name} for name in state.steps.values())
        state.steps = {}
        for child in state.agents_open:
            out.append({"type": "SUBAGENT_FINISHED", "subagentRunId": child, "outcome": {"type": "suspended"}})
        out.append(last)
        state.end_part()

    # --- events

    def _text(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case ModelToken(text):
                self._write("text", text, out)
            case ModelThinking(text):
                self._write("reasoning", text, out)
            case RunOutput(text, sources, outputs) as output:
                self._answer(text, out)
                if sources:
                    state.result["sources"] = sources
                if output.files:
                    state.result["files"] = msgspec.to_builtins(output.files)
                if outputs:
                    state.result["outputs"] = outputs
                    out.append({"type": "STATE_SNAPSHOT", "snapshot": outputs})
            case ModelMessage():
                pass  # it repeats the tokens
            case _:  # model.reset
                self._withdraw(out)

    def _step(self, event: Event, out: list[Shown]) -> None:
        steps = self.state.steps
        match event.payload:
            case StepStarted(step, name, None):
                if step not in steps:
                    steps[step] = step if name in steps.values() else name
                    out.append({"type": "STEP_STARTED", "stepName": steps[step]})
            case StepFinished(step):
                if step in steps:
                    out.append({"type": "STEP_FINISHED", "stepName": steps.pop(step)})
            case _:
                pass  # a turn of the model

    def _say(self, message_id: str, text: str, out: list[Shown]) -> None:
        self._close_text(out)
        self._open("text", "user", text, out)
        self._close_text(out)

    def _ended(self, finished: RunFinished, out: list[Shown]) -> None:
        state = self.state
        self._end(out, events.ending(finished.status, finished.stop_reason, finished.usage, state.error, state.result))

    # --- tools

    def _tool(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case ToolRequested(call_id, _, given):
                state.inputs[call_id] = given  # the call is shown when it starts
            case ToolStarted(call_id, tool, given):
                if call_id not in state.client_calls and call_id not in state.calls:
                    self._show(call_id, event.id, tool, given, out)
            case ToolOutput(call_id, text):
                if call_id in state.calls:
                    about = {"toolCallId": state.calls[call_id], "text": text}
                    out.append({"type": "CUSTOM", "name": "tool_output", "value": about})
            case ToolFinished(call_id, tool, output, error):
                given = state.inputs.pop(call_id, None)
                wait = state.waits.get(state.client_calls.get(call_id, ""))
                if wait is not None and wait.is_shown:
                    return  # the client's answer is shown already
                if call_id not in state.calls:
                    self._show(call_id, event.id, tool, given, out)
                self._result(state.calls[call_id], error if output is None and error else output, out)
            case _:
                raise AssertionError(event.type)

    def _show(self, call_id: str, shown_id: str, tool: str, given: Any, out: list[Shown]) -> None:
        self._close_text(out)
        self.state.calls[call_id] = shown_id
        message = self._new_id()
        self.state.messages.append(events.call_message(shown_id, tool, given, message))
        out.extend(events.tool_call(shown_id, tool, given, message))

    def _result(self, shown_id: str, output: Any, out: list[Shown]) -> None:
        self._close_text(out)
        message = events.result_message(shown_id, output, self._new_id())
        self.state.messages.append(message)
        out.append(events.tool_result(message))

    def _new_id(self) -> str:
        self.state.made += 1
        return events.message_id(self.state.run_id, self.state.part, self.state.made)

    # --- waits

    def _wait(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case (ApprovalRequested(wait_id) | WaitRequested(wait_id)) as asked if wait := client_wait(asked):
                state.waits[wait_id] = wait
                if wait.kind == "client_tool":
                    state.client_calls[wait.call_id] = wait_id
            case WaitRequested(wait_id, _, "child") as wanted:
                state.children[wait_id] = (wanted.child or wait_id, wanted.name)
                self._child(wait_id, out)
            case WaitRequested() as wanted:
                about = {"kind": wanted.kind, "name": wanted.name, "expiresAt": wanted.expires_at}
                state.others[wanted.wait_id] = {name: value for name, value in about.items() if value is not None}
                self._activity(wanted.wait_id, "pending", out)
            case ApprovalDecided(wait_id):
                if (decided := state.waits.get(wait_id)) is not None:
                    decided.is_open = False
            case WaitAnswered() as answer:
                self._answered(answer, out)
            case _:
                self._show_open_waits(out)

    def _activity(self, wait_id: str, now: str, out: list[Shown]) -> None:
        content = {**self.state.others[wait_id], "state": now}
        out.append({"type": "ACTIVITY_SNAPSHOT", "messageId": wait_id, "activityType": "WAIT", "content": content})

    def _child(self, wait_id: str, out: list[Shown]) -> None:
        child, name = self.state.children[wait_id]
        if child not in self.state.agents_open:
            self.state.agents_open.append(child)
            out.append({"type": "SUBAGENT_STARTED", "subagentRunId": child, "name": name})

    def _answered(self, answer: WaitAnswered, out: list[Shown]) -> None:
        state, wait_id = self.state, answer.wait_id
        if wait_id in state.children:
            self._child(wait_id, out)
            child, _ = state.children.pop(wait_id)
            state.agents_open.remove(child)
            out.append(events.subagent_ended(child, answer))
        if wait_id in state.others:
            self._activity(wait_id, answer.outcome, out)
            del state.others[wait_id]
        wait = state.waits.get(wait_id)
        if wait is None or not wait.is_open:
            return
        wait.is_open = False
        if wait.kind == "client_tool" and wait.is_shown:
            self._result(wait_id, events.answer_text(answer), out)

    def _show_open_waits(self, out: list[Shown]) -> None:
        """Show what the client may answer, and end the part if there is something."""
        state = self.state
        waiting = state.open_waits
        if not waiting:
            return
        self._close_text(out)
        for wait_id, wait in waiting.items():
            if not wait.is_shown and wait.kind not in ("question", "confirmation"):
                if wait.call_id not in state.calls:
                    self._show(wait.call_id, wait_id, wait.name, wait.input, out)
                wait.shown = state.calls[wait.call_id]
            wait.is_shown = True
        self._end(out, events.finished(events.waiting(waiting)))

    # --- text

    def _write(self, kind: str, piece: str, out: list[Shown]) -> None:
        state = self.state
        if kind == "text":
            state.written.append(piece)
        role = events.ROLES[kind]
        if state.text is None or state.text["role"] != role:
            if kind == "text" and state.has_text:
                piece = piece.lstrip("\n")  # the gap between two turns: a message has its own place
            if not piece:
                return
            self._close_text(out)
            self._open(kind, role, "", out)
            assert state.text is not None
            state.unkept.append(state.text["id"])
            state.has_text = state.has_text or kind == "text"
        if piece:
            state.pieces.append(piece)
            out.append(events.delta(kind, state.text["id"], piece))

    def _open(self, kind: str, role: str, content: str, out: list[Shown]) -> None:
        state = self.state
        if kind == "reasoning" and state.spare:
            message = next(each for each in state.messages if each["id"] == state.spare[0])
            del state.spare[0]
        else:
            message = {"id": self._new_id(), "role": role, "content": ""}
            state.messages.append(message)
        state.text, state.pieces = message, []
        out.extend(events.opened(kind, message["id"], role))
        if content:
            state.pieces.append(content)
            out.append(events.delta(kind, message["id"], content))

    def _close_text(self, out: list[Shown]) -> None:
        state = self.state
        if state.text is None:
            return
        kind = "reasoning" if state.text["role"] == "reasoning" else "text"
        out.extend(events.closed(kind, state.text["id"]))
        whole = "".join(state.pieces)
        state.messages = [
            {**each, "content": whole} if each["id"] == state.text["id"] else each for each in state.messages
        ]
        state.text, state.pieces = None, []

    def _withdraw(self, out: list[Shown]) -> None:
        """Take back the messages since the last result. Withdrawn reasoning stays as an empty message, because clients
        keep reasoning that a snapshot without any leaves out; the next reasoning fills it."""
        state, lost = self.state, set(self.state.unkept)
        del state.written[state.kept :]
        if not lost:
            return
        self._close_text(out)
        kept: list[Shown] = []
        for message in state.messages:
            if message["id"] not in lost:
                kept.append(message)
            elif message["role"] == "reasoning":
                kept.append({**message, "content": ""})
                state.spare.append(message["id"])
        state.messages = kept
        out.append(events.snapshot(kept, [each for each in state.unkept if each not in state.spare]))
        state.unkept = []

    def _answer(self, text: str, out: list[Shown]) -> None:
        """Write what the answer has and the stream had not. An answer that differs is a separate message."""
        state, written = self.state, "".join(self.state.written)
        if not text.startswith(written):
            self._close_text(out)
            state.has_text, written = False, ""
        self._write("text", text[len(written) :], out)
        self._close_text(out)
