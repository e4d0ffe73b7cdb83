"""The stand on which servers are measured: a private Postgres with fsync on, a folder for SQLite, and the servers.

`bare` is the baseline, `fake` Runyard with a fake commit, `sqlite` (synchronous=FULL) and `postgres` Runyard as
shipped.
"""

import json
import tempfile
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Self

from bench.servers.processes import Server, python, running
from bench.servers.server import FAKE
from tests.support.servers.postgres_server import PrivatePostgres

BARE, SQLITE, POSTGRES = "bare", "sqlite", "postgres"
ALL = (BARE, FAKE, SQLITE, POSTGRES)


class Stand:
    def __init__(self, kinds: tuple[str, ...] = ALL) -> None:
        self.kinds = kinds
        self.postgres: PrivatePostgres | None = None
        self._urls: dict[str, str] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runyard-bench-")))
            if POSTGRES in self.kinds:
                self.postgres = stack.enter_context(PrivatePostgres())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def server(
        self, kind: str, database: str = "bench", traced: str = "", name: str = "", **settings: Any
    ) -> AbstractContextManager[Server]:
        """A server of this kind; the same database name means the same data, also after a restart. `traced`: where its
        traces go. `settings`: other settings of Runyard."""
        if kind == BARE:
            return running(kind, python("bench.servers.bare"), "/openapi.json")
        pid = self.postgres_pid if kind == POSTGRES else None
        command = python("bench.servers.server", self.url(kind, database), traced, json.dumps(settings))
        return running(name or kind, command, "/health", pid)

    def durable(self) -> list[str]:
        return [kind for kind in (SQLITE, POSTGRES) if kind in self.kinds]

    def url(self, kind: str, database: str) -> str:
        match kind:
            case "fake":
                return FAKE
            case "sqlite":
                return f"sqlite:///{self._folder}/{database}.db"
            case "postgres":
                return self.dsn(database)
            case _:
                raise ValueError(kind)

    def dsn(self, database: str) -> str:
        """A database on the private Postgres, made when it is first asked for."""
        assert self.postgres is not None
        if database not in self._urls:
            self._urls[database] = self.postgres.create_database(database)
        return self._urls[database]

    @property
    def postgres_pid(self) -> int:
        assert self.postgres is not None
        return int((Path(self.postgres.folder) / "data" / "postmaster.pid").read_text().split()[0])

    @property
    def postgres_version(self) -> str | None:
        return self.postgres.execute("show server_version").split()[0] if self.postgres else None
