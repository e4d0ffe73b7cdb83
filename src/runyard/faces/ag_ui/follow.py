"""Encodes a part of a run for one request."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from runyard.domain.events import Event
from runyard.engine.log.snapshots import translation_kind
from runyard.faces.ag_ui import events
from runyard.faces.ag_ui.events import Shown
from runyard.faces.ag_ui.state import State
from runyard.faces.ag_ui.translate import Translation
from runyard.web.streaming.part_encoder import TEXT, PartEncoder, TextEvent

TEXT_KINDS: Mapping[TextEvent, str] = {"model.token": "text", "model.thinking": "reasoning"}
TRANSLATION = translation_kind("ag_ui", 3, State, Translation)


class Part(NamedTuple):
    """A part of a run."""

    run_id: str
    number: int


class Asked(NamedTuple):
    """The parts of a request that its response refers to."""

    thread_id: str
    run_id: str
    messages: Sequence[dict[str, Any]]
    state: Any


class Encoder(PartEncoder):
    """Encodes one part for a request. If the client has messages of this part, it follows the part again: then a
    snapshot takes them back, and they are sent from the beginning."""

    def __init__(self, part: Part, asked: Asked) -> None:
        self._translation = Translation(part.run_id)
        self._part = part
        self._ids = {"threadId": asked.thread_id, "runId": asked.run_id}
        self._state = asked.state
        known = [(events.parsed_message_id(message["id"]), message) for message in asked.messages]
        self._base = [message for place, message in known if not self._is_own(place)]
        again = [message for place, message in known if self._is_own(place)]
        self._again = [{**each, "content": ""} for each in again if each["role"] == "reasoning"]
        self._is_again = bool(again)
        self._answered = {message.get("toolCallId") for message in self._base if message["role"] == "tool"}

    def _is_own(self, place: tuple[str, int] | None) -> bool:
        return place is not None and place[0] == self._part.run_id and place[1] >= self._part.number

    def take(self, event: Event) -> bytes:
        found, state = self._translation.take(event), self._translation.state
        if state.part != self._part.number:
            return b""
        self.is_over = not state.is_open
        return b"".join([events.frame(each) for shown in found for each in self._completed(shown)])

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        state, shown = self._translation.state, TEXT_KINDS[kind]
        if not state.is_writing(events.ROLES[shown]):
            return None
        state.write_on(pieces)
        if state.part != self._part.number or state.text is None:
            return b""
        message = state.text["id"]
        return self.frames_of(message, lambda: events.frame(events.delta(shown, message, TEXT))).of(pieces)

    def _completed(self, shown: Shown) -> Sequence[Shown]:
        match shown["type"]:
            case "RUN_STARTED":
                started = {**shown, **self._ids}
                if not self._is_again:
                    return [started]
                return [started, {"type": "MESSAGES_SNAPSHOT", "messages": [*self._base, *self._again]}]
            case "RUN_FINISHED":
                return [{**shown, **self._ids}]
            case "TOOL_CALL_RESULT":
                return [] if shown["toolCallId"] in self._answered else [shown]
            case "MESSAGES_SNAPSHOT":
                base = [each for each in self._base if each["id"] not in shown["dropped"]]
                return [{"type": shown["type"], "messages": base + shown["messages"]}]
            case "STATE_SNAPSHOT":
                before = self._state if isinstance(self._state, dict) else {}
                return [{**shown, "snapshot": {**before, **shown["snapshot"]}}]
            case _:
                return [shown]
