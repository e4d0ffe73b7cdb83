"""Executes one run at a time when it is called: `runyard.work_once`, for engines that people already run.

A `Host` is a Runyard process in a separate thread, with its own event loop: store, bus, lease, reaper, outbox, and a
worker that claims nothing by itself. It is opened by the first call and stays open for the next ones, because opening
takes longer than many runs. On SQLite, which has one process, it is closed at the end of each call.

Guarantees: a call claims at most one run, under a lease and a fence like every worker. When it returns, the run has
ended, waits, or is back in the queue. If the calling process dies, the lease expires and another worker continues. A
forked child never uses its parent's host.
"""

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from runyard.agents.declared.loading import App, load
from runyard.app.factories import load_app
from runyard.app.process import Process
from runyard.engine.running.claim_outcome import ClaimOutcome
from runyard.errors import Invalid
from runyard.settings import Settings
from runyard.store import AgentFilter

T = TypeVar("T")


class WorkedRun(NamedTuple):
    """The outcome of a call of `work_once`.

    Args:
        run_id: The id of the run.
        agent: The name of its agent.
        outcome: `done`, `error` or `canceled` if the run ended; `waiting` if it was parked until an answer comes;
            `released` if it is back in the queue, after `max_seconds` or at a shutdown; `lost` if another worker has
            it, because this one could not renew its lease in time.
        seconds: How long this call executed it.

    Example:
        >>> runyard.WorkedRun("0199", "support", "waiting", 2.5).outcome
        'waiting'
    """

    run_id: str
    agent: str
    outcome: ClaimOutcome
    seconds: float


def work_once(
    app: App | str | Path | None = None,
    *,
    settings: Settings | None = None,
    max_seconds: float | None = None,
    agents: Sequence[str] | None = None,
) -> WorkedRun | None:
    """Claim one queued run, execute it until it ends, waits or goes back into the queue, and return the outcome.

    Call it from a task of an engine that you already run: Celery, arq, Dramatiq, Ray, a cloud function, cron. A call
    that finds nothing to do returns at once, so a lost, duplicated or late message costs time only. The first call in a
    process opens the database and keeps it open; on SQLite every call opens and closes it, and no other process may
    have it open. Several threads may call it at the same time: their runs share one event loop.

    Args:
        app: The agents: an `App`, or the path of a file or folder that declares them. The default is the app that the
            settings name.
        settings: The settings. The default reads the environment (`RUNYARD_...`).
        max_seconds: After this time the run goes back into the queue and its attempt is not counted. Another call
            continues it: finished steps are not repeated. The default is no limit.
        agents: Claim runs of these agents only. The default is all.

    Raises:
        StartupError: If the app or a setting is wrong, or another process has the SQLite database open.
        Unavailable: If the database does not answer. Nothing was claimed.
        Invalid: If `max_seconds` is not positive, or `agents` is empty.

    Example:
        >>> hello = runyard.App({"hello": runyard.scripted("hello", [{"token": "Hello"}])}, default="hello")
        >>> settings = runyard.Settings(database_url="sqlite:///runs.db")
        >>> runyard.work_once(hello, settings=settings, max_seconds=60) is None  # nothing is queued
        True
    """
    if max_seconds is not None and not max_seconds > 0:
        raise Invalid("max_seconds must be greater than 0.")
    if agents is not None and not agents:
        raise Invalid("agents must name at least one agent.")
    with borrowed_host(app, settings) as host:
        return host.work(max_seconds, None if agents is None else AgentFilter(list(agents)))


class Host:
    """A Runyard process in a separate thread, whose worker executes runs on demand. Its methods may be called from
    any other thread."""

    def __init__(self, settings: Settings, app: App) -> None:
        self._settings = settings
        self._process: Process | None = None
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="runyard", daemon=True)
        self._is_closed = False
        self.is_for_one_call = settings.sqlite_path is not None
        self.borrowers = 0

    def open(self) -> None:
        """Start the process. Raises StartupError or Unavailable."""
        self._thread.start()
        try:
            self._call(self._start()).result()
        except BaseException:
            self._end_loop()
            raise

    def work(self, max_seconds: float | None, agents: AgentFilter | None) -> WorkedRun | None:
        """Claim and execute one run, as `work_once` says."""
        return self._call(self._work(max_seconds, agents)).result()

    def start_drain(self) -> "Future[None]":
        """Claim no more runs. Runs have the drain time to end; then they go back into the queue. Does not wait."""
        return self._call(self._drain())

    def close(self) -> None:
        """Put runs that still execute back into the queue, and close the process."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._call(self._stop()).result()
        finally:
            self._end_loop()

    # --- in the thread

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _call(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        process = Process(self._settings, self._app, on_demand=True)
        try:
            await process.start()
            if self.is_for_one_call:
                await process.reaper.reap()  # no other process does it, and this one may end before its first round
        except BaseException:
            await process.store.close()
            raise
        self._process = process

    async def _work(self, max_seconds: float | None, agents: AgentFilter | None) -> WorkedRun | None:
        assert self._process is not None
        assert self._process.worker is not None
        began = time.monotonic()
        task = await self._process.worker.work_one(max_seconds, agents)
        if task is None:
            return None
        return WorkedRun(task.run.id, task.run.agent, task.claim_outcome, time.monotonic() - began)

    async def _drain(self) -> None:
        if self._process is not None:
            await self._process.drain(self._settings.drain_seconds)

    async def _stop(self) -> None:
        if self._process is not None:
            await self._process.drain(0)
            await self._process.stop()


_lock = threading.Lock()
_hosts: dict[tuple[object, ...], tuple[Host, object]] = {}  # with app and settings, so that their ids are not reused


@contextmanager
def borrowed_host(app: App | str | Path | None = None, settings: Settings | None = None) -> Iterator[Host]:
    """Yield the host of this process for this app and these settings. It is opened if it is not open."""
    key = (id(app) if isinstance(app, App) else app, None if settings is None else id(settings))
    with _lock:
        if key not in _hosts:
            found = settings or Settings()
            loaded = app if isinstance(app, App) else load_app(found) if app is None else load(Path(app))
            host = Host(found, loaded)
            host.open()
            _hosts[key] = (host, (app, settings))
        host = _hosts[key][0]
        host.borrowers += 1
    try:
        yield host
    finally:
        with _lock:
            host.borrowers -= 1
            if host.is_for_one_call and not host.borrowers and _hosts.pop(key, None) is not None:
                host.close()


def open_hosts() -> list[Host]:
    """Return the hosts that are open in this process."""
    return [host for host, _ in list(_hosts.values())]


def close_hosts() -> None:
    """Close all hosts of this process. Runs that still execute go back into the queue."""
    with _lock:
        while _hosts:
            _hosts.popitem()[1][0].close()


def _forget_parent() -> None:
    """Forget the hosts of the parent process: their threads and connections do not exist here."""
    global _lock
    _lock = threading.Lock()
    _hosts.clear()


atexit.register(close_hosts)
os.register_at_fork(after_in_child=_forget_parent)
