"""Translates the log of a run to responses and their events. Pure: needs only the events, from the first one.

A run is one or more responses. One ends where the run waits for tools of the client that no earlier response has handed
out; the next one begins with the event after that. So ids, indexes and sequence numbers depend on the log alone, and
are the same on every pod and in every replay.

Text between two results is one message item, thinking is a reasoning item, a tool that the server calls is an
`mcp_call` item, a tool of the client is a `function_call` item whose `call_id` is the id of the wait. While the run
waits for a person, the response is in progress and says so under `runyard`. `model.reset` ends the open item as
incomplete; the items that it withdraws are not part of the finished response.
"""

from typing import Any, assert_never

import msgspec

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelMessage,
    ModelThinking,
    ModelToken,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunWaiting,
    StepFinished,
    ToolFinished,
    ToolRequested,
    ToolStarted,
    Usage,
    WaitAnswered,
    WaitRequested,
)
from runyard.domain.state.parted import LogTranslation
from runyard.faces.openai import objects
from runyard.faces.openai.state import Handed, OpenText, State

Shown = dict[str, Any]
_encode = msgspec.json.Encoder().encode


class Translation(LogTranslation[State, Shown]):
    """Takes the events of a log in order and returns the events of responses. `part` names the current response."""

    state_type = State

    def response(self, part: int) -> dict[str, Any] | None:
        """Return a response of this run, or None if it has not begun."""
        if 1 <= part <= len(self.state.ended):
            return self.state.ended[part - 1]
        return self._response() if self.state.is_open and part == self.state.part else None

    # --- responses

    def _begin(self, event: Event, out: list[Shown]) -> None:
        state, previous = self.state, self.state.part
        if event.type == "run.queued" and isinstance(queued := event.payload, RunQueued):
            options = queued.options
            state.echo = {} if options is None else options.echo
            state.base = objects.base(queued.agent, queued.client_tools, options)
        state.part += 1
        state.is_open, state.created_at = True, event.ts // 1000
        state.status = "queued" if previous == 0 and state.echo.get("background") else "in_progress"
        state.sequence = state.added = 0
        state.items, state.calls, state.unkept = {}, {}, []
        state.is_silent = True
        self._lifecycle("response.created", out)
        self._lifecycle(f"response.{state.status}", out)

    def _keep(self, out: list[Shown]) -> None:
        self._close_text(out)
        self.state.unkept.clear()

    def _lifecycle(self, name: str, out: list[Shown]) -> None:
        self._add(out, name, response=self._response())

    def _response(self) -> dict[str, Any]:
        state = self.state
        previous = objects.response_id(state.run_id, state.part - 1) if state.part > 1 else None
        return {
            **state.base,
            "id": objects.response_id(state.run_id, state.part),
            "created_at": state.created_at,
            "status": state.status,
            "background": bool(state.echo.get("background")),
            "previous_response_id": previous or state.echo.get("previous_response_id"),
            "conversation": state.echo.get("conversation"),
            "output": [item for index, item in sorted(state.items.items()) if index not in state.unkept],
            "runyard": {
                "run_id": state.run_id,
                "waits": list(state.waits.values()),
                "sources": state.sources,
                **({"files": state.files} if state.files else {}),
            },
        }

    def _end(self, name: str, status: str, ts: int, out: list[Shown], **more: Any) -> None:
        state = self.state
        self._close_text(out)
        self._abandon_calls(out)
        state.unkept.clear()
        state.status = status
        spent = objects.difference(state.usage, state.reported)
        state.reported = state.usage
        ended = {**self._response(), "completed_at": ts // 1000, "usage": objects.usage(spent), **more}
        state.ended.append(ended)
        self._add(out, name, response=ended)
        state.is_open = False

    def _add(self, out: list[Shown], kind: str, /, **fields: Any) -> None:
        out.append({"type": kind, "sequence_number": self.state.sequence, **fields})
        self.state.sequence += 1

    # --- events

    def _apply(self, event: Event, out: list[Shown]) -> None:
        if self.state.status == "queued" and event.source == "worker":
            self.state.status = "in_progress"
            self._lifecycle("response.in_progress", out)
        match event.type:
            case "model.token" | "model.thinking" | "model.reset" | "model.message" | "step.finished" | "run.output":
                self._text(event, out)
            case "tool.requested" | "tool.started" | "tool.finished":
                self._tool(event, out)
            case "approval.requested" | "approval.decided" | "wait.requested" | "wait.answered" | "run.waiting":
                self._wait(event, out)
            case "run.error" | "run.canceled" | "run.finished":
                self._finish(event, out)
            case (
                "run.queued"
                | "run.resumed"
                | "step.started"
                | "tool.output"
                | "message.received"
                | "message.taken"
                | "trace"
            ):
                pass  # they are not shown
            case _:
                assert_never(event.type)

    def _text(self, event: Event, out: list[Shown]) -> None:
        match event.payload:
            case ModelToken(text):
                self._write("message", text, event.id, out)
            case ModelThinking(text):
                self._write("reasoning", text, event.id, out)
            case ModelMessage(step, _, usage):
                self._spend(usage)
                self.state.spent_by.add(step)
            case StepFinished(step, usage=usage):
                if step not in self.state.spent_by:
                    self._spend(usage)
            case RunOutput(text, sources) as output:
                self._answer(text, event.id, out)
                self.state.sources = sources
                self.state.files = msgspec.to_builtins(output.files or [])
            case _:  # model.reset
                self._withdraw(out)

    def _tool(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case ToolRequested(call_id, _, given):
                state.inputs[call_id] = given
            case ToolStarted(call_id, tool, given):
                state.inputs[call_id] = given
                if call_id not in state.client_calls and call_id not in state.calls:
                    self._close_text(out)
                    self._call(call_id, objects.call_item(event.id, self._label, tool, given), out)
            case ToolFinished(call_id, tool, output, error):
                given, handed = state.inputs.pop(call_id, None), state.handed.get(state.client_calls.get(call_id, ""))
                if handed is not None and handed.part:
                    return  # the client has the call and its result
                self._close_text(out)
                if call_id not in state.calls:  # it did not start, or in an earlier response
                    self._call(call_id, objects.call_item(event.id, self._label, tool, given), out)
                self._call_ended(call_id, output, error, out)
            case _:
                raise AssertionError(event.type)

    def _wait(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case ApprovalRequested(wait_id, _, kind, name):
                self._ask(wait_id, "confirmation" if kind == "question" else kind, name, None, out)
            case WaitRequested(wait_id, call_id, "client_tool", name, input=given):
                state.handed[wait_id] = Handed(name, objects.text(given))
                state.client_calls[call_id] = wait_id
            case WaitRequested(wait_id, _, "question", name, prompt):
                self._ask(wait_id, "question", name, prompt, out)
            case ApprovalDecided(wait_id):
                self._answered(wait_id, out)
            case WaitAnswered(wait_id) as answer:
                self._spend(answer.usage)
                if (call := state.handed.get(wait_id)) is not None and call.output is None:
                    call.output = objects.answer_text(answer)
                self._answered(wait_id, out)
            case RunWaiting():
                self._show_client_calls(event, out)
            case _:
                pass  # a wait for a child, a time or an event

    def _finish(self, event: Event, out: list[Shown]) -> None:
        state = self.state
        match event.payload:
            case RunError() as error:
                state.error = error
            case RunFinished(status, reason, usage):
                state.usage = usage or state.usage
                state.waits.clear()
                name, shown, more = objects.ending(status, reason, state.error)
                self._end(name, shown, event.ts, out, **more)
            case RunCanceled():
                pass  # `run.finished` follows and says the same
            case _:
                raise AssertionError(event.type)

    # --- waits

    def _ask(self, wait_id: str, kind: str, name: str, prompt: str | None, out: list[Shown]) -> None:
        self.state.waits[wait_id] = {"id": wait_id, "kind": kind, "name": name, "prompt": prompt}
        self._lifecycle("response.in_progress", out)

    def _answered(self, wait_id: str, out: list[Shown]) -> None:
        if self.state.waits.pop(wait_id, None) is not None:
            self._lifecycle("response.in_progress", out)

    def _show_client_calls(self, event: Event, out: list[Shown]) -> None:
        """End the response if the run waits for calls that the client does not know yet."""
        state = self.state
        new = {key: call for key, call in state.handed.items() if call.part == 0 and call.output is None}
        if not new:
            return
        self._close_text(out)
        for wait_id, call in new.items():
            call.part = state.part
            item = objects.function_call(wait_id, call.name)
            index = self._item(item, out)
            where = {"item_id": item["id"], "output_index": index}
            self._add(out, "response.function_call_arguments.delta", **where, delta=call.arguments)
            self._add(out, "response.function_call_arguments.done", **where, name=call.name, arguments=call.arguments)
            self._item_done(index, {**item, "arguments": call.arguments, "status": "completed"}, out)
        self._end("response.completed", "completed", event.ts, out)

    # --- items

    @property
    def _label(self) -> str:
        return str(self.state.base.get("model", ""))

    def _item(self, item: dict[str, Any], out: list[Shown]) -> int:
        index = self.state.added
        self.state.added += 1
        self.state.items[index] = item
        self._add(out, "response.output_item.added", output_index=index, item=item)
        return index

    def _item_done(self, index: int, item: dict[str, Any], out: list[Shown]) -> None:
        self.state.items[index] = item
        self._add(out, "response.output_item.done", output_index=index, item=item)

    def _write(self, kind: str, piece: str, event_id: str, out: list[Shown]) -> None:
        state = self.state
        if kind == "message":
            state.written.append(piece)
            piece = piece.lstrip("\n") if state.is_silent and state.part > 1 else piece  # the gap between two turns
            state.is_silent &= not piece
        if not piece:
            return
        if state.text is not None and state.text.kind != kind:
            self._close_text(out)
        if state.text is None:
            item = objects.text_item(kind, event_id, "", "in_progress")
            state.text = OpenText(kind, str(item["id"]), self._item(item, out))
            state.unkept.append(state.text.index)
            self._add(out, objects.PART_ADDED[kind], **objects.part_of(state.text.id, state.text.index, kind, ""))
        text = state.text
        text.text.append(piece)
        self._add(out, objects.DELTA[kind], **objects.delta_of(text.id, text.index, kind, piece))

    def _close_text(self, out: list[Shown], status: str = "completed") -> None:
        text, self.state.text = self.state.text, None
        if text is None:
            return
        whole = "".join(text.text)
        self._add(out, objects.DONE[text.kind], **objects.done_of(text.id, text.index, text.kind, whole))
        self._add(out, objects.PART_DONE[text.kind], **objects.part_of(text.id, text.index, text.kind, whole))
        item = objects.text_item(text.kind, text.id.partition("_")[2], whole, status)
        self._item_done(text.index, item, out)

    def _withdraw(self, out: list[Shown]) -> None:
        """End the open item as incomplete, and drop the items since the last result."""
        state = self.state
        self._close_text(out, "incomplete")
        for index in state.unkept:
            del state.items[index]
        state.unkept.clear()
        del state.written[state.kept :]

    def _answer(self, text: str, event_id: str, out: list[Shown]) -> None:
        """Write what the answer has and the stream had not. An answer that differs replaces the text so far."""
        state, written = self.state, "".join(self.state.written)
        if not text.startswith(written):
            self._close_text(out)
            state.items = {index: item for index, item in state.items.items() if item["type"] != "message"}
            state.unkept.clear()
            state.is_replaced, written = True, ""
        self._write("message", text[len(written) :], event_id, out)

    def _call(self, call_id: str, item: dict[str, Any], out: list[Shown]) -> None:
        index = self.state.calls[call_id] = self._item(item, out)
        where = {"item_id": item["id"], "output_index": index}
        self._add(out, "response.mcp_call.in_progress", **where)
        self._add(out, "response.mcp_call_arguments.done", **where, arguments=item["arguments"])

    def _call_ended(self, call_id: str, output: Any, error: str | None, out: list[Shown]) -> None:
        index = self.state.calls.pop(call_id)
        item = objects.call_result(self.state.items[index], output, error)
        name = "response.mcp_call.completed" if error is None else "response.mcp_call.failed"
        self._add(out, name, item_id=item["id"], output_index=index)
        self._item_done(index, item, out)

    def _abandon_calls(self, out: list[Shown]) -> None:
        """End the items of calls that this response does not see the end of."""
        for index in self.state.calls.values():
            self._item_done(index, {**self.state.items[index], "status": "incomplete"}, out)
        self.state.calls = {}

    def _spend(self, usage: Usage | None) -> None:
        if usage is not None:
            self.state.usage += usage


def frame(shown: Shown) -> bytes:
    """Return an event as bytes. It has no `id`: OpenAI's client would take the next heartbeat for an empty event."""
    return b"event: %b\ndata: %b\n\n" % (shown["type"].encode(), _encode(shown))
