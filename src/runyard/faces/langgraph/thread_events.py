"""Translates the log of a run to events of LangGraph's thread stream. Pure: needs only the events, from the first one.

It is a second view of what `translate.Translation` makes of the log, so both generations of clients see the same
messages, ids and parts. The number of an event among those of its run depends on the log alone, whatever channels a
stream has.

The protocol cannot take text back. A client drops a message if one state has it and the next one does not. So after
`model.reset` two states are sent: one with the withdrawn messages, and one without them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from runyard.domain.events import Event, ToolFinished, ToolOutput, ToolStarted
from runyard.faces.langgraph import objects
from runyard.faces.langgraph.messages import TOOLS
from runyard.faces.langgraph.objects import Frame, Shown
from runyard.faces.langgraph.state import State
from runyard.faces.langgraph.translate import Translation

ENDED = {"success": "completed", "interrupted": "interrupted"}  # other ends are failures
FIELDS = {"text": "text", "reasoning": "reasoning"}


class ThreadEvent(NamedTuple):
    """One event for the client. The encoder completes checkpoints and values."""

    method: str
    data: Any
    node: str | None = None

    @property
    def channel(self) -> str:
        if self.method == "custom" and "name" in self.data:
            return f"custom:{self.data['name']}"
        return "input" if self.method == "input.requested" else self.method


class OpenBlock(Struct):
    """The block of a message that is being written."""

    kind: str
    index: int
    pieces: list[str] = field(default_factory=list)


class ThreadState(Struct, kw_only=True):
    """The state of the translation after an event. It is JSON, so a snapshot can hold it."""

    run: State
    count: int = 0  # events so far, in all channels
    message: str | None = None  # the id of the message that is being written
    node: str = ""
    blocks: int = 0  # blocks of that message
    block: OpenBlock | None = None
    started: list[str] = field(default_factory=list)  # tool calls that were shown as started


class ThreadTranslation:
    """Takes the events of a log in order and returns what each adds to the stream."""

    def __init__(self, run_id: str, state: ThreadState | None = None) -> None:
        self.state = state or ThreadState(run=State(run_id=run_id))
        self.run = Translation(run_id, self.state.run)
        self._states = 0

    def take(self, event: Event) -> list[ThreadEvent]:
        out: list[ThreadEvent] = []
        before = self._written() if event.type == "model.reset" else []
        self._states = self.run.state.states  # one event may show several
        frames = self.run.take(event)
        self._withdraw(before, out)
        for frame in frames:
            self._frame(frame, event, out)
        self._tool(event, out)
        self.state.count += len(out)
        return out

    def _frame(self, frame: Frame, event: Event, out: list[ThreadEvent]) -> None:
        match frame.event:
            case "metadata":
                self._lifecycle("running", out)
            case "messages":
                message, about = frame.data
                self._piece(message, about, out)
            case "updates" if objects.INTERRUPT not in frame.data:
                self._updates(frame.data, out)
            case "values" if objects.INTERRUPT not in frame.data:
                self._states += 1
                self._values(frame.data, out)
            case "custom" if event.type != "tool.output":
                name = {"name": "wait"} if event.type.startswith("wait.") else {}
                out.append(ThreadEvent("custom", {**name, "payload": frame.data}))
            case "end" | "error":
                self._end(frame, out)
            case _:
                pass  # interrupts are shown at the end of their part, the output of tools by `_tool`

    # --- parts

    def _lifecycle(self, status: str, out: list[ThreadEvent], **more: str) -> None:
        out.append(ThreadEvent("lifecycle", {"event": status, "graph_name": self.run.state.agent, **more}))

    def _end(self, frame: Frame, out: list[ThreadEvent]) -> None:
        self._finish(out)
        for asked in self.run.interrupts():
            data = {"interrupt_id": asked["id"], "payload": asked["value"], "value": asked["value"]}
            schema = {"response_schema": asked["response_schema"]} if "response_schema" in asked else {}
            out.append(ThreadEvent("input.requested", {**data, **schema}))
        how = ENDED.get(self.run.state.ended[-1])
        if how is None:
            self._lifecycle("failed", out, error=frame.data["message"])
        else:
            self._lifecycle(how, out)

    # --- states

    def _values(self, values: Shown, out: list[ThreadEvent]) -> None:
        out.append(ThreadEvent("checkpoints", {"step": self._states, "source": "loop"}))
        out.append(ThreadEvent("values", values))

    def _updates(self, updates: Shown, out: list[ThreadEvent]) -> None:
        for node, update in updates.items():
            values = update if isinstance(update, dict) else {"result": update}
            shown = values.get("messages")
            ids = [each.get("id") for each in shown if isinstance(each, dict)] if isinstance(shown, list) else []
            if self.state.message in ids:
                self._finish(out)
            out.append(ThreadEvent("updates", {"node": node, "values": values}, node))

    def _written(self) -> list[Shown]:
        """Return the messages of the run, with the one that is being written."""
        text = self.run.state.text
        if text is None:
            return list(self.run.state.messages)
        return [*self.run.state.messages, objects.answer(text.id, "".join(text.text), "".join(text.reasoning))]

    def _withdraw(self, before: Sequence[Shown], out: list[ThreadEvent]) -> None:
        """Make clients drop the messages that a reset took back or changed."""
        after = self.run.state.messages
        kept = [each for each in before if each in after]
        if len(kept) == len(before):
            return
        self._finish(out, withdrawn=True)
        self._values({**self.run.state.outputs, "messages": list(before)}, out)
        if kept != after:  # a message that has calls stays, without its text
            self._values({**self.run.state.outputs, "messages": kept}, out)

    # --- messages

    def _piece(self, message: Shown, about: Shown, out: list[ThreadEvent]) -> None:
        if message["type"] != "AIMessageChunk":
            return  # results of tools are part of the values
        state = self.state
        if message["id"] != state.message:
            self._finish(out)
            state.message, state.node, state.blocks = message["id"], about["langgraph_node"], 0
            self._say("message-start", out, role="ai", id=state.message, metadata={"run_id": self.run.state.run_id})
        if reasoning := message["additional_kwargs"].get("reasoning_content"):
            self._write("reasoning", reasoning, out)
        if message["content"]:
            self._write("text", message["content"], out)
        for call in message["tool_calls"]:
            self._close_block(out)
            index, named = self._next_block(), {"id": call["id"], "name": call["name"]}
            chunk = {"type": "tool_call_chunk", **named, "args": objects.text(call["args"]), "index": index}
            self._say("content-block-start", out, index=index, content=chunk)
            whole = {"type": "tool_call", **named, "args": call["args"], "index": index}
            self._say("content-block-finish", out, index=index, content=whole)

    def _write(self, kind: str, piece: str, out: list[ThreadEvent]) -> None:
        block = self.state.block
        if block is None or block.kind != kind:
            self._close_block(out)
            block = self.state.block = OpenBlock(kind, self._next_block())
            self._say("content-block-start", out, index=block.index, content={"type": kind, FIELDS[kind]: ""})
        block.pieces.append(piece)
        delta = {"type": f"{kind}-delta", FIELDS[kind]: piece}
        self._say("content-block-delta", out, index=block.index, delta=delta)

    def _next_block(self) -> int:
        self.state.blocks += 1
        return self.state.blocks - 1

    def _close_block(self, out: list[ThreadEvent]) -> None:
        block, self.state.block = self.state.block, None
        if block is not None:
            whole = {"type": block.kind, FIELDS[block.kind]: "".join(block.pieces)}
            self._say("content-block-finish", out, index=block.index, content=whole)

    def _finish(self, out: list[ThreadEvent], *, withdrawn: bool = False) -> None:
        """End the message that is being written."""
        state = self.state
        if state.message is None:
            return
        self._close_block(out)
        found = next((each for each in self.run.state.messages if each["id"] == state.message), {})
        more: Shown = {"usage": found["usage_metadata"]} if "usage_metadata" in found else {}
        if withdrawn:
            more["metadata"] = {"withdrawn": True}
        self._say("message-finish", out, **more)
        state.message = None

    def _say(self, event: str, out: list[ThreadEvent], **data: Any) -> None:
        out.append(ThreadEvent("messages", {"event": event, **data}, self.state.node))

    # --- tools

    def _tool(self, event: Event, out: list[ThreadEvent]) -> None:
        if event.type not in ("tool.started", "tool.output", "tool.finished"):
            return
        calls, started = self.run.state.calls, self.state.started
        match event.payload:
            case ToolStarted(call_id, tool, given) if call_id not in started:
                started.append(call_id)
                self._call("tool-started", calls[call_id], out, tool_name=tool, input=given)
            case ToolOutput(call_id, text) if call_id in started:
                self._call("tool-output-delta", calls[call_id], out, delta=text)
            case ToolFinished(call_id, _, output, None) if call_id in started:
                self._call("tool-finished", calls[call_id], out, output=output)
            case ToolFinished(call_id, _, output, str() as error) if call_id in started:
                message = error if output is None else objects.text(output)
                self._call("tool-error", calls[call_id], out, message=message, code=error)
            case _:
                pass  # a call that was rejected is part of the values only

    def _call(self, event: str, call_id: str, out: list[ThreadEvent], **data: Any) -> None:
        out.append(ThreadEvent("tools", {"event": event, "tool_call_id": call_id, **data}, TOOLS))
