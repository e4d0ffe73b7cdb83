"""Finds the streams of a chat and of a run, and encodes them from any position."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from runyard.domain.events import Event
from runyard.engine.engine import Engine
from runyard.engine.log.snapshots import translation_kind
from runyard.errors import NotFound
from runyard.faces.ai_sdk import chunks
from runyard.faces.ai_sdk.chunks import Chunk
from runyard.faces.ai_sdk.state import State
from runyard.faces.ai_sdk.translate import Translation
from runyard.web.streaming.part_encoder import TEXT, PartEncoder, TextEvent

TEXT_KINDS: Mapping[TextEvent, str] = {"model.token": "text", "model.thinking": "reasoning"}
RESUMED_SECONDS = 60.0
TRANSLATION = translation_kind("ai_sdk", 3, State, Translation)


class Parts(NamedTuple):
    """The parts `first` to `last` of a run, as one stream of `size` chunks so far; `is_ended`: there will be no more.
    `answered` are calls of client tools that have results: the client need not make them again."""

    run_id: str
    first: int
    last: int
    size: int = 0
    is_ended: bool = False
    answered: frozenset[str] = frozenset()

    @property
    def headers(self) -> dict[str, str]:
        name = chunks.stream_id(self.run_id, self.last)
        return {"x-vercel-ai-ui-message-stream": "v1", "x-workflow-run-id": name, "Runyard-Run-Id": self.run_id}


class Encoder(PartEncoder):
    """Encodes parts of a run as one stream, from the chunk with the index `start`. The end of a part that is not the
    last one is left out, so a chunk has the same index before and after the run continues."""

    def __init__(self, parts: Parts, start: int = 0) -> None:
        self._translation = Translation(parts.run_id)
        self._parts = parts
        self._left = start  # chunks before the one to begin with

    def take(self, event: Event) -> bytes:
        found, state = self._translation.take(event), self._translation.state
        if state.part < self._parts.first:
            return b""
        is_last = state.part >= self._parts.last
        if not state.is_open and not is_last:
            found.pop()
        self.is_over = is_last and not state.is_open
        skipped = min(self._left, len(found))
        self._left -= skipped
        body = b"".join([chunks.frame(self._shown(chunk)) for chunk in found[skipped:]])
        return body + chunks.DONE if self.is_over else body

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        state = self._translation.state
        if not state.is_writing(TEXT_KINDS[kind]) or self._left:
            return None
        state.write_on(pieces)
        if state.part < self._parts.first:
            return b""
        kind_and_id = (state.text_kind, state.text)
        return self.frames_of(kind_and_id, lambda: chunks.frame(chunks.delta(*kind_and_id, TEXT))).of(pieces)

    def _shown(self, chunk: Chunk) -> Chunk:
        if chunk["type"] == "tool-input-available" and chunk["toolCallId"] in self._parts.answered:
            return {**chunk, "providerExecuted": True}
        return chunk


async def named_stream(engine: Engine, owner: str, given: str) -> Parts | None:
    """Return the stream that a client names as it was named in `x-workflow-run-id`, or None."""
    found = chunks.parsed_stream_id(given)
    if found is None:
        return None
    try:
        run = await engine.views.run(owner, found[0])
    except NotFound:
        return None
    state, part = (await engine.views.fold(run, TRANSLATION)).state, found[1]
    if part > state.part:
        return None
    size = state.sizes[part - 1] if part <= len(state.sizes) else state.count
    return Parts(run.id, part, part, size, part <= len(state.sizes))


async def chat_stream(engine: Engine, owner: str, chat: str, *, or_ended: bool) -> Parts | None:
    """Return the whole message of the chat's last run as a stream, or None if it has ended and `or_ended` is false. A
    client whose connection broke may come after the end, so a run counts as open for some seconds more."""
    run = (await engine.views.thread_head(owner, chat)).run
    if run is None:
        return None
    if run.status.is_terminal and not or_ended and not engine.views.ended_within(run, RESUMED_SECONDS):
        return None
    state = (await engine.views.fold(run, TRANSLATION)).state
    answered = frozenset(key for key, wait in state.waits.items() if not wait.is_open)
    return Parts(run.id, 1, max(1, state.part), state.size_of_all, not state.is_open, answered)
