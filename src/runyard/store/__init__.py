"""The contract of a store, as role protocols by subject. `Store` combines them.

One suite (`tests/store/`) checks every store against these docstrings.

Every method is one atomic operation: it happens whole or not at all, and its result is durable when it returns. Times
are milliseconds since 1970. Deadlines (leases, back-off, cancel grace) are measured on the store's clock, never on a
worker's. An operation with an `owner` treats other owners' objects as unknown.

Authority: the lane row serialises its runs; the run row serialises its log. Locks are taken in the order conversation,
worker, lanes (sorted), runs (sorted). No operation waits for a lane while it holds a run.
"""

from typing import Protocol

from runyard.domain.content.document import Document, Hit
from runyard.domain.removal import Removal, Tombstone
from runyard.store.content import AgentStore, CheckpointStore, DocumentStore, FileStore
from runyard.store.conversations import ChannelStore, LogCopy, NewMessage, PostedMessage, ThreadStore
from runyard.store.database import Database, Overview
from runyard.store.log import Head, LogStore, PushStore, Snapshot, SnapshotStore
from runyard.store.queue import (
    NO_VERSIONS,
    Accepted,
    AgentFilter,
    Beat,
    Claim,
    IdempotencyKey,
    IntakeStore,
    Post,
    ReadyRun,
    Reaped,
    Room,
    SteeringStore,
    WorkerRow,
    WorkerStore,
)
from runyard.store.runs import Ending, LedgerStore, RunColumn, RunFilter, RunStore, WaitStore
from runyard.store.upkeep import ApiKeyStore, RateLimitStore, RetentionStore, Swept

__all__ = [
    "NO_VERSIONS",
    "Accepted",
    "AgentFilter",
    "AgentStore",
    "ApiKeyStore",
    "Beat",
    "ChannelStore",
    "CheckpointStore",
    "Claim",
    "Database",
    "Document",
    "DocumentStore",
    "Ending",
    "FileStore",
    "Head",
    "Hit",
    "IdempotencyKey",
    "IntakeStore",
    "LedgerStore",
    "LogCopy",
    "LogStore",
    "NewMessage",
    "Overview",
    "Post",
    "PostedMessage",
    "PushStore",
    "RateLimitStore",
    "ReadyRun",
    "Reaped",
    "Removal",
    "RetentionStore",
    "Room",
    "RunColumn",
    "RunFilter",
    "RunStore",
    "Snapshot",
    "SnapshotStore",
    "SteeringStore",
    "Store",
    "Swept",
    "ThreadStore",
    "Tombstone",
    "WaitStore",
    "WorkerRow",
    "WorkerStore",
]


class Store(
    Database,
    ThreadStore,
    IntakeStore,
    SteeringStore,
    WorkerStore,
    RunStore,
    LogStore,
    WaitStore,
    PushStore,
    CheckpointStore,
    SnapshotStore,
    FileStore,
    RetentionStore,
    ApiKeyStore,
    RateLimitStore,
    DocumentStore,
    ChannelStore,
    AgentStore,
    LedgerStore,
    Protocol,
):
    """Everything that a process stores."""
