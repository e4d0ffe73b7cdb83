"""The composition root: settings in, a running process out. The only place that knows every part.

Start: open the store, then the journal's readers and the worker. Stop, on SIGTERM: claim no more, let short runs end,
put the rest back, cut the streams so that clients reconnect elsewhere, and only then close the server. A second signal
skips the wait.
"""

import asyncio
import gc
import hashlib
import logging
import os
import signal
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
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
from runyard.engine.approvals import Approvals
from runyard.engine.attendance import Attendance
from runyard.engine.cancel import Cancel
from runyard.engine.checkpoints import Checkpoints
from runyard.engine.conversations import Conversations
from runyard.engine.duty import on_duty
from runyard.engine.engine import Engine
from runyard.engine.execute import Executor
from runyard.engine.feed import Feed
from runyard.engine.intake import Intake
from runyard.engine.journal import Journal
from runyard.engine.outbox import Outbox
from runyard.engine.publications import Publications
from runyard.engine.reaper import Reaper
from runyard.engine.staff import Staff
from runyard.engine.stream import Streams
from runyard.engine.tail import Tail
from runyard.engine.turns import Turns
from runyard.engine.views import Views
from runyard.engine.worker import Worker
from runyard.errors import RunyardError, StartupError
from runyard.office import Office
from runyard.settings import Settings, address
from runyard.telemetry import logs
from runyard.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from runyard.faces.chats.checkpoints import Checkpoints as Checkpointing
    from runyard.faces.chats.checkpoints import Stores
    from runyard.faces.chats.interactions import InteractionStore

log = structlog.get_logger()

SPEAKS_WHOLE = frozenset({"model", "claude"})  # kinds of agents that record whole messages beside the pieces


def load_app(settings: Settings) -> App:
    """The app that the settings name, or the demo."""
    if settings.app is not None:
        return load(Path(settings.app))
    from runyard import demo

    return app_of(demo)


def open_store(settings: Settings, clock: Clock | None = None) -> Office:
    """The store that the settings name; `await store.open()` comes next."""
    url = settings.database_url
    if url.startswith("sqlite:///"):
        from runyard.stores.sqlite import SqliteStore

        return SqliteStore(Path(url.removeprefix("sqlite:///")), clock or SystemClock())
    try:
        from runyard.stores.postgres import PostgresStore
    except ImportError:
        raise StartupError("Postgres needs asyncpg: pip install 'runyard[postgres]'.") from None
    return PostgresStore(url, clock or SystemClock())


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
    from runyard.web.auth import LOCAL

    folder = settings.checkpoint_path

    def of_owner(owner: str) -> "InteractionStore":
        if settings.checkpoints == "database":
            return DatabaseInteractionStore(engine, owner)
        return FileInteractionStore(folder if owner == LOCAL else folder / "owners" / quote(owner, safe=""))

    ours = hashlib.sha256(settings.database_url.encode()).hexdigest()[:16]
    return of_owner, Checkpoints(
        engine,
        of_owner,
        clock,
        in_files=settings.checkpoints == "files",
        disk=folder / "fallback",
        temporary=Path(tempfile.gettempdir()) / f"runyard-{ours}",
    )


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
        self._settings = settings
        self._app = app
        self.store = store or open_store(settings, clock)
        self.bus = bus or open_bus(settings)
        self.metrics = Metrics()
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
        self.journal = Journal(self.store, self.tail)
        self.streams = Streams(self.store, self.tail, self.publications)
        self.staff = Staff(self.store, clock, app.agents)
        self.feed = Feed(self.store, lambda last: self.bus.send([Hint("feed", seq=last)]), settings.poll_seconds)
        self.turns = Turns(self.store, self._ring, settings.poll_seconds)
        executor = Executor(
            self.store,
            self.journal,
            clock,
            app.agents,
            settings.stop_seconds,
            settings.approval_seconds,
            settings.workspaces,
            self.staff.agent,
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
            )
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
        least = settings.group_pause_min_seconds
        pause = (least, max(least, settings.group_pause_max_seconds))
        grace = settings.chats_grace_seconds if settings.chats_on_disconnect == "cancel" else None
        self.engine = Engine(
            intake=Intake(
                self.store,
                self.tail,
                clock,
                list(app.agents),
                settings.default_agent or app.default or "",
                self.worker,
                self._ring,
            ),
            views=Views(self.store, self.worker, [a.name for a in app.agents.values() if a.kind in SPEAKS_WHOLE]),
            streams=self.streams,
            cancel=Cancel(
                self.store, self.tail, self.streams, clock, settings.cancel_seconds, self._stop_run, self.metrics
            ),
            approvals=Approvals(self.store, self.tail, clock, app.agents, self._ring, self.metrics),
            attendance=Attendance(self.store, self.streams, grace),
            checkpoints=Checkpoints(self.store),
            conversations=Conversations(self.store, self.tail, clock, Random(), pause, self._ring, self.feed.stir),
            staff=self.staff,
            feed=self.feed,
        )
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
            on_duty("feed", self.feed.run),
            on_duty("checkpoints", lambda: self.checkpoints.run(self._settings.poll_seconds)),
        ]
        if self.worker is not None:
            await self.worker.start()
            self._loops.append(on_duty("turns", self.turns.run))
            self._loops.append(on_duty("reaper", lambda: self.reaper.run(self._settings.reap_seconds)))

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
            await self.checkpoints.round()
        await self.checkpoints.close()
        await self.bus.close()
        await self.store.close()

    def _warm(self) -> None:
        """Load what agents that think will need, beside everything else: it takes seconds."""
        minds = [agent.mind for agent in self._app.agents.values() if agent.mind is not None]
        if self.worker is None or all(mind.is_scripted for mind in minds):
            return
        from runyard.models.litellm import check_installed, warm

        check_installed()
        threading.Thread(target=warm, name="litellm", daemon=True).start()

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
    settings: Settings | None = None, app: App | None = None, *, worker: bool = True, process: Process | None = None
) -> Any:
    """An ASGI app; its lifespan starts and stops everything behind it."""
    from runyard.faces.channels.routes import add_routes as channels
    from runyard.faces.chats.routes import add_routes as chats
    from runyard.faces.native.routes import add_routes as native
    from runyard.faces.plans.routes import add_routes as plans
    from runyard.faces.threads.routes import add_routes as threads
    from runyard.web.app import build

    settings = settings or Settings()
    running = process or Process(settings, app or load_app(settings), worker=worker)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await running.start()
        try:
            yield
        finally:
            await running.stop()

    in_chats = partial(chats, stores=running.interaction_stores, while_waiting=settings.chats_while_waiting)
    known = (threads, channels, in_chats, partial(plans, default_plan=running.default_plan), native)
    faces = [partial(face, engine=running.engine, heartbeat=settings.heartbeat_seconds) for face in known]
    return build(
        running.engine,
        faces,
        metrics=running.metrics,
        version=__version__,
        max_body=settings.max_body_bytes,
        lifespan=lifespan,
    )


async def serve(
    settings: Settings, app: App, *, worker: bool = True, ready: Callable[[str], None] | None = None
) -> None:
    """Serve HTTP until SIGTERM or SIGINT."""
    import uvicorn

    logs.configure(settings.log_format, settings.log_level)
    process = Process(settings, app, worker=worker)
    listener = _listen(settings.host, settings.port)
    config = uvicorn.Config(
        create_app(settings, process=process),
        log_config=None,
        access_log=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=5,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # type: ignore[assignment, method-assign]
    await process.start()
    _calm_collector()
    stopping = _on_signal(process, settings.drain_seconds, lambda: setattr(server, "should_exit", True))
    if ready is not None:
        ready(address(settings.host, listener.getsockname()[1]))
    with _QuietCuts():
        await server.serve([listener])
    stopping.cancel()
    await process.stop()


async def work(settings: Settings, app: App) -> None:
    """Be a worker, and nothing else, until SIGTERM or SIGINT."""
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url.startswith("sqlite"):
        raise StartupError(
            "SQLite has one process: `runyard serve` includes the worker. Use Postgres to run workers of their own."
        )
    process = Process(settings, app)
    await process.start()
    _calm_collector()
    done = asyncio.Event()
    stopping = _on_signal(process, settings.drain_seconds, done.set)
    await done.wait()
    stopping.cancel()
    await process.stop()


def run(main: Coroutine[Any, Any, None]) -> None:
    """asyncio.run, on uvloop where it is installed."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        from uvloop import new_event_loop as factory
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_to_the_end(main))


async def _to_the_end(main: Coroutine[Any, Any, None]) -> None:
    """An agent that ignores its cancellation cannot keep the process alive: its run has been given back by then."""
    await main
    strays = asyncio.all_tasks() - {asyncio.current_task()}
    for task in strays:
        task.cancel()
    left = (await asyncio.wait(strays, timeout=1))[1] if strays else set()
    if left:
        log.warning("process.tasks_left", tasks=len(left))
        logging.shutdown()
        os._exit(0)


def _calm_collector() -> None:
    """What was loaded stays: look at it no more, and look less often at what moves (a fifth of the CPU otherwise)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _on_signal(process: Process, grace: float, then: Callable[[], None]) -> "asyncio.Task[None]":
    """On the first signal drain, then call `then`; on the second, do not wait for runs to end."""
    loop = asyncio.get_running_loop()
    first, second = asyncio.Event(), asyncio.Event()

    def caught() -> None:
        (second if first.is_set() else first).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, caught)

    async def shut_down() -> None:
        await first.wait()
        log.info("process.stopping")
        draining = asyncio.create_task(process.drain(grace))
        hurry = asyncio.create_task(second.wait())
        await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not draining.done():
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)
            await process.drain(0)
        then()

    return asyncio.create_task(shut_down(), name="signals")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise StartupError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Set RUNYARD_PORT to another one."
        ) from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


class _QuietCuts:
    """uvicorn reports a stream that was cut on purpose as a crash; that one line is left out."""

    def __enter__(self) -> None:
        from runyard.web.sse import StreamCut

        def keep(record: logging.LogRecord) -> bool:
            return not (record.exc_info and isinstance(record.exc_info[1], StreamCut))

        self._keep = keep
        logging.getLogger("uvicorn.error").addFilter(keep)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("uvicorn.error").removeFilter(self._keep)
