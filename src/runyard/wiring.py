"""The composition root: settings in, the parts of a process put together out. The only place that knows every part.

Start: open the store, then the journal's readers and the worker. Stop: claim no more, let short runs end, put the rest
back, and cut the streams so that clients reconnect elsewhere. `serving.py` says when.
"""

import asyncio
import hashlib
import os
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import structlog

from runyard import __version__
from runyard.agents.loading import App, app_of, load
from runyard.bus import Bus, Hint
from runyard.clock import Clock, SystemClock
from runyard.domain.api_key import LOCAL
from runyard.engine.access import Access
from runyard.engine.approvals import Approvals
from runyard.engine.attendance import Attendance
from runyard.engine.cancel import Cancel
from runyard.engine.checkpoints import Checkpoints
from runyard.engine.conversations import Conversations
from runyard.engine.deadlines import Deadlines
from runyard.engine.duty import on_duty
from runyard.engine.engine import Engine
from runyard.engine.executor import Executor
from runyard.engine.feed import Feed
from runyard.engine.intake import Intake
from runyard.engine.journal import Journal
from runyard.engine.limits import Admission, InputLimits, OutputLimits
from runyard.engine.orchestrator import Orchestrator
from runyard.engine.outbox import Outbox
from runyard.engine.overview import Overviews
from runyard.engine.publications import Publications
from runyard.engine.reaper import Reaper
from runyard.engine.records import Records
from runyard.engine.retention import Retention
from runyard.engine.staff import Staff
from runyard.engine.stream import Streams
from runyard.engine.tail import Tail
from runyard.engine.turns import Turns
from runyard.engine.views import Views
from runyard.engine.worker import Worker
from runyard.errors import RunyardError, StartupError
from runyard.office import Office
from runyard.settings import Settings
from runyard.telemetry.metrics import RUNS_ACTIVE, SSE_CLIENTS, SSE_LAG, Metrics
from runyard.telemetry.spans import Exporter, Recorder, Several, Tracer

if TYPE_CHECKING:
    from runyard.cipher import Ring
    from runyard.faces.chats.checkpoints import Checkpoints as Checkpointing
    from runyard.faces.chats.checkpoints import Stores
    from runyard.faces.chats.interactions import InteractionStore
    from runyard.stores._office import SqlOffice
    from runyard.stores.rotation import Progress

log = structlog.get_logger()

SPEAKS_WHOLE = frozenset({"model", "claude"})  # kinds of agents that record whole messages beside the pieces


def load_app(settings: Settings) -> App:
    """The app that the settings name, or the demo."""
    if settings.app is not None:
        return load(Path(settings.app))
    from runyard import demo

    return app_of(demo)


def _models(app: App) -> dict[str, str]:
    """The agents, each with the model that it thinks with."""
    return {name: "" if agent.mind is None else agent.mind.model for name, agent in app.agents.items()}


def open_store(settings: Settings, clock: Clock | None = None) -> Office:
    """The store that the settings name, which seals content if they have a key; `await store.open()` comes next."""
    ring = settings.ring
    store = open_sql_store(settings, clock, ring)
    if ring is None:
        return store
    from runyard.stores.sealed_office import SealedOffice

    return SealedOffice(store, ring)


def open_sql_store(settings: Settings, clock: Clock | None = None, ring: "Ring | None" = None) -> "SqlOffice":
    """The database that the settings name, as it keeps things."""
    url = settings.database_url
    if url.startswith("sqlite:///"):
        from runyard.stores.sqlite import SqliteStore

        return SqliteStore(Path(url.removeprefix("sqlite:///")), clock or SystemClock(), ring)
    try:
        from runyard.stores.postgres import PostgresStore
    except ImportError:
        raise StartupError("Postgres needs asyncpg: pip install 'runyard[postgres]'.") from None
    return PostgresStore(url, clock or SystemClock(), ring)


def open_bus(settings: Settings) -> Bus:
    """The bus that the settings name; `await bus.open(hear)` comes next."""
    url = settings.bus_url or ("memory" if settings.sqlite_path else settings.database_url)
    scheme = url.partition("://")[0]
    try:
        match scheme:
            case "postgresql":
                from runyard.buses.postgres import PostgresBus

                return PostgresBus(url)
            case "redis" | "rediss":
                from runyard.buses.redis import RedisBus

                return RedisBus(url)
            case "nats":
                from runyard.buses.nats import NatsBus

                return NatsBus(url)
            case _:
                from runyard.buses.memory import MemoryBus

                return MemoryBus()
    except ImportError:
        extra = {"postgresql": "postgres", "rediss": "redis"}.get(scheme, scheme)
        raise StartupError(f"A {extra} bus needs its driver: pip install 'runyard[{extra}]'.") from None


def _checkpoints(settings: Settings, engine: Engine, clock: Clock) -> "tuple[Stores, Checkpointing]":
    """Where the interactions of chats are kept, and who writes them there."""
    from runyard.faces.chats.checkpoints import Checkpoints
    from runyard.faces.chats.database_store import DatabaseInteractionStore
    from runyard.faces.chats.file_store import FileInteractionStore

    folder, ring = settings.checkpoint_path, settings.ring

    def of_owner(owner: str) -> "InteractionStore":
        if settings.checkpoints == "database":
            return DatabaseInteractionStore(engine, owner)
        return FileInteractionStore(folder if owner == LOCAL else folder / "owners" / quote(owner, safe=""), ring)

    return of_owner, Checkpoints(
        engine,
        of_owner,
        clock,
        in_files=settings.checkpoints == "files",
        disk=folder / "fallback",
        temporary=_temporary(settings),
        ring=ring,
    )


def _temporary(settings: Settings) -> Path:
    """Where copies go that could be put nowhere else."""
    ours = hashlib.sha256(settings.database_url.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"runyard-{ours}"


async def rotate(settings: Settings, decrypt: bool, told: "Callable[[Progress], None]") -> int:
    """Seal everything that is stored with the first key, or (`decrypt`) with none; how much is left to do."""
    ring = settings.ring
    if ring is None:
        raise StartupError("RUNYARD_ENCRYPTION_KEYS has no key; `runyard keys make-encryption` makes one.")
    from runyard.faces.chats.resealing import reseal
    from runyard.stores.rotation import Progress, Rotation

    store = open_sql_store(settings, ring=ring)
    await store.open()
    try:
        rotation = Rotation(store, ring, decrypt)
        async for progress in rotation.run():
            told(progress)
        await store.scrub()
    finally:
        await store.close()
    folders = [settings.checkpoint_path, _temporary(settings)]
    done, unreadable = await asyncio.to_thread(reseal, folders, ring, decrypt)
    told(Progress("files", done + unreadable, done, unreadable, done=True))
    return rotation.left + unreadable


def _exporter(settings: Settings) -> Exporter:
    """Where the traces of agents go: to Sentry, to a collector, to both; if there is neither, nowhere."""
    version = __version__
    exporters: list[Exporter] = []
    try:
        if settings.sentry_dsn is not None:
            from runyard.telemetry.sentry import Sentry

            exporters.append(Sentry(settings.sentry_dsn, f"runyard@{version}"))
    except ImportError:
        raise StartupError("RUNYARD_SENTRY_DSN needs sentry-sdk: pip install 'runyard[sentry]'.") from None
    except ValueError:
        raise StartupError("RUNYARD_SENTRY_DSN is no DSN of Sentry.") from None
    try:
        if settings.otlp_endpoint is not None:
            from runyard.telemetry.otlp import Otlp

            exporters.append(Otlp(settings.otlp_endpoint, version))
    except ImportError:
        raise StartupError("RUNYARD_OTLP_ENDPOINT needs OpenTelemetry: pip install 'runyard[otlp]'.") from None
    match exporters:
        case []:
            return Recorder()
        case [one]:
            return one
        case _:
            return Several(exporters)


class Process:
    """Everything one process runs, with or without a worker."""

    def __init__(
        self,
        settings: Settings,
        app: App,
        *,
        worker: bool = True,
        store: Office | None = None,
        bus: Bus | None = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        redactor = settings.redactor
        self._settings = settings
        self._app = app
        self.store = store or open_store(settings, clock)
        self.bus = bus or open_bus(settings)
        self.metrics = Metrics(_models(app), {tool.name for agent in app.agents.values() for tool in agent.tools})
        self.tracer = Tracer(_exporter(settings))
        self.publications = Publications()
        self.outbox = Outbox(
            self.store,
            self.publications,
            self.bus,
            clock,
            self.metrics,
            poll_seconds=settings.outbox_poll_seconds,
            batch=settings.outbox_batch,
        )
        self.tail = Tail(self.outbox, settings.tail_bytes)
        self.journal = Journal(self.store, self.tail, self.metrics)
        self.streams = Streams(self.store, self.tail, self.publications)
        self.staff = Staff(self.store, clock, app.agents, redactor)
        self.feed = Feed(self.store, lambda last: self.bus.send([Hint("feed", seq=last)]), settings.poll_seconds)
        self.turns = Turns(self.store, self._ring, settings.poll_seconds)
        least = settings.group_pause_min_seconds
        pause = (least, max(least, settings.group_pause_max_seconds))
        admission = Admission(
            self.store,
            clock,
            InputLimits(settings.max_message_chars, settings.max_queued_per_lane, settings.max_queued_per_owner),
        )
        conversations = Conversations(
            self.store, self.tail, clock, Random(), pause, self._ring, self.feed.stir, redactor, self.tracer, admission
        )
        executor = Executor(
            self.store,
            self.journal,
            clock,
            app.agents,
            settings.stop_seconds,
            settings.approval_seconds,
            settings.workspaces,
            redactor,
            self.staff.agent,
            Orchestrator(self.staff, conversations, self.tracer).work,
            self.tracer,
            self.metrics,
            OutputLimits(settings.max_event_bytes, settings.max_tool_output_bytes, settings.max_history_chars),
        )
        self.worker: Worker | None = None
        if worker:
            self.worker = Worker(
                self.store,
                executor,
                label=f"{socket.gethostname()}:{os.getpid()}",
                slots=settings.slots,
                lease_seconds=settings.lease_seconds,
                poll_seconds=settings.poll_seconds,
                call_others=self._call_others,
                seen=self._seen,
                metrics=self.metrics,
            )
        self.metrics.watch(RUNS_ACTIVE, lambda: 0 if self.worker is None else self.worker.active)
        self.metrics.watch(SSE_CLIENTS, lambda: self.streams.open)
        self.metrics.watch(SSE_LAG, lambda: self.streams.lag)
        self.reaper = Reaper(
            self.store,
            self.tail,
            clock,
            settings.max_attempts,
            settings.cancel_seconds,
            self._ring,
            self._stop_run,
            self.metrics,
            self.store.recover_turns,
        )
        grace = settings.chats_grace_seconds if settings.chats_on_disconnect == "cancel" else None
        cancel = Cancel(
            self.store, self.tail, self.streams, clock, settings.cancel_seconds, self._stop_run, self.metrics
        )
        self.engine = Engine(
            intake=Intake(
                self.store,
                self.tail,
                clock,
                list(app.agents),
                settings.default_agent or app.default or "",
                self.worker,
                self._ring,
                redactor,
                admission,
            ),
            views=Views(
                self.store,
                self.worker,
                [a.name for a in app.agents.values() if a.kind in SPEAKS_WHOLE],
                clock,
                settings.retention_days,
            ),
            streams=self.streams,
            cancel=cancel,
            deadlines=Deadlines(cancel, clock),
            approvals=Approvals(self.store, self.tail, clock, app.agents, self._ring, self.metrics, redactor),
            attendance=Attendance(self.store, self.streams, grace),
            checkpoints=Checkpoints(self.store),
            access=Access(self.store, clock),
            conversations=conversations,
            staff=self.staff,
            feed=self.feed,
            records=Records(self.store),
            overviews=Overviews(self.store, self.streams, self.worker, clock, self.metrics),
        )
        days = settings.retention_days
        self.retention = None if days is None else Retention(self.store, clock, days)
        self.task_types = app.task_types
        self.default_plan = app.default_plan(settings.default_agent or app.default)
        self._loops: list[asyncio.Task[None]] = []
        self.interaction_stores, self.checkpoints = _checkpoints(settings, self.engine, clock)

    async def start(self) -> None:
        default = self._settings.default_agent
        if default is not None and default not in self._app.agents:
            raise StartupError(f"RUNYARD_DEFAULT_AGENT names {default!r}, which the app does not declare.")
        self._warm()
        await self.store.open()
        for name, documents in self._app.collections.items():
            await self.store.put_documents(name, documents)
        await self.staff.declare()
        await self.bus.open(self._hear)
        self._loops = [
            on_duty("watch", lambda: self.streams.watch(self._settings.poll_seconds)),
            on_duty("outbox", self.outbox.run),
            on_duty("access", self.engine.access.run),
            on_duty("feed", self.feed.run),
            on_duty("checkpoints", lambda: self.checkpoints.run(self._settings.poll_seconds)),
        ]
        if self.worker is not None:
            await self.worker.start()
            self._loops.append(on_duty("turns", self.turns.run))
            self._loops.append(on_duty("reaper", lambda: self.reaper.run(self._settings.reap_seconds)))
            if self.retention is not None:
                self._loops.append(on_duty("retention", self.retention.run))

    async def drain(self, grace: float) -> None:
        """Stop working, keep answering: what runs ends or goes back into the queue, then streams are cut."""
        self.streams.is_draining = True
        if self.worker is not None:
            await self.worker.drain(grace)
        with suppress(RunyardError):
            await self.outbox.round()
        self.streams.cut()
        self.feed.cut()

    async def stop(self) -> None:
        if not self.streams.is_cut:
            await self.drain(self._settings.drain_seconds)
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(source.close() for agent in self._app.agents.values() for source in agent.sources))
        await self.journal.close()
        with suppress(RunyardError):
            await self.engine.access.note_use()
        with suppress(RunyardError):
            await self.checkpoints.round()
        await self.checkpoints.close()
        await self.bus.close()
        await self.store.close()
        await asyncio.to_thread(self.tracer.exporter.close)

    def _warm(self) -> None:
        """Load what agents that think will need, beside everything else: it takes seconds."""
        self._check_claude()
        minds = [agent.mind for agent in self._app.agents.values() if agent.mind is not None]
        if self.worker is None or all(mind.is_scripted for mind in minds):
            return
        from runyard.models.litellm import check_installed, warm

        check_installed()
        threading.Thread(target=warm, name="litellm", daemon=True).start()

    def _check_claude(self) -> None:
        told = [agent.claude for agent in self._app.agents.values() if agent.claude is not None]
        if not told:
            return
        from runyard.agents.claude import check_installed

        if self.worker is not None:
            check_installed()
        settings = self._settings
        if any(each.sessions for each in told) and (settings.encryption_keys or settings.redactor is not None):
            raise StartupError(
                "Claude Agent SDK keeps sessions in files that are neither sealed nor redacted: declare the agent with"
                " sessions=False, or take RUNYARD_ENCRYPTION_KEYS and RUNYARD_REDACT away."
            )

    def _ring(self) -> None:
        """There may be something to claim, here or elsewhere."""
        if self.worker is not None:
            self.worker.ring()
        self._call_others()

    def _seen(self) -> None:
        """An agent begins or ends what it was told in a conversation."""
        self.feed.stir()
        self.turns.stir()

    def _call_others(self) -> None:
        self.bus.send([Hint("work")])

    def _stop_run(self, run_id: str) -> None:
        """A cancel was recorded for this run: whoever has it should know at once."""
        if self.worker is None or not self.worker.stop(run_id, "cancel"):
            self.bus.send([Hint("cancel", run_id)])

    def _hear(self, hints: Sequence[Hint]) -> None:
        """What other processes say. A hint decides nothing: it only makes somebody look."""
        for hint in hints:
            match hint.kind:
                case "log":
                    self.tail.note(hint.run_id, hint.seq)
                    self.publications.note(hint.run_id, hint.seq)
                case "feed":
                    self.feed.note(hint.seq)
                case "work" if self.worker is not None:
                    self.worker.ring()
                case "cancel" if self.worker is not None:
                    self.worker.look_for_cancels(hint.run_id)


def create_app(
    settings: Settings | None = None,
    app: App | None = None,
    *,
    worker: bool = True,
    process: Process | None = None,
    keys: bool = True,
) -> Any:
    """An ASGI app; its lifespan starts and stops everything behind it. Without `keys`, whoever reaches it may do
    everything, as the owner `local`."""
    from runyard.faces.channels.routes import add_routes as channels
    from runyard.faces.chats.routes import add_routes as chats
    from runyard.faces.contract.routes import add_routes as contract
    from runyard.faces.native.routes import add_routes as native
    from runyard.faces.plans.routes import add_routes as plans
    from runyard.faces.threads.routes import add_routes as threads
    from runyard.web.app import Limits, build

    settings = settings or Settings()
    running = process or Process(settings, app or load_app(settings), worker=worker)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await running.start()
        await say_if_nobody_gets_in(running, settings, keys)
        try:
            yield
        finally:
            await running.stop()

    in_chats = partial(chats, stores=running.interaction_stores, while_waiting=settings.chats_while_waiting)
    by_contract = partial(
        contract,
        task_types=running.task_types,
        terminal=settings.contract_terminal_event,
        timeout_seconds=settings.contract_timeout_seconds,
    )
    by_plans = partial(plans, default_plan=running.default_plan)
    known = (threads, channels, in_chats, by_contract, by_plans, native)
    faces = [partial(face, engine=running.engine, heartbeat=settings.heartbeat_seconds) for face in known]
    return build(
        running.engine,
        faces,
        keys=keys,
        metrics=running.metrics,
        version=__version__,
        limits=Limits(
            settings.max_body_bytes, settings.rate_per_key, settings.max_streams, settings.max_streams_per_key
        ),
        access_log=settings.access_log and settings.log_level in ("debug", "info"),
        lifespan=lifespan,
    )


async def say_if_nobody_gets_in(process: Process, settings: Settings, keys: bool) -> None:
    """A server that wants keys, where there is none, is of no use to anybody yet."""
    with suppress(RunyardError):
        if keys and not await process.engine.access.keys(None, None, 1):
            first = "stop this server, run" if settings.sqlite_path else "run"
            advice = f"No API key exists: {first} `runyard keys create --owner NAME --scope all`."
            log.warning("keys.none", advice=advice)
