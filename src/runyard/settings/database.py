"""Settings of the database, the bus and the upkeep of stored data."""

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from runyard.settings.addresses import checked_bus, checked_database
from runyard.settings.model import SettingsGroup, setting
from runyard.settings.values import Count, Seconds


class DatabaseSettings(SettingsGroup):
    database_url: Annotated[str, checked_database] = setting(
        default="sqlite:///.runyard/runyard.db",
        repr=False,
        description="The database: `sqlite:///path` for one process, `postgresql://...` for any number.",
    )
    sqlite_synchronous: Literal["full", "normal"] = setting(
        default="full",
        description="`full` syncs every commit of SQLite to the disk; with `normal` a power cut, but not the end of the"
        " process, may lose the newest commits, which clients have seen.",
    )
    database_answer_seconds: Seconds = setting(
        default=15, description="Seconds without a response from Postgres before a connection is replaced."
    )
    database_wait_seconds: Seconds = setting(
        default=60, description="Seconds that a run waits for an unavailable database before its worker gives it up."
    )
    bus_url: Annotated[str | None, checked_bus] = setting(
        default=None,
        repr=False,
        description="The bus that wakes other processes: `postgresql://...`, `redis://...`, `rediss://...`,"
        " `nats://...` or `memory` (none); by default Postgres itself, and none on SQLite.",
    )
    poll_seconds: Seconds = setting(
        default=0.2, description="Seconds between two polls for changes made by other processes."
    )
    outbox_poll_seconds: Seconds = setting(
        default=0.2,
        description="Seconds between two polls for events that a stopped process committed and did not publish.",
    )
    outbox_batch: Count = setting(
        default=10, description="Events of one such run that are published at a time, before the next run's turn."
    )
    tail_bytes: int = setting(
        default=64 * 1024 * 1024,
        ge=0,
        description="Bytes of memory that hold recent events for clients that follow runs.",
    )
    retention_days: float | None = setting(
        default=None,
        gt=0,
        description="Days after their end when runs are deleted, and threads with their last run; without it, never.",
    )

    @property
    def sqlite_path(self) -> Path | None:
        """The database file; None on Postgres."""
        scheme, _, path = self.database_url.partition(":///")
        return Path(path) if scheme == "sqlite" else None

    @property
    def database_label(self) -> str:
        """The database as a person reads it, without the password."""
        if self.sqlite_path is not None:
            return f"{self.sqlite_path} (SQLite)"
        parts = urlsplit(self.database_url)
        return f"{parts.hostname or 'local socket'}{parts.path} (Postgres)"
