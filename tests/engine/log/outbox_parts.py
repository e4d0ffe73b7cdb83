"""An outbox on a memory store that fails on request, with a bus that records its hints."""

from collections.abc import Sequence
from typing import Any

from runyard.base.clock import SystemClock
from runyard.buses.bus import Hint
from runyard.domain.events import place
from runyard.domain.runs.publication import CursorAdvance
from runyard.domain.runs.run import Run, Status
from runyard.engine.log.outbox import Outbox
from runyard.engine.log.publications import Publications
from runyard.engine.log.stream import Streams
from runyard.engine.log.tail import Tail
from runyard.errors import Unavailable
from runyard.stores.memory import MemoryStore
from runyard.telemetry.metrics import Metrics
from tests.store.factories import Writer, last_words, token, written

clock = SystemClock()


class NotingBus:
    """A bus that records what it sends, and how far the cursor in the store was at that moment."""

    is_connected = True
    has_others = True

    def __init__(self) -> None:
        self.sent: list[Hint] = []

    async def open(self, hear: Any) -> None:
        pass

    def send(self, hints: Sequence[Hint]) -> None:
        self.sent += hints

    async def close(self) -> None:
        pass


class StoreThatFails(MemoryStore):
    def __init__(self) -> None:
        super().__init__(clock)
        self.failures = 0
        self.published: list[list[CursorAdvance]] = []

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        if self.failures:
            self.failures -= 1
            raise Unavailable
        self.published.append(list(marks))
        return await super().publish(marks)


class Pod:
    """One process's part in it: a tail, an outbox, and streams."""

    def __init__(self, store: MemoryStore, batch: int = 10, poll: float = 0.01) -> None:
        self.store = store
        self.bus = NotingBus()
        self.publications = Publications()
        self.outbox = Outbox(store, self.publications, self.bus, clock, Metrics(), poll_seconds=poll, batch=batch)
        self.tail = Tail(self.outbox)
        self.streams = Streams(store, self.tail, self.publications)
        self.writer: Writer | None = None

    async def write(self, run: Run, count: int, end: Status | None = None) -> None:
        """As the journal does: commit, then tell."""
        self.writer = self.writer or Writer(run)
        drafts = [*[token("x") for _ in range(count)], *(last_words(end) if end else [])]
        part = self.writer.part(*drafts) if end is None else self.writer.finish(end)
        if end is not None:
            drafts = list(part.drafts)
        outcome = await written(self.store, part)
        self.tail.add(run.id, place(run.id, outcome.first_seq, drafts))
