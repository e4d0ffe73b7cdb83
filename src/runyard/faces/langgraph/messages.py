"""The messages that a translation makes: text in pieces, calls, and what was withdrawn. Pure.

A message of the agent is complete when something else begins. Until then, calls are added to it (`_flush`).

In the stream mode `messages` every piece shows the whole message so far. Its frames are made from those of
`messages-tuple` and `updates`. They come after the other frames of an event, with numbers from `FIRST_WHOLE`, so that
the ids of events do not depend on the modes of a stream.
"""

from collections.abc import Sequence
from typing import Any

from runyard.domain.events import RunOutput
from runyard.domain.state.parted import PartedTranslation
from runyard.faces.langgraph import objects
from runyard.faces.langgraph.objects import Frame, Shown
from runyard.faces.langgraph.state import OpenMessage, State

MODEL, TOOLS, CUSTOM = "model", "tools", "custom"
FIRST_WHOLE = 1000  # an event has fewer other frames


class Messages(PartedTranslation[State, Frame]):
    """The messages of a run, and the frames that show them."""

    def values(self) -> Shown:
        """Return the state that the run has written so far: its messages and outputs."""
        return {**self.state.outputs, "messages": list(self.state.messages)}

    def interrupts(self) -> list[Shown]:
        """Return what the client may answer now."""
        return [objects.interrupt(key, wait) for key, wait in self.state.open_waits.items()]

    def _call(self, call_id: str, tool: str, given: Any, event_id: str, out: list[Frame]) -> None:
        """Add a call to the last message of the agent, unless it is known."""
        state = self.state
        if call_id in state.calls:
            return
        self._close_text()
        state.calls[call_id] = f"call_{event_id}"
        call = objects.tool_call(state.calls[call_id], tool, given)
        if state.last is None:
            self._append(objects.answer(event_id, "", ""), self._node)
        assert state.last is not None
        before = self._found(state.last)["tool_calls"]
        self._change(state.last, tool_calls=[*before, call])
        out.append(self._tuple(objects.chunk(state.last, calls=[call], at=len(before)), state.last_node))

    @property
    def _node(self) -> str:
        """The node of the graph that works now: the innermost step of the agent, or its model."""
        return next(reversed(self.state.steps.values()), MODEL)

    def _tuple(self, message: Shown, node: str) -> Frame:
        about = {"langgraph_node": node, "run_id": self.state.run_id, "assistant_id": self.state.agent}
        return Frame("messages-tuple", "messages", [message, about])

    def _values(self, out: list[Frame]) -> None:
        self.state.states += 1
        out.append(Frame("values", "values", self.values()))

    def _write(self, piece: str, event_id: str, out: list[Frame], *, is_reasoning: bool = False) -> None:
        state = self.state
        if not is_reasoning:
            state.written.append(piece)
            if state.has_text and (state.text is None or not state.text.text):
                piece = piece.lstrip("\n")  # the gap between two turns: a message has its own place
        if not piece:
            return
        if state.text is None:
            self._flush(out)
            state.text = OpenMessage(event_id, self._node)
        (state.text.reasoning if is_reasoning else state.text.text).append(piece)
        state.has_text = state.has_text or not is_reasoning
        out.append(self.piece(state.text, piece, is_reasoning=is_reasoning))

    def piece(self, text: OpenMessage, piece: str, *, is_reasoning: bool) -> Frame:
        """Return the frame of a piece of the open message."""
        shown = objects.chunk(text.id, reasoning=piece) if is_reasoning else objects.chunk(text.id, piece)
        return self._tuple(shown, text.node)

    def _close_text(self, node: str | None = None) -> None:
        text, self.state.text = self.state.text, None
        if text is not None:
            self._append(objects.answer(text.id, "".join(text.text), "".join(text.reasoning)), node or text.node)
            self.state.unkept.append(text.id)

    def _append(self, message: Shown, node: str) -> None:
        state = self.state
        state.messages.append(message)
        state.news.append(message["id"])
        state.last, state.last_node = message["id"], node

    def _found(self, message_id: str) -> Shown:
        return next(each for each in reversed(self.state.messages) if each["id"] == message_id)

    def _change(self, message_id: str, **fields: Any) -> None:
        """Replace a message. Frames that have the old one stay as they are."""
        messages = self.state.messages
        at = next(n for n in reversed(range(len(messages))) if messages[n]["id"] == message_id)
        messages[at] = {**messages[at], **fields}

    def _flush(self, out: list[Frame]) -> None:
        """Show the last message of the agent: it is complete."""
        self._close_text()
        state = self.state
        state.last = None
        if not state.news:
            return
        shown, state.news = [self._found(each) for each in state.news], []
        out.append(Frame("updates", "updates", {state.last_node: {"messages": shown}}))
        self._values(out)

    def _withdraw(self, out: list[Frame]) -> None:
        """Take back the text since the last result. A message that has calls stays, without its text."""
        state = self.state
        del state.written[state.kept :]
        lost = [*state.unkept, *([] if state.text is None else [state.text.id])]
        state.text, state.unkept = None, []
        if not lost:
            return
        bare = [each for each in state.messages if each["id"] in lost and each["tool_calls"]]
        for message in bare:
            self._change(message["id"], content="", additional_kwargs={})
        gone = set(lost) - {each["id"] for each in bare}
        state.messages = [each for each in state.messages if each["id"] not in gone]
        state.news = [each for each in state.news if each not in gone]
        state.last = None if state.last in gone else state.last
        state.has_text = any(each["type"] == "ai" and each["content"] for each in state.messages)
        for message_id in lost:
            if message_id in gone:
                out.append(self._tuple({"type": "remove", "id": message_id, "content": ""}, MODEL))
        self._values(out)

    def _answer(self, output: RunOutput, event_id: str, out: list[Frame]) -> None:
        """Write what the answer has and the stream had not. An answer that differs is a separate message."""
        state, written = self.state, "".join(self.state.written)
        if not output.text.startswith(written):
            self._flush(out)
            state.has_text, written = False, ""
        self._write(output.text[len(written) :], event_id, out)
        self._close_text()
        files = output.files or []
        more = {name: value for name, value in (("sources", output.sources), ("files", files)) if value}
        if more:
            if state.last is None:
                self._append(objects.answer(event_id, "", ""), self._node)
            assert state.last is not None
            added = objects.builtins(more)
            self._change(state.last, additional_kwargs={**self._found(state.last)["additional_kwargs"], **added})
            out.append(self._tuple({**objects.chunk(state.last), "additional_kwargs": added}, state.last_node))
        state.outputs = output.outputs
        has_news = bool(state.news)
        self._flush(out)
        if output.outputs and not has_news:
            self._values(out)


# --- the mode `messages`


class WholeMessages:
    """The messages of the agent so far, by id. It takes all frames of a part, in order."""

    def __init__(self) -> None:
        self._messages: dict[str, Shown] = {}

    def take(self, frames: Sequence[Frame]) -> list[Frame]:
        """Return the frames of the mode `messages` for these frames of one event."""
        out: list[Frame] = []
        for frame in frames:
            if frame.mode == "messages-tuple":
                piece, about = frame.data
                self._piece(piece, about, out)
            elif frame.mode == "updates":
                updates = [each for each in frame.data.values() if isinstance(each, dict)]
                complete = [message for each in updates for message in each.get("messages", ())]
                out += [Frame("messages", "messages/complete", complete)] if complete else []
        return out

    def _piece(self, piece: Shown, about: Shown, out: list[Frame]) -> None:
        if piece["type"] == "remove":
            out.append(Frame("messages", "messages/complete", [piece]))
        if piece["type"] != "AIMessageChunk":
            return  # the result of a tool, which the update after it shows
        message_id, known = piece["id"], self._messages.get(piece["id"])
        if known is None:
            out.append(Frame("messages", "messages/metadata", {message_id: {"metadata": about}}))
        self._messages[message_id] = piece if known is None else _joined(known, piece)
        out.append(Frame("messages", "messages/partial", [{**self._messages[message_id], "type": "ai"}]))


def _joined(known: Shown, piece: Shown) -> Shown:
    reasoning = "".join(each["additional_kwargs"].get("reasoning_content", "") for each in (known, piece))
    return {
        **piece,
        "content": known["content"] + piece["content"],
        "additional_kwargs": {"reasoning_content": reasoning} if reasoning else {},
        "tool_calls": [*known["tool_calls"], *piece["tool_calls"]],
        "tool_call_chunks": [*known["tool_call_chunks"], *piece["tool_call_chunks"]],
    }
