"""Translates the log of a run to the chunks of a UI message. Pure: needs only the events, from the first one.

A run is one message, in one or more parts. A part ends where the run waits for something that the client may answer: an
approval, a question or a tool of the client. The next part begins with the event after that and continues the same
message. So parts and positions of chunks depend on the log alone, and are the same on every pod and in every replay.

A step of the message holds what a reset can withdraw: `reset-step` removes the parts of the open step, so text after a
result begins a new step. Other chunks of the withdrawn step (a tool call that has begun) are sent again after it.
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
from runyard.domain.state.parted import PartedTranslation, client_wait
from runyard.domain.wait import ClientWait
from runyard.faces.ai_sdk import chunks
from runyard.faces.ai_sdk.chunks import Chunk
from runyard.faces.ai_sdk.state import ShownCall, State


class Translation(PartedTranslation[State, Chunk]):
    """Takes the events of a log in order and returns the chunks of the current part."""

    state_type = State

    def take(self, event: Event) -> list[Chunk]:
        """Return what this event adds to the current part."""
        state, out = self.state, super().take(event)
        state.count += len(out)
        if not state.is_open:
            state.sizes.append(state.count)
        return out

    # --- parts and steps

    def _begin(self, event: Event, out: list[Chunk]) -> None:
        state, queued = self.state, event.payload if event.type == "run.queued" else None
        state.part += 1
        state.is_open, state.count = True, 0
        out.append(chunks.start(state.run_id, queued.agent if isinstance(queued, RunQueued) else None))
        if state.part == 1:
            self._new_step(out)

    def _keep(self, out: list[Chunk]) -> None:
        self._close_text(out)
        self.state.has_result, self.state.is_fresh = True, False

    def _end(self, out: list[Chunk], *last: Chunk) -> None:
        state = self.state
        self._close_text(out)
        out.append({"type": "finish-step"})
        out.extend(last)
        state.end_part()

    def _new_step(self, out: list[Chunk]) -> None:
        state = self.state
        self._close_text(out)
        if state.step:
            out.append({"type": "finish-step"})
        out.append({"type": "start-step"})
        state.step += 1
        state.step_size = 0
        state.has_result = state.has_turn = state.is_fresh = False
        state.again = []

    def _add(self, out: list[Chunk], *added: Chunk) -> None:
        """Add chunks that a reset keeps."""
        self.state.step_size += len(added)
        self.state.again += added
        out.extend(added)

    # --- events

    def _text(self, event: Event, out: list[Chunk]) -> None:
        match event.payload:
            case ModelToken(text):
                self._write("text", text, event.id, out)
            case ModelThinking(text):
                self._write("reasoning", text, event.id, out)
            case RunOutput(text, sources, outputs) as output:
                self._answer(text, event.id, out)
                self._close_text(out)
                self._add(out, *chunks.sources(sources), *chunks.files(output.files or ()))
                if outputs:
                    self._add(out, chunks.data("outputs", self.state.run_id, outputs))
            case ModelMessage():
                pass  # it repeats the tokens
            case _:  # model.reset
                self._withdraw(out)

    def _step(self, event: Event, out: list[Chunk]) -> None:
        match event.payload:
            case StepStarted(step, name, model):
                if model is not None:
                    self.state.has_turn = self.state.step_size > 0 and not self.state.is_fresh
                    return
                self.state.steps[step] = name
                self._add(out, chunks.data("step", step, {"name": name, "state": "running"}))
            case StepFinished(step, name, error=error):
                if self.state.steps.pop(step, None) is not None:
                    ended = "done" if error is None else "error"
                    self._add(out, chunks.data("step", step, {"name": name, "state": ended}))
            case _:
                raise AssertionError(event.type)

    def _say(self, message_id: str, text: str, out: list[Chunk]) -> None:
        self._close_text(out)
        self._add(out, chunks.data("message", message_id, {"text": text}))

    def _ended(self, finished: RunFinished, out: list[Chunk]) -> None:
        state = self.state
        if state.client_step == state.step:  # otherwise the client takes its answers for unsent ones
            self._new_step(out)
        self._end(out, *chunks.ending(finished.status, finished.stop_reason, finished.usage, state.error))

    # --- tools

    def _tool(self, event: Event, out: list[Chunk]) -> None:
        state = self.state
        match event.payload:
            case ToolRequested(call_id, _, given):
                state.inputs[call_id] = given  # the call is shown when it starts
            case ToolStarted(call_id, tool, given):
                if call_id not in state.client_calls:
                    self._show(call_id, event.id, tool, given, out)
            case ToolOutput(call_id, text):
                if (call := state.calls.get(call_id)) is not None:
                    out.append(chunks.tool_progress(call.id, text))
            case ToolFinished() as finished:
                self._tool_finished(event.id, finished, out)
            case _:
                raise AssertionError(event.type)

    def _tool_finished(self, event_id: str, finished: ToolFinished, out: list[Chunk]) -> None:
        state, given = self.state, self.state.inputs.pop(finished.call_id, None)
        wait = state.waits.get(state.client_calls.get(finished.call_id, ""))
        if wait is not None and wait.shown is not None:
            return  # the client's answer is shown already
        if finished.call_id not in state.calls:
            self._show(finished.call_id, event_id, finished.tool, given, out)
        call = state.calls[finished.call_id]
        if call.is_denied:
            return
        if finished.error is None:
            self._add(out, chunks.tool_output(call.id, finished.output, True))
        else:
            said = finished.error if finished.output is None else chunks.said(finished.output)
            self._add(out, chunks.tool_error(call.id, said, True))

    def _show(self, call_id: str, event_id: str, tool: str, given: Any, out: list[Chunk]) -> ShownCall:
        """Show a call of the server, or the input that it has now."""
        state, known = self.state, self.state.calls.get(call_id)
        if known is not None and (known.input == given or known.step != state.step):
            return known
        self._close_text(out)
        if state.has_turn and known is None:
            self._new_step(out)
        shown = state.calls[call_id] = ShownCall(event_id if known is None else known.id, given, state.step)
        self._add(out, chunks.tool_input(shown.id, tool, given, True))
        return shown

    # --- waits

    def _wait(self, event: Event, out: list[Chunk]) -> None:
        state = self.state
        match event.payload:
            case (ApprovalRequested(wait_id) | WaitRequested(wait_id)) as asked if wait := client_wait(asked):
                state.waits[wait_id] = wait
                if wait.kind == "client_tool":
                    state.client_calls[wait.call_id] = wait_id
            case WaitRequested() as wanted:
                about = {"kind": wanted.kind, "name": wanted.name, "runId": wanted.child}
                state.others[wanted.wait_id] = {**about, "expiresAt": wanted.expires_at}
                self._other(wanted.wait_id, "pending", out)
            case ApprovalDecided() as decided:
                self._decided(decided, out)
            case WaitAnswered() as answer:
                self._answered(answer, out)
            case _:
                self._show_open_waits(event, out)

    def _other(self, wait_id: str, now: str, out: list[Chunk]) -> None:
        about = self.state.others[wait_id]
        shown = {name: value for name, value in about.items() if value is not None}
        self._add(out, chunks.data("wait", wait_id, {**shown, "state": now}))

    def _show_open_waits(self, event: Event, out: list[Chunk]) -> None:
        """Show what the client may answer, and end the part if there is something."""
        state = self.state
        waiting = state.open_waits
        if not waiting:
            return
        self._close_text(out)
        for wait_id, wait in waiting.items():
            if wait.shown is None:
                self._ask(wait_id, wait, event.id, out)
        self._end(out, chunks.finish("tool-calls"))

    def _ask(self, wait_id: str, wait: ClientWait, event_id: str, out: list[Chunk]) -> None:
        state = self.state
        if not wait.is_approval or wait.kind == "confirmation":
            name = {"confirmation": chunks.CONFIRMATION, "question": chunks.QUESTION}.get(wait.kind, wait.name)
            if state.has_turn:
                self._new_step(out)
            given = {"question": wait.prompt, "schema": wait.schema} if wait.kind == "question" else wait.input
            self._add(out, chunks.tool_input(wait_id, name, given, wait.is_approval))
            wait.shown = wait_id
        else:
            call = self._show(wait.call_id, f"{event_id}-{wait_id}", wait.name, wait.input, out)
            wait.shown = call.id
        state.client_step = state.step
        if wait.is_approval:
            self._add(out, chunks.approval_request(wait_id, wait.shown))

    def _decided(self, decided: ApprovalDecided, out: list[Chunk]) -> None:
        wait = self.state.waits.get(decided.approval_id)
        if wait is None or not wait.is_open:
            return
        wait.is_open = False
        if wait.shown is None:
            return
        is_approved = decided.decision == "approved"
        self._add(out, chunks.approval_response(decided.approval_id, is_approved, decided.reason))
        if wait.kind == "confirmation" and is_approved:
            self._add(out, chunks.tool_output(wait.shown, {"approved": True}, True))
        elif not is_approved and wait.kind != "unknown_outcome":
            self._add(out, chunks.denied(wait.shown))
            if (call := self.state.calls.get(wait.call_id)) is not None:
                call.is_denied = True

    def _answered(self, answer: WaitAnswered, out: list[Chunk]) -> None:
        if answer.wait_id in self.state.others:
            self._other(answer.wait_id, answer.outcome, out)
            del self.state.others[answer.wait_id]
        wait = self.state.waits.get(answer.wait_id)
        if wait is None or not wait.is_open:
            return
        wait.is_open = False
        if wait.shown is not None:
            self._add(out, chunks.answered(wait.shown, answer))

    # --- text

    def _write(self, kind: str, piece: str, event_id: str, out: list[Chunk]) -> None:
        state = self.state
        if kind == "text":
            state.written.append(piece)
        if state.text is None or state.text_kind != kind:
            if kind == "text" and state.has_text:
                piece = piece.lstrip("\n")  # the gap between two turns: a part of the message has its own place
            if not piece:
                return
            self._close_text(out)
            if state.has_result or state.has_turn:
                self._new_step(out)
            state.text, state.text_kind, state.is_fresh = event_id, kind, True
            state.has_text = state.has_text or kind == "text"
            out.append({"type": f"{kind}-start", "id": event_id})
            state.step_size += 1
        if piece:
            out.append(chunks.delta(kind, state.text, piece))

    def _close_text(self, out: list[Chunk]) -> None:
        state = self.state
        if state.text is not None:
            out.append({"type": f"{state.text_kind}-end", "id": state.text})
            state.text = None

    def _withdraw(self, out: list[Chunk]) -> None:
        """Remove the text since the last result, and keep what else the step has."""
        state = self.state
        del state.written[state.kept :]
        if state.is_fresh:
            out.append({"type": "reset-step"})
            out.extend(state.again)
            state.text, state.is_fresh, state.step_size = None, False, len(state.again)

    def _answer(self, text: str, event_id: str, out: list[Chunk]) -> None:
        """Write what the answer has and the stream had not. An answer that differs is a separate step."""
        state, written = self.state, "".join(self.state.written)
        if not text.startswith(written):
            self._new_step(out)
            state.has_text, written = False, ""
        self._write("text", text[len(written) :], event_id, out)
