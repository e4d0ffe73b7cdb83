"""Finds tasks, and follows them: as a stream, or until they end or require input."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import NamedTuple

from starlette.requests import Request

from runyard.domain.api_key import Scope
from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.engine.log.snapshots import translation_kind
from runyard.errors import Gone, NotFound
from runyard.faces.a2a import objects, wire
from runyard.faces.a2a.objects import ANSWER, Place, Shown
from runyard.faces.a2a.state import CLOSING, TERMINAL, State
from runyard.faces.a2a.translate import Translation
from runyard.web.context import Context
from runyard.web.run_to_end import events_until_end
from runyard.web.streaming.part_encoder import TEXT, PartEncoder, TextEvent

TRANSLATION = translation_kind("a2a", 1, State, Translation)
Frame = Callable[[Shown], bytes]


class Call(NamedTuple):
    """A request to an agent. `frame` encodes an update for the binding of the request; `check_scope` raises an error if
    the caller's key lacks a scope; `base` is the address of the server."""

    request: Request
    context: Context
    owner: str
    agent: str
    base: str
    frame: Frame
    check_scope: Callable[[Scope], None]

    @property
    def engine(self) -> Engine:
        return self.context.engine


async def find(call: Call, task_id: str) -> Run:
    """Return the run of a task of this agent. Raises TaskNotFound."""
    try:
        run = await call.engine.views.run(call.owner, task_id)
    except (NotFound, Gone):
        raise wire.TaskNotFound from None
    if run.agent != call.agent:
        raise wire.TaskNotFound
    return run


async def place_of(call: Call, run: Run) -> Place:
    """Return the context of a run and the message that started it."""
    views = call.engine.views
    first = (await views.triggers([run])).get(run.id)
    return Place(await context_id(call, run), call.base, first)


async def context_id(call: Call, run: Run) -> str:
    """Return the name of a run's context: the name that a client gave the thread, or its id."""
    if run.thread_id is None:
        return run.id
    try:
        thread = await call.engine.views.thread(call.owner, run.thread_id)
    except NotFound:  # a channel
        return run.thread_id
    return thread.external_id or thread.id


class TaskEncoder(PartEncoder):
    """Encodes updates of a task for one request."""

    def __init__(self, place: Place, translation: Translation, frame: Frame) -> None:
        self._translation = translation
        self._place = place
        self._frame = frame

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        state = self._translation.state
        if not state.is_writing:
            return None
        if kind == "model.thinking":
            return b""
        state.written += pieces
        return self.frames_of(ANSWER, lambda: self._encoded([objects.chunk(TEXT, append=True)])).of(pieces)

    def _encoded(self, updates: Sequence[Shown]) -> bytes:
        run_id = self._translation.state.run_id
        return b"".join([self._frame(objects.completed(each, run_id, self._place)) for each in updates])


class Updates(TaskEncoder):
    """Encodes the updates of one part of a run: first the task as it is at the beginning of the part. It is over when
    the task ends or requires input."""

    def __init__(self, place: Place, part: int, run_id: str, frame: Frame, history_length: int | None) -> None:
        super().__init__(place, Translation(run_id), frame)
        self._part = part
        self._history_length = history_length
        self._has_begun = False

    def take(self, event: Event) -> bytes:
        found, state = self._translation.take(event), self._translation.state
        if state.part < self._part and state.name not in TERMINAL:
            return b""
        self.is_over = state.name in CLOSING
        if not self._has_begun:
            self._has_begun = True
            return self._frame({"task": objects.task(state, self._place, self._history_length)})
        return self._encoded(found)

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        return super().more_text(kind, pieces, texts) if self._has_begun else None


class LaterUpdates(TaskEncoder):
    """Encodes the updates of a task after the task as it was when a client subscribed. It is over when the task ends or
    requires input again."""

    @property
    def first(self) -> bytes:
        return self._frame({"task": objects.task(self._translation.state, self._place)})

    def take(self, event: Event) -> bytes:
        before = self._translation.state.status
        found, state = self._translation.take(event), self._translation.state
        self.is_over = state.name in CLOSING and state.status is not before
        return self._encoded(found)


async def until_pause(call: Call, run_id: str, part: int) -> State:
    """Return the state of a task when it has ended or requires input. Raises like `events_until_end`."""
    translation = Translation(run_id)
    async with aclosing(events_until_end(call.request, call.engine.streams, run_id)) as events:
        async for event in events:
            translation.take(event)
            state = translation.state
            if state.name in TERMINAL or (state.part >= part and state.name in CLOSING):
                break
    return translation.state
