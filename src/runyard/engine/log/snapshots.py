"""Snapshots: a reader of a log begins at the newest state that is kept, and reads only the events after it.

A snapshot is derived and may be dropped at any time. One that is missing or cannot be decoded costs reading time, never
correctness: then the log is folded from its first event.

Who saves one: the worker of a long run after every `EVERY` events and before the run ends
(`engine/running/run_snapshots.py`); and a reader that folded many events. A snapshot in the middle of a log is saved
only if the events since the one before it take twice as much room as that one. So the snapshots of a run together take
at most half as much room as its log, and the last one more.

A fold reads pages of `READ_EVENTS` events and lets other tasks run in between.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.domain.state import kept_state
from runyard.domain.state.fold import Folding
from runyard.domain.state.run_state import State
from runyard.errors import RunyardError
from runyard.store import LogStore, Snapshot, SnapshotStore
from runyard.telemetry.logger import get_logger

log = get_logger()

READ_EVENTS = 1000
EVERY = 10_000  # events between two snapshots in the middle of a log, at least
AT_END = 256  # events that make a snapshot at the end of a log worth a write
ROW_BYTES = 100  # of an event in the database, besides its data
MOST_BYTES = 64 * 1024 * 1024  # of a snapshot; a larger state is folded from the log each time
FAR = 2**62


class Fold(Protocol):
    """A fold over the events of one run."""

    def take(self, event: Event) -> object: ...


F = TypeVar("F", bound=Fold)


class FoldKind(Struct, Generic[F], frozen=True):
    """A kind of fold: how it begins, and how its state becomes bytes and is decoded again.

    `decoded` raises ValueError for bytes that it did not encode."""

    name: str
    begin: Callable[[Run], F]
    encoded: Callable[[F], bytes]
    decoded: Callable[[Run, bytes], F]


STATE: FoldKind[Folding] = FoldKind(
    "state",
    lambda run: Folding(State(agent=run.agent)),
    lambda folding: kept_state.encoded(folding.state),
    lambda run, data: Folding(kept_state.decoded(data)),
)


class Translation(Fold, Protocol):
    """A fold whose whole state is one struct."""

    state: Any


T = TypeVar("T", bound=Translation)


def translation_kind(name: str, version: int, state: type[Any], begin: Callable[..., T]) -> FoldKind[T]:
    """Return the kind of a translation. `begin` makes one from the id of a run and, if there is one, its state. The
    state is kept with a version: a snapshot of another version is not used."""
    mark, encode, decode = bytes([version]), msgspec.json.Encoder().encode, msgspec.json.Decoder(state).decode

    def decoded(run: Run, data: bytes) -> T:
        if data[:1] != mark:
            raise ValueError("another version")
        return begin(run.id, decode(data[1:]))

    return FoldKind(name, lambda run: begin(run.id), lambda translation: mark + encode(translation.state), decoded)


class FoldedLog(Generic[F]):
    """One fold of one run's log: how far it is, and what it took since the snapshot that it began at."""

    def __init__(self, kind: FoldKind[F], fold: F, seq: int, size: int) -> None:
        self.kind = kind
        self.fold = fold
        self.seq = seq
        self.size = size
        self.events = 0
        self.bytes = 0

    def take(self, events: Sequence[Event]) -> None:
        """Take those of these events that it does not have yet."""
        for event in events:
            if event.seq > self.seq:
                self.fold.take(event)
                self.events += 1
                self.bytes += len(event.data) + ROW_BYTES
        self.seq = max(self.seq, events[-1].seq)

    @property
    def is_due(self) -> bool:
        """Whether a snapshot in the middle of the log is worth its room."""
        return self.events >= EVERY and self.bytes >= 2 * self.size

    def snapshot(self) -> Snapshot:
        """Encode the state as it is now, and count from here."""
        data = self.kind.encoded(self.fold)
        self.size, self.events, self.bytes = len(data), 0, 0
        return Snapshot(self.seq, data)


class FoldedLogs(LogStore, SnapshotStore, Protocol):
    """Logs, and the snapshots of their folds."""


class Snapshots:
    def __init__(self, store: FoldedLogs) -> None:
        self._store = store
        self._saving: set[asyncio.Task[None]] = set()

    async def state(self, run: Run, upto: int | None = None) -> State:
        """Return the state of a run after the event `upto`, or after the last event that the run is known to have.

        If the run is deleted meanwhile, it is the state after the last event that was read."""
        [folded] = await self.folded(run, [STATE], upto)
        state: State = folded.fold.state
        return state

    async def states(self, runs: Sequence[Run]) -> AsyncIterator[State]:
        """Yield what `state` returns for each of these runs. Logs without snapshots are read together; a long log is
        read when it is its turn."""
        short = [run.id for run in runs if run.last_seq < AT_END]
        logs = await self._store.read_logs(short, AT_END - 1) if short else {}
        for run in runs:
            if run.last_seq >= AT_END:
                yield await self.state(run)
                continue
            folding = STATE.begin(run)
            for event in logs.get(run.id, ())[: run.last_seq]:
                folding.take(event)
            yield folding.state

    async def folded(self, run: Run, kinds: Sequence[FoldKind[Any]], upto: int | None = None) -> list[FoldedLog[Any]]:
        """Fold a run's log in several ways at once, and save snapshots in the background where that is worth it."""
        last = run.last_seq if upto is None else upto
        folds = await self.opened(run, kinds, last)
        await self.advance(run, folds, last)
        is_end = run.status.is_terminal and last == run.last_seq
        for each in folds:
            if each.is_due or (is_end and each.events >= AT_END):
                self._save_later(run, each)
        return folds

    async def opened(self, run: Run, kinds: Sequence[FoldKind[Any]], upto: int = FAR) -> list[FoldedLog[Any]]:
        """Return folds that begin at the newest snapshot at or before `upto`, or at the beginning of the log."""
        return [await self._opened(run, kind, upto) for kind in kinds]

    async def _opened(self, run: Run, kind: FoldKind[Any], upto: int) -> FoldedLog[Any]:
        kept = await self._store.snapshot(run.id, kind.name, upto) if upto >= AT_END else None
        if kept is not None:
            try:
                return FoldedLog(kind, kind.decoded(run, kept.data), kept.seq, len(kept.data))
            except (msgspec.MsgspecError, ValueError) as error:
                log.info("snapshot.ignored", run_id=run.id, kind=kind.name, error=type(error).__name__)
        return FoldedLog(kind, kind.begin(run), 0, 0)

    async def advance(self, run: Run, folds: Sequence[FoldedLog[Any]], upto: int = FAR) -> None:
        """Let all folds take the events up to `upto`, or those that there are."""
        seq = min(each.seq for each in folds)
        while seq < upto and (events := await self._store.read(run.id, seq, min(READ_EVENTS, upto - seq))):
            for each in folds:
                each.take(events)
            seq = events[-1].seq
            await asyncio.sleep(0)

    def _save_later(self, run: Run, folded: FoldedLog[Any]) -> None:
        saving = asyncio.create_task(self.save(run, folded.kind, folded.snapshot()), name=f"snapshot {run.id}")
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)

    async def save(self, run: Run, kind: FoldKind[Any], snapshot: Snapshot) -> None:
        """Save a snapshot. A failure is logged: the log has everything."""
        if len(snapshot.data) > MOST_BYTES:
            return
        try:
            await self._store.save_snapshot(run.id, kind.name, snapshot)
        except RunyardError as error:
            log.warning("snapshot.save_failed", run_id=run.id, code=error.code)

    async def close(self) -> None:
        """Return when every save that was begun is done."""
        if self._saving:
            await asyncio.wait(self._saving)
