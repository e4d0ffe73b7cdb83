"""Follows a part of a run: as a stream of events, or until its values are there.

A client that reconnects gives the id of the last event that it has seen, and gets exactly the frames after it. The
`Location` of a response is the address to reconnect to; it names the modes, because the clients leave them out then.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from runyard.domain.content.parts import model_content
from runyard.domain.conversations.thread import Message
from runyard.domain.events import TERMINAL, Event
from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.engine.log.snapshots import translation_kind
from runyard.engine.log.stream import Pause
from runyard.errors import Gone, NotFound
from runyard.faces.langgraph import objects
from runyard.faces.langgraph.messages import FIRST_WHOLE, WholeMessages
from runyard.faces.langgraph.objects import Frame, Shown
from runyard.faces.langgraph.state import State
from runyard.faces.langgraph.translate import Translation
from runyard.web.context import Context
from runyard.web.streaming.part_encoder import NUMBER, TEXT, PartEncoder, TextEvent
from runyard.web.streaming.sse import HEADERS, LiveStream, PartFollower

MOST_RUNS = 200  # of a thread whose messages are shown, the newest ones
ROLES = {"user": "human", "assistant": "ai", "system": "system"}
TRANSLATION = translation_kind("langgraph", 2, State, Translation)
Position = tuple[int, int]
START: Position = (0, 0)
Load = Callable[[State], Awaitable[list[Shown]]]


class Started(NamedTuple):
    """A part of a run, and its thread as the client calls it."""

    thread: str
    run_id: str
    part: int

    @property
    def path(self) -> str:
        return f"/threads/{quote(self.thread, safe='')}/runs/{objects.shown_run_id(self.run_id, self.part)}"

    def headers(self, then: str) -> dict[str, str]:
        """Return the headers of a response. The clients add both addresses to the prefix of this face."""
        return {"Location": f"{self.path}/{then}", "Content-Location": self.path, "Runyard-Run-Id": self.run_id}


class ShownRun(NamedTuple):
    """An ended run and all its messages, with its question."""

    run: Run
    messages: list[Shown]


async def earlier_messages(
    engine: Engine, run: Run, state: State, known: dict[str, ShownRun] | None = None
) -> list[Shown]:
    """Return the messages before those that the run has written: of earlier runs on its branch, and its question.
    `state` is that of the run. `known` keeps ended runs for the next call."""
    known = {} if known is None else known
    branch = [run]
    while (parent := branch[-1].parent_id) is not None and len(branch) < MOST_RUNS:
        try:
            branch.append(known[parent].run if parent in known else await engine.views.run(run.owner, parent))
        except (NotFound, Gone):
            break
    questions = await engine.views.triggers([each for each in branch if each.id not in known])
    found: list[Shown] = []
    for each in reversed(branch):
        if each is run:
            found += _first_messages(each, state, questions.get(each.id))
        elif each.id in known:
            found += known[each.id].messages
        else:
            past = (await engine.views.fold(each, TRANSLATION)).state
            messages = [*_first_messages(each, past, questions.get(each.id)), *past.messages]
            found += messages
            if each.status.is_terminal:
                known[each.id] = ShownRun(each, messages)
    return found


def _first_messages(run: Run, state: State, question: Message | None) -> list[Shown]:
    """Return the messages that a run began with."""
    found: list[Shown] = [
        {"type": ROLES.get(said["role"], "human"), "id": f"{run.id}.{n}", "content": said["content"]}
        for n, said in enumerate(state.earlier)
    ]
    if question is not None:
        message_id = str(state.echo.get("message_id") or question.id)
        found.append(objects.human(message_id, model_content(question.text, question.parts)))
    return found


class Encoder(PartEncoder):
    """Encodes the frames of one part that the modes show and that come after a position. `base` are the messages
    before those of the run, once they are needed."""

    def __init__(self, part: Started, modes: Collection[str], after: Position = START) -> None:
        self.translation = Translation(part.run_id)
        self._number = part.part
        self._after = after
        self._modes = {"", *modes} if {"values", "updates"} & set(modes) else {"", "interrupt", *modes}
        self.base: Sequence[Shown] | None = None if "values" in modes else []
        self._whole = WholeMessages() if "messages" in modes else None

    def take(self, event: Event) -> bytes:
        found, state = self.translation.take(event), self.translation.state
        if not found:
            return b""
        if state.part != self._number:
            return b""
        self.is_over = not state.is_open
        seq, first = event.seq, self._after
        numbered = list(enumerate(found))
        if self._whole is not None:
            numbered += enumerate(self._whole.take(found), FIRST_WHOLE)
        return b"".join(
            objects.encoded(seq, n, self._completed(frame))
            for n, frame in numbered
            if frame.mode in self._modes and (seq, n) > first
        )

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        state, is_reasoning = self.translation.state, kind == "model.thinking"
        seq = texts[0].seq
        is_new = seq > self._after[0]
        if not is_new or self._whole is not None or not state.is_writing(is_reasoning=is_reasoning):
            return None
        state.write_on(pieces, is_reasoning=is_reasoning)
        if state.part != self._number or "messages-tuple" not in self._modes or (text := state.text) is None:
            return b""

        def example() -> bytes:
            return objects.encoded(NUMBER, 0, self.translation.piece(text, TEXT, is_reasoning=is_reasoning))

        return self.frames_of((text.id, kind), example).of(pieces, seq)

    def _completed(self, frame: Frame) -> Frame:
        if frame.mode != "values":
            return frame
        return frame._replace(data={**frame.data, "messages": [*(self.base or ()), *frame.data["messages"]]})


class ValuesEncoder(Encoder):
    """Makes the values at the end of a part, as JSON."""

    def __init__(self, part: Started) -> None:
        super().__init__(part, ("values",))

    def take(self, event: Event) -> bytes:
        found = self.translation.take(event)
        state = self.translation.state
        self.is_over = not state.is_open and state.part == self._number
        return msgspec.json.encode(self._result(found[-1])) if self.is_over else b""

    def _result(self, last: Frame) -> Shown:
        if last.event == "error":
            return {"__error__": last.data}
        values = self._completed(Frame("values", "values", self.translation.values())).data
        interrupts = self.translation.interrupts()
        return {**values, objects.INTERRUPT: interrupts} if interrupts else values


class Follower(PartFollower):
    """Follows a part. The messages before it are loaded when its run begins: earlier runs of the thread have written
    theirs by then."""

    def __init__(self, engine: Engine, run_id: str, encoder: Encoder, load: Load) -> None:
        super().__init__(engine.streams, run_id, encoder)
        self._frames = encoder
        self._load = load

    async def next(self, patience: float) -> Sequence[bytes] | Pause:
        if self._frames.is_over:
            return Pause.END
        found = await self._log.next(patience)
        if isinstance(found, Pause):
            return found
        return [await self._encoded(chunk.events) for chunk in found]

    async def _encoded(self, events: Sequence[Event]) -> bytes:
        if self._frames.base is not None:
            return self._frames.take_all(events)
        before = list(takewhile(lambda event: not has_begun(event), events))
        encoded = self._frames.take_all(before)
        if len(before) < len(events):
            self._frames.base = await self._load(self._frames.translation.state)
            encoded += self._frames.take_all(events[len(before) :])
        return encoded


def has_begun(event: Event) -> bool:
    return event.source == "worker" or event.type == TERMINAL


class PartStream(LiveStream):
    """The stream of a part. A heartbeat has no empty line: the client for Node would make an event of it.

    `on_gone` is called if the client disconnects before the end."""

    ping = b": ping\n"

    def __init__(
        self,
        context: Context,
        part: Started,
        encoder: Encoder,
        headers: dict[str, str],
        load: Load,
        on_gone: Callable[[], Awaitable[Any]] | None = None,
    ) -> None:
        engine = context.engine
        super().__init__(lambda: Follower(engine, part.run_id, encoder, load), bytes, context.heartbeat, headers)
        self._on_gone = on_gone

    def _has_ended(self, follower: Follower) -> bool:
        return follower.has_ended

    async def _gone(self) -> None:
        if self._on_gone is not None:
            await self._on_gone()


class ValuesResponse(PartStream):
    """The values of a part as JSON, when it has ended. The headers are sent at once, so that a client whose connection
    breaks finds the run again; until the end, empty lines keep the connection open."""

    first_headers = ((b"content-type", b"application/json"), *HEADERS[1:])
    ping = b"\n"


def stream_headers(part: Started, modes: Collection[str]) -> dict[str, str]:
    return part.headers("stream?" + urlencode([("stream_mode", mode) for mode in modes]))
