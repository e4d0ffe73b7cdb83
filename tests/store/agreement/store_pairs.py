"""Pairs of stores: how they are made, and which parts of their results are comparable."""

import asyncio
import shutil
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import asdict

from runyard.base.ids import new_id
from runyard.domain.events import Event
from runyard.errors import RunyardError
from runyard.store import Accepted, Claim, PostedMessage, Reaped, Store
from runyard.stores.memory import MemoryStore
from tests.store.conftest import empty
from tests.store.factories import (
    MANY,
    clock,
)

T = TypeVar("T")
TIMES = {
    "started_at",
    "finished_at",
    "answered_at",
    "cancel_requested_at",
    "cancel_deadline",
    "lease_until",
    "detach_deadline",
}


class StoppedClock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = clock.now_ms()

    def now_ms(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


class Setting:
    """Where a machine runs: which store is compared with the model, and who owns time."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.run = runner.run
        self.clock: StoppedClock | None = None

    def begin(self) -> tuple[Store, Store]:
        raise NotImplementedError

    def end(self) -> None:
        pass


class OnSqlite(Setting):
    def __init__(self, runner: asyncio.Runner, template: Path, folder: Path) -> None:
        super().__init__(runner)
        self._template, self._folder = template, folder
        self._store: Store | None = None

    def begin(self) -> tuple[Store, Store]:
        from runyard.stores.sqlite.store import SqliteStore

        self.clock = StoppedClock()
        path = self._folder / new_id() / "runyard.db"
        path.parent.mkdir()
        shutil.copy(self._template, path)
        self._store = SqliteStore(path, self.clock)
        self.run(self._store.open())
        return MemoryStore(self.clock), self._store

    def end(self) -> None:
        if self._store is not None:
            self.run(self._store.close())
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()


class OnPostgres(Setting):
    def __init__(self, runner: asyncio.Runner, dsn: str, store: Store) -> None:
        super().__init__(runner)
        self._dsn, self._store = dsn, store

    def begin(self) -> tuple[Store, Store]:
        self.run(empty(self._dsn))
        return MemoryStore(clock), self._store


async def visible_feed(store: Store, caller: str) -> list[tuple[Any, ...]]:
    """The entries of the feed that a caller sees; the order of entries of the same moment is left to the store."""
    window = await store.read_feed(caller, 0, MANY)
    return sorted((each.kind, each.actor, each.thread_id, each.message_id, str(each.run_id)) for each in window.entries)


async def answer_of(operation: Awaitable[T]) -> T | RunyardError:
    try:
        return await operation
    except RunyardError as error:
        return error


def seen(answer: Any, exact: bool) -> Any:
    """A result without the parts that no client can rely on: ids of events that each store makes, times of other
    clocks."""
    match answer:
        case RunyardError():
            return type(answer).__name__
        case Event():
            return (answer.run_id, answer.seq, answer.type, answer.data, answer.source, answer.name, answer.fn)
        case Accepted():
            stopped = None if answer.interrupted is None else seen(answer.interrupted, exact)
            return (answer.run_id, seen(answer.event, exact), answer.repeated, answer.steered, stopped)
        case PostedMessage():
            return (seen(answer.message, exact), seen(list(answer.started), exact), answer.repeated)
        case Claim():
            return (seen(answer.run, exact), seen(answer.message, exact))
        case Reaped():
            return (answer.run_id, answer.fate)
        case dict():
            return {key: seen(value, exact) for key, value in answer.items()}
        case list() | tuple():
            return [seen(each, exact) for each in answer]
        case _ if hasattr(answer, "__struct_fields__"):
            fields = {"is": type(answer).__name__, **asdict(answer)}
            return {key: value if exact or key not in TIMES else value is not None for key, value in fields.items()}
        case _:
            return answer


def ignoring_order(answer: Any) -> Any:
    return sorted(answer, key=repr) if isinstance(answer, list) else answer
