"""Makes the messages of one tool call from the log of its run.

The number of a message is its place among the messages of the call. It depends on the log alone, so any process can
continue a stream after the message that a client names by `Last-Event-ID`.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from runyard.domain.content.parts import File
from runyard.domain.events import Event, RunOutput
from runyard.engine.log.snapshots import translation_kind
from runyard.faces.mcp import forms, objects
from runyard.faces.mcp.objects import Shown
from runyard.faces.mcp.state import State
from runyard.faces.mcp.translate import Addition, Progress, Translation
from runyard.web.streaming.part_encoder import PartEncoder, TextEvent

TRANSLATION = translation_kind("mcp", 2, State, Translation)
RETRY_MS = 500
Load = Callable[[Sequence[File]], Awaitable[dict[str, bytes]]]
_encode = msgspec.json.Encoder().encode


async def load_nothing(files: Sequence[File]) -> dict[str, bytes]:
    """Return no bytes: all files become links."""
    return {}


class Call(Struct, frozen=True):
    """A tool call whose answer is wanted. `token`: the client wants notifications of progress under this name. `asks`:
    it can show forms. `part` is the part of the run that the answer is made of; with sessions and forms the answer
    spans all parts, because the forms come as requests in between. `links`: the client knows links to resources."""

    id: str | int
    token: str | int | None
    asks: bool
    is_stateless: bool
    part: int = 1
    links: bool = True

    @property
    def spans_waits(self) -> bool:
        return self.asks and not self.is_stateless


class Answer:
    """Makes the messages of a call. The last one is its response; `is_over` is true then."""

    def __init__(self, run_id: str, call: Call, load: Load = load_nothing) -> None:
        self._translation = Translation(run_id)
        self._call = call
        self._load = load
        self._loaded: dict[str, bytes] = {}
        self._asked_waits: set[str] = set()
        self.is_over = False

    async def prepare(self, events: Sequence[Event]) -> None:
        """Load the files of the answer, if it is among these events."""
        for event in events:
            if event.type == "run.output" and isinstance(output := event.payload, RunOutput) and output.files:
                self._loaded = await self._load(output.files)

    @property
    def is_writing(self) -> bool:
        """Whether text may follow."""
        return self._translation.state.is_open

    def take(self, event: Event) -> Iterator[Shown]:
        """Return the messages of an event."""
        return self._messages(self._translation.take(event))

    def more_text(self, pieces: Sequence[str], ts: int) -> Iterator[Shown]:
        """Return the messages of consecutive pieces of text. The last one is of this time."""
        return self._messages(self._translation.write_on(pieces, ts))

    def _messages(self, found: Sequence[Addition]) -> Iterator[Shown]:
        state = self._translation.state
        if not self._call.spans_waits and state.part != self._call.part:
            return
        for shown in found:
            if isinstance(shown, Progress):
                if self._call.token is not None:
                    yield objects.progress(self._call.token, shown.number, shown.message)
            elif shown == "end":
                self.is_over = True
                yield self._response(objects.result(state, self._loaded, links=self._call.links))
            elif self._call.spans_waits:
                yield from self._questions(state)
            else:
                self.is_over = True
                yield self._response(objects.input_required(state) if self._call.asks else objects.notice(state))

    def _questions(self, state: State) -> Iterator[Shown]:
        for wait_id, wait in state.open_waits.items():
            if wait_id not in self._asked_waits:
                self._asked_waits.add(wait_id)
                yield objects.ask(wait_id, forms.elicitation(wait))

    def _response(self, found: Shown) -> Shown:
        is_final = self._call.is_stateless and "resultType" not in found
        return objects.reply(self._call.id, objects.stateless_result(found) if is_final else found)


class Encoder(PartEncoder):
    """Encodes the messages of a call after the number `after` as server-sent events. With sessions they have ids, and
    the first event is empty: it tells the client how to resume. The stateless revision cannot resume."""

    def __init__(
        self, run_id: str, call: Call, load: Load = load_nothing, *, after: int = 0, is_primed: bool = False
    ) -> None:
        self._answer = Answer(run_id, call, load)
        self.prepare = self._answer.prepare
        self._run_id = run_id
        self._has_ids = not call.is_stateless
        self._number = 0
        self._after = after
        self._is_primed = is_primed

    def take(self, event: Event) -> bytes:
        prime = self._prime() if self._is_primed else b""
        self._is_primed = False
        frames = self._frames(self._answer.take(event))
        self.is_over = self._answer.is_over
        return prime + frames

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        if kind == "model.thinking" or self._is_primed or not self._answer.is_writing:
            return None
        return self._frames(self._answer.more_text(pieces, texts[-1].ts))

    def _frames(self, messages: Iterable[Shown]) -> bytes:
        frames: list[bytes] = []
        for shown in messages:
            self._number += 1
            if self._number > self._after:
                frames.append(self._frame(shown))
        return b"".join(frames)

    def _prime(self) -> bytes:
        return f"id: {self._run_id}.{self._after}\nretry: {RETRY_MS}\ndata:\n\n".encode()

    def _frame(self, shown: Shown) -> bytes:
        name = f"id: {self._run_id}.{self._number}\n".encode() if self._has_ids else b""
        return b"%bevent: message\ndata: %b\n\n" % (name, _encode(shown))


def echo_of(call: Call, thread: str) -> dict[str, Any]:
    """Return what the log keeps of a call, so that any process can continue its stream."""
    return {"id": call.id, "token": call.token, "asks": call.asks, "stateless": call.is_stateless, "thread": thread} | (
        {} if call.links else {"links": False}
    )


def call_in(state: State) -> Call | None:
    """Return the call that started a run, or None if the run was not started by a call with a session."""
    echo = state.echo
    if "stateless" not in echo or echo["stateless"]:
        return None
    return Call(echo["id"], echo["token"], echo["asks"], is_stateless=False, links=echo.get("links", True))
