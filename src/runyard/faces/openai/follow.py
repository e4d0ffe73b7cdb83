"""Finds the responses of a run, and follows one of them: as a stream, or until its end."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from starlette.requests import Request

from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.engine.log.snapshots import translation_kind
from runyard.engine.log.stream import Streams
from runyard.errors import NotFound, Unavailable
from runyard.faces.openai import objects
from runyard.faces.openai.state import OpenText, State
from runyard.faces.openai.translate import Translation, frame
from runyard.web.run_to_end import ShuttingDown, events_until_end
from runyard.web.streaming.part_encoder import NUMBER, TEXT, PartEncoder, TextEvent

TEXT_KINDS: Mapping[TextEvent, str] = {"model.token": "message", "model.thinking": "reasoning"}
SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,20})?")
JS_SECONDS = 600.0  # the timeout that the library for JavaScript has if the app sets none
NODE_SECONDS = 300.0  # Node gives up a response that has not begun, whatever the timeout of the library
MARGIN_SECONDS = 5.0  # for the way to the client
NO_RESPONSE = "There is no response with that id."
TRANSLATION = translation_kind("openai", 3, State, Translation)


async def find(engine: Engine, owner: str, response_id: str) -> tuple[Run, int]:
    """Return the run and the part that a client names by the id of a response."""
    found = objects.parsed_id(response_id)
    if found is None:
        raise NotFound(NO_RESPONSE)
    try:
        return await engine.views.run(owner, found[0]), found[1]
    except NotFound:
        raise NotFound(NO_RESPONSE) from None


async def existing(engine: Engine, run: Run, part: int) -> dict[str, Any]:
    """Return a response as it is now. Raises NotFound if it has not begun."""
    found = (await engine.views.fold(run, TRANSLATION)).response(part)
    if found is None:
        raise NotFound(NO_RESPONSE)
    return found


async def until_end(request: Request, streams: Streams, run_id: str, part: int) -> dict[str, Any]:
    """Return a response when it is complete. Raises StillRunning before the client's patience ends, or if this process
    shuts down; ClientGone like `events_until_end`."""
    translation = Translation(run_id)
    try:
        async with (
            asyncio.timeout(patience_of(request.headers)) as limit,
            aclosing(events_until_end(request, streams, run_id)) as events,
        ):
            async for event in events:
                translation.take(event)
                if len(translation.state.ended) >= part:
                    break
    except ShuttingDown:
        raise StillRunning("This process is shutting down", run_id, part) from None
    except TimeoutError:
        if not limit.expired():
            raise
        raise StillRunning("There is no answer within the timeout of the client", run_id, part) from None
    found = translation.response(part)
    assert found is not None  # a log that has ended has ended all of its responses
    return found


def patience_of(headers: Mapping[str, str]) -> float | None:
    """Return the seconds after which a request must be answered, or None if the client has no timeout. The libraries
    repeat a request that times out, which would start another run. The library for Python sends its timeout. The one
    for Node sends only a timeout that the app sets for one request."""
    given = headers.get("x-stainless-read-timeout") or headers.get("x-stainless-timeout") or ""
    limit = float(given) if SECONDS.fullmatch(given) else 0.0
    if headers.get("x-stainless-lang") == "js":
        limit = limit or JS_SECONDS
    if headers.get("x-stainless-runtime") == "node":
        limit = min(limit, NODE_SECONDS)
    return max(limit - MARGIN_SECONDS, limit / 2) or None


class StillRunning(Unavailable):
    """The run continues after this response."""

    code = "still_running"

    def __init__(self, reason: str, run_id: str, part: int) -> None:
        name = objects.response_id(run_id, part)
        super().__init__(f"{reason}; the run continues. Retrieve the response {name}.")


class EventEncoder(PartEncoder):
    """Encodes the events of one response whose sequence number is greater than `after`."""

    def __init__(self, run_id: str, part: int, after: int = -1) -> None:
        self._translation = Translation(run_id)
        self._part = part
        self._after = after

    def take(self, event: Event) -> bytes:
        shown = self._translation.take(event)
        self.is_over = len(self._translation.state.ended) >= self._part
        if self._translation.state.part != self._part:
            return b""
        return b"".join([frame(each) for each in shown if each["sequence_number"] > self._after])

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        state, first = self._translation.state, self._translation.state.sequence
        if not state.is_writing(TEXT_KINDS[kind]) or first <= self._after:
            return None
        state.write_on(pieces)
        if state.part != self._part or (text := state.text) is None:
            return b""
        return self.frames_of(text.id, lambda: _delta(text)).of(pieces, first)


def _delta(text: OpenText) -> bytes:
    """Return the frame of a piece of this text, with marks."""
    fields = objects.delta_of(text.id, text.index, text.kind, TEXT)
    return frame({"type": objects.DELTA[text.kind], "sequence_number": NUMBER, **fields})
