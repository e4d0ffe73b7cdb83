"""A Runyard process: settings in, all parts built and connected, started and stopped. `wiring.py` builds the parts.

Start: check the settings, open the store and the bus, then start the background loops and the worker. Stop: claim no
more runs, let short ones end, put the rest back into the queue, and cut the streams so that clients reconnect to
another process. `server.py` decides when.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from runyard.agents.declared.claude import remove_homes
from runyard.agents.declared.loading import App
from runyard.agents.tools.workspace import Workspace
from runyard.agents.user_code.containment import contain_tasks
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.app.announcing import build_announcer
from runyard.app.engine_wiring import build_engine
from runyard.app.factories import open_bus, open_checkpoints, open_exporter, open_store
from runyard.app.hints import Hints
from runyard.app.startup_checks import check_and_load
from runyard.app.wiring import (
    Resources,
    build_admission,
    build_channels,
    build_files,
    build_log_pipeline,
    build_reaper,
    build_watchdog,
    build_worker,
)
from runyard.base.clock import Clock, SteadyClock, SystemClock
from runyard.buses.bus import Bus, Hint
from runyard.engine.background import run_forever
from runyard.engine.control.deleted_files import DeletedFiles
from runyard.engine.control.retention import Retention
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.running.database_wait import retrying
from runyard.engine.running.run_services import ShowTraceback
from runyard.errors import RunyardError
from runyard.settings import Settings
from runyard.store import Store
from runyard.telemetry.harmless import safely
from runyard.telemetry.logger import get_logger
from runyard.telemetry.logs import contain
from runyard.telemetry.metrics import RUNS_ACTIVE, SSE_CLIENTS, SSE_LAG, Metrics
from runyard.telemetry.spans import Tracer

log = get_logger()

LAST_SECONDS = 3.0  # for each of the last writes before the process ends


class Process:
    """Everything that one process runs, with or without a worker."""

    def __init__(
        self,
        settings: Settings,
        app: App,
        *,
        worker: bool = True,
        on_demand: bool = False,
        store: Store | None = None,
        bus: Bus | None = None,
        clock: Clock | None = None,
        may_exit: bool = False,
        on_traceback: ShowTraceback | None = None,
    ) -> None:
        """`on_demand`: the worker claims a run only if `Worker.work_one` is called. `may_exit`: the process belongs to
        Runyard and may end itself if an agent blocks it. `on_traceback` shows a developer what agents raise."""
        contain()
        self._settings, self._app = settings, app
        self.agents, self.task_types = app.agents, app.task_types
        self.default_agent = settings.default_agent or app.default
        # Deadlines follow the database's clock. On SQLite that is the clock of this machine.
        machine_clock = clock or SystemClock()
        is_shared = not settings.database_url.startswith("sqlite")
        clock = clock or (SteadyClock() if is_shared else machine_clock)
        self.store = store or open_store(settings, clock)
        self.bus = bus or open_bus(settings)
        self.metrics = _metrics_of(app)
        self.tracer = Tracer(open_exporter(settings))
        hints, redactor = Hints(self.bus), settings.redactor
        resources = Resources(
            settings, app, clock, machine_clock, redactor, self.store, self.bus, self.metrics, self.tracer, hints
        )

        pipeline = build_log_pipeline(resources)
        self.publications, self.outbox, self.tail = pipeline.publications, pipeline.outbox, pipeline.tail
        self.journal, self.streams, self.pushes = pipeline.journal, pipeline.streams, pipeline.pushes

        admission = build_admission(resources)
        channels = build_channels(resources, self.tail, admission)
        self.agent_directory, self.feed = channels.agent_directory, channels.feed
        self.reply_order = channels.reply_order

        patient_store = retrying(self.store, settings.database_wait_seconds)
        self._snapshots = (Snapshots(patient_store), Snapshots(self.store))  # of runs, and of requests
        self.worker = hints.worker = (
            build_worker(resources, self.journal, channels, self._snapshots[0], on_traceback, on_demand=on_demand)
            if worker
            else None
        )
        self.announcer = build_announcer(settings, self.store, hints, on_demand=on_demand)
        self.watchdog = build_watchdog(settings, may_exit=may_exit)
        self.deleted_files = DeletedFiles(self.store, clock, (self._remove_workspace, self._remove_checkpoints))
        days = settings.retention_days
        self.retention = None if days is None else Retention(self.store, clock, days)
        self.files = build_files(resources, self.store)
        self.engine = build_engine(
            resources,
            pipeline,
            channels,
            worker=self.worker,
            admission=admission,
            deleted_files=self.deleted_files,
            snapshots=self._snapshots[1],
            files=self.files,
        )
        self.reaper = build_reaper(resources, self.tail, self.engine.linked_runs)
        self.interaction_stores, self.checkpoints = open_checkpoints(settings, self.engine, machine_clock)
        self._loops: list[asyncio.Task[None]] = []
        self._watch_gauges()

    def _watch_gauges(self) -> None:
        self.metrics.watch(RUNS_ACTIVE, lambda: 0 if self.worker is None else self.worker.active)
        self.metrics.watch(SSE_CLIENTS, lambda: self.streams.open)
        self.metrics.watch(SSE_LAG, lambda: self.streams.lag)

    async def start(self) -> None:
        await check_and_load(self._settings, self._app, has_worker=self.worker is not None)
        contain_tasks(asyncio.get_running_loop())
        await self.store.open()
        for name, documents in self._app.collections.items():
            await self.store.put_documents(name, documents)
        await self.agent_directory.declare()
        await self.bus.open(self._handle_hints)
        if self.worker is not None:
            self.watchdog.start()
            await self.worker.start()
        self._loops = [run_forever(name, loop) for name, loop in self._background_loops().items()]

    def _background_loops(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return the loops of this process, with or without a worker: if the last worker dies, its runs still have to
        be canceled, ended or requeued."""
        settings = self._settings
        loops: dict[str, Callable[[], Awaitable[None]]] = {
            "watch": lambda: self.streams.watch(settings.poll_seconds),
            "outbox": self.outbox.run,
            "pushes": self.pushes.run,
            "access": self.engine.access.run,
            "feed": self.feed.run,
            "deleted files": self.deleted_files.run,
            "uploads": self.files.run,
            "checkpoints": lambda: self.checkpoints.run(settings.poll_seconds),
            "reply order": self.reply_order.run,
            "reaper": lambda: self.reaper.run(settings.reap_seconds),
        }
        if self.retention is not None:
            loops["retention"] = self.retention.run
        if self.announcer is not None:
            loops["announcer"] = self.announcer.run
        return loops

    async def drain(self, grace: float) -> None:
        """Stop executing runs, but keep answering requests. Runs end or go back into the queue; then streams are
        cut."""
        self.streams.is_draining = True
        if self.worker is not None:
            await self.worker.drain(grace)
        await _within_last_seconds(self.outbox.round())
        if self.announcer is not None:
            await _within_last_seconds(self.announcer.round())
        self.streams.cut()
        self.feed.cut()
        self.tail.wait_changes.cut()

    async def stop(self) -> None:
        """Drain if that has not been done, stop the loops and close everything."""
        if not self.streams.is_cut:
            await self.drain(self._settings.drain_seconds)
        self.watchdog.stop()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await _within_last_seconds(self.pushes.close())
        await asyncio.gather(*(source.close() for agent in self._app.agents.values() for source in agent.sources))
        await self.journal.close(LAST_SECONDS)
        await _within_last_seconds(self.engine.access.record_use())
        await _within_last_seconds(self.checkpoints.round())
        await self.checkpoints.close()
        for snapshots in self._snapshots:
            await _within_last_seconds(snapshots.close())
        await _within_last_seconds(self.bus.close())
        if self.announcer is not None:
            await _within_last_seconds(run_in_thread(self.announcer.close))
        await self.store.close()
        await _within_last_seconds(run_in_thread(safely, self.tracer.exporter.close))

    async def _remove_workspace(self, thread_id: str, owner: str, chat: str | None) -> None:
        await Workspace.of(self._settings.workspaces, thread_id).remove()
        await run_in_thread(remove_homes, self._settings.workspaces, thread_id)

    async def _remove_checkpoints(self, thread_id: str, owner: str, chat: str | None) -> None:
        await self.checkpoints.remove(thread_id, owner, chat)

    def _handle_hints(self, hints: Sequence[Hint]) -> None:
        """Handle hints of other processes. A hint decides nothing: it makes a part of this process read the store."""
        for hint in hints:
            match hint.kind:
                case "log":
                    self.tail.set_stored_end(hint.run_id, hint.seq)
                    self.tail.wait_changes.wake_soon()
                    self.publications.advance(hint.run_id, hint.seq)
                case "feed":
                    self.feed.advance(hint.seq)
                case "thread":
                    self.tail.threads.wake(hint.run_id)
                case "work" if self.worker is not None:
                    self.worker.wake()
                case "cancel" if self.worker is not None:
                    self.worker.check_cancels(hint.run_id)


def _metrics_of(app: App) -> Metrics:
    """Return metrics that know the app's agents, each with its model, and its tools."""
    models = {
        name: "" if agent.model_settings is None else agent.model_settings.model for name, agent in app.agents.items()
    }
    return Metrics(models, {tool.name for agent in app.agents.values() for tool in agent.tools})


async def _within_last_seconds(work: Awaitable[object]) -> None:
    """Await the work, but not longer than `LAST_SECONDS`. Otherwise another process does it later."""
    with suppress(RunyardError, TimeoutError):
        async with asyncio.timeout(LAST_SECONDS):
            await work
