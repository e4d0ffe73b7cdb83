"""The connections to an SQLite file: a thread that writes and threads that read.

The writer commits all jobs that arrived during the previous commit together, each in a savepoint, so that a job that
fails undoes only itself.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from runyard.base.clock import Clock
from runyard.domain.conversations.search import has_words
from runyard.errors import DiskFull, Unavailable

READERS = 4
Synchronous = Literal["full", "normal"]  # with `normal` a power cut may lose the newest commits
R = TypeVar("R")


def connect(path: Path, clock: Clock, read_only: bool, synchronous: Synchronous = "full") -> sqlite3.Connection:
    mode = "?mode=ro" if read_only else ""
    connection = sqlite3.connect(f"file:{path}{mode}", uri=True, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.create_function("now_ms", 0, clock.now_ms)
    connection.create_function("lowered", 1, str.lower, deterministic=True)  # SQLite's `lower` handles ASCII only
    connection.create_function("has_words", 2, _has_words, deterministic=True)
    connection.execute("pragma busy_timeout = 5000")
    if not read_only:
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"pragma synchronous = {synchronous}")
        connection.execute("pragma wal_autocheckpoint = 4000")
        connection.execute("pragma foreign_keys = on")
    return connection


def _has_words(text: str, words: str) -> bool:
    return has_words(text, words.split())


class Readers:
    """Threads that read. Each has a read-only connection."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connections: list[sqlite3.Connection] = []
        self._own = threading.local()
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="sqlite-reader")

    async def submit(self, work: Callable[[sqlite3.Connection], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)

    def stop(self) -> None:
        self._threads.shutdown()
        for connection in self._connections:
            connection.close()

    def _run(self, work: Callable[[sqlite3.Connection], R]) -> R:
        if not hasattr(self._own, "connection"):
            self._own.connection = self._connect()
            self._connections.append(self._own.connection)
        return work(self._own.connection)


class _Job(NamedTuple):
    work: Callable[[sqlite3.Connection], Any]
    future: "asyncio.Future[Any]"


Done = tuple["asyncio.Future[Any]", Any, BaseException | None]


class Writer:
    """The thread that owns the read-write connection. It commits all jobs that arrived during the previous commit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    async def submit(self, work: Callable[[sqlite3.Connection], R]) -> R:
        future: asyncio.Future[R] = self._loop.create_future()
        self._jobs.put(_Job(work, future))
        return await future

    def stop(self) -> None:
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            group = [self._jobs.get()]
            while not self._jobs.empty():
                group.append(self._jobs.get())
            stopping = None in group
            jobs = [job for job in group if job is not None]
            if jobs:
                done = self._commit(jobs)
                self._loop.call_soon_threadsafe(_set_results, done)

    def _commit(self, jobs: Sequence[_Job]) -> list[Done]:
        try:
            self._connection.execute("begin immediate")
            done = [self._attempt(job) for job in jobs]
            self._connection.execute("commit")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            if isinstance(error, sqlite3.IntegrityError) and len(jobs) > 1:  # a constraint that is checked at the end
                return [done for job in jobs for done in self._commit([job])]
            return [(job.future, None, _failed_commit(error)) for job in jobs]
        return done

    def _attempt(self, job: _Job) -> Done:
        self._connection.execute("savepoint job")
        try:
            result = job.work(self._connection)
        except BaseException as error:
            if not self._connection.in_transaction:
                raise  # the disk is full, and SQLite has rolled back all jobs
            self._connection.execute("rollback to job")
            self._connection.execute("release job")
            return job.future, None, translated(error)
        self._connection.execute("release job")
        return job.future, result, None


def _failed_commit(error: sqlite3.Error) -> BaseException:
    """Return the error that each job of a failed commit gets."""
    if isinstance(error, sqlite3.IntegrityError):
        return error
    return DiskFull() if _is_full(error) else Unavailable(f"SQLite could not commit ({type(error).__name__}).")


def translated(error: BaseException) -> BaseException:
    """Return Unavailable for errors of the file, which may pass. Violations of the schema and statements that SQLite
    does not understand are bugs and stay unchanged."""
    if _is_full(error):
        return DiskFull()
    if isinstance(error, sqlite3.OperationalError) and _code(error) != sqlite3.SQLITE_ERROR:
        return Unavailable("SQLite could not run a statement.")
    return error


def _is_full(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_FULL


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _set_results(done: Sequence[Done]) -> None:
    for future, result, error in done:
        if future.cancelled():
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)
