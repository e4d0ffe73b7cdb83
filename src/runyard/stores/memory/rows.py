"""The state of the memory store. All parts of the store derive from `Rows`, which alone has state.

A run changes only by `_change`, and its log grows only by `_write`, which updates `last_seq`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from runyard.base.clock import Clock
from runyard.domain.api_key import ApiKey
from runyard.domain.content.file import Place, StoredFile
from runyard.domain.content.memory import Block, Passage
from runyard.domain.content.profile import Profile
from runyard.domain.conversations.feed import Entry
from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import Message, Reaction, Share, Thread
from runyard.domain.events import Draft, Event, place
from runyard.domain.push import Push
from runyard.domain.runs.run import Feedback, Run
from runyard.domain.wait import KeptEvent, Wait
from runyard.store import Document, Post, Removal, Snapshot, WorkerRow
from runyard.stores.memory.tables.keys import Keys
from runyard.stores.memory.tables.lane import Lane
from runyard.stores.memory.tables.ledger import Ledgers
from runyard.stores.memory.tables.outbox import Outbox
from runyard.stores.memory.tables.tombstones import Tombstones


class SteeredMessage(NamedTuple):
    """A message for the run `run_id`, and the post of the run that it gets if that one leaves it."""

    run_id: str
    post: Post
    state: Literal["new", "taken", "left"]


class Content(Struct):
    """The bytes of files, or of an upload."""

    owner: str
    place: Place
    touched_at: int
    state: Literal["uploading", "ready", "dropped"] = "uploading"
    digest: str | None = None
    chunks: dict[int, bytes] = {}


Row = TypeVar("Row", Thread, Run, Wait, Passage, Message)


class Rows:
    def __init__(self, clock: Clock) -> None:
        self._now = clock.now_ms
        self._keys = Keys()
        self._calls: dict[tuple[str, str, str], list[int]] = {}
        self._api_keys: dict[str, ApiKey] = {}
        self._documents: dict[str, list[Document]] = {}

        self._threads: dict[str, Thread] = {}
        self._titles: dict[str, str] = {}
        self._shares: dict[str, Share] = {}
        self._messages: dict[str, Message] = {}
        self._members: dict[str, list[Participant]] = {}
        self._causes: dict[str, str] = {}
        self._reactions: list[Reaction] = []
        self._read_positions: dict[tuple[str, str], str] = {}
        self._feed: list[Entry] = []
        self._numbered = 0
        self._feed_start = 0

        self._agents: dict[str, Profile] = {}
        self._sessions: dict[tuple[str, str], str] = {}
        self._blocks: dict[tuple[str, str, str], Block] = {}
        self._links: set[tuple[str, str, str]] = set()
        self._passages: dict[str, Passage] = {}

        self._runs: dict[str, Run] = {}
        self._events: dict[str, list[Event]] = {}
        self._waits: dict[str, Wait] = {}
        self._steered: dict[str, SteeredMessage] = {}
        self._kept_events: dict[tuple[str, str], tuple[KeptEvent, bool]] = {}
        self._checkpoints: dict[str, bytes] = {}
        self._saved: set[str] = set()
        self._snapshots: dict[str, dict[tuple[str, int], Snapshot]] = {}
        self._pushes: dict[str, dict[str, Push]] = {}
        self._feedback: dict[str, Feedback] = {}
        self._ledgers = Ledgers()
        self._outbox = Outbox(clock)
        self._tombstones = Tombstones()
        self._removals: list[Removal] = []

        self._files: dict[str, StoredFile] = {}
        self._contents: dict[str, Content] = {}
        self._uses: dict[str, list[str]] = {}

        self._lanes: dict[str, Lane] = {}
        self._pauses: dict[str, int] = {}
        self._due: dict[str, int] = {}
        self._workers: dict[str, WorkerRow] = {}

    def _change(self, run: Run, **changes: Any) -> Run:
        changed = self._runs[run.id] = replace(run, **changes)
        return changed

    def _write(self, run: Run, drafts: Sequence[Draft], **changes: Any) -> Run:
        """Append events to a run's log, and change the run."""
        self._events.setdefault(run.id, []).extend(place(run.id, run.last_seq + 1, drafts))
        return self._change(run, last_seq=run.last_seq + len(drafts), **changes)


def page(rows: Iterable[Row], before: str | None, limit: int) -> list[Row]:
    """Return a page of rows, newest first. Ids sort by time."""
    fitting = (row for row in rows if before is None or row.id < before)
    return sorted(fitting, key=lambda row: row.id, reverse=True)[:limit]
