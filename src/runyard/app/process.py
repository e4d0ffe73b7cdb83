"""The composition root: settings in, the parts of a process put together out. The only place that knows every part.

Start: open the store, then the journal's readers and the worker. Stop: claim no more, let short runs end, put the rest
back, and cut the streams so that clients reconnect elsewhere. `app/server.py` says when.
"""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from random import Random

import structlog

from runyard.agents.declared.claude import remove_homes
from runyard.agents.declared.loading import App
from runyard.agents.declared.model_settings import SCRIPTED
from runyard.agents.tools.workspace import Workspace, check_writable
from runyard.agents.user_code.containment import contain_tasks
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.app.factories import open_bus, open_checkpoints, open_exporter, open_store
from runyard.bus import Bus, Hint
from runyard.clock import Clock, SystemClock
from runyard.engine.access import Access
from runyard.engine.background import on_duty
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.agent_history import AgentHistory
from runyard.engine.channels.conversations import Conversations
from runyard.engine.channels.feed import Feed
from runyard.engine.channels.orchestrator import Orchestrator
from runyard.engine.channels.reply_order import ReplyOrder
from runyard.engine.control.approvals import Approvals
from runyard.engine.control.cancel import Cancel
from runyard.engine.control.deadlines import Deadlines
from runyard.engine.control.deleted_files import DeletedFiles
from runyard.engine.control.disconnects import Disconnects
from runyard.engine.control.reaper import Reaper
from runyard.engine.control.retention import Retention
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import Intake
from runyard.engine.limits import Admission, AgentLimits, InputLimits, OutputLimits, has_address
from runyard.engine.log.journal import Journal
from runyard.engine.log.outbox import Outbox
from runyard.engine.log.publications import Publications
from runyard.engine.log.stream import Streams
from runyard.engine.log.tail import Tail
from runyard.engine.queries.checkpoints import Checkpoints
from runyard.engine.queries.overview import Overviews
from runyard.engine.queries.views import Views
from runyard.engine.running.database_wait import patient
from runyard.engine.running.run_services import RunServices, ShowTraceback
from runyard.engine.running.watchdog import Watchdog
from runyard.engine.running.worker import Worker
from runyard.errors import RunyardError, StartupError
from runyard.settings import Settings
from runyard.store import Store
from runyard.telemetry.harmless import safely
from runyard.telemetry.logs import contain
from runyard.telemetry.metrics import RUNS_ACTIVE, SSE_CLIENTS, SSE_LAG, Metrics
from runyard.telemetry.spans import Tracer

log = structlog.get_logger()

SPEAKS_WHOLE = frozenset({"model", "claude"})  # kinds of agents that record whole messages beside the pieces

LAST_DUTY_SECONDS = 3.0


async def _briefly(duty: Awaitable[object]) -> None:
    """Do a last duty before the process ends. If the database does not answer in time, another process does it."""
    with suppress(RunyardError, TimeoutError):
        async with asyncio.timeout(LAST_DUTY_SECONDS):
            await duty


def _models(app: App) -> dict[str, str]:
    """The agents, each with the model that it thinks with."""
    return {
        name: "" if agent.model_settings is None else agent.model_settings.model for name, agent in app.agents.items()
    }


def _agent_limits(settings: Settings, app: App) -> AgentLimits:
    """What agents of the API may use: the models of the settings, or those that declared agents think with."""
    named = settings.agent_models
    if named is not None:
        models = {model.strip() for model in named.split(",")}
    else:
        model_settings_of_agents = [agent.model_settings or agent.claude for agent in app.agents.values()]
        models = {model_settings.model for model_settings in model_settings_of_agents if model_settings is not None}
    named_only = frozenset(model for model in models - {"", SCRIPTED} if not has_address(model))
    return AgentLimits(named_only, settings.agent_max_usd)


class Process:
    """Everything one process runs, with or without a worker."""

    def __init__(
        self,
        settings: Settings,
        app: App,
        *,
        worker: bool = True,
        store: Store | None = None,
        bus: Bus | None = None,
        clock: Clock | None = None,
        may_exit: bool = False,
        on_traceback: ShowTraceback | None = None,
    ) -> None:
        """`may_exit`: this process is Runyard's own, and may end itself if an agent blocks it for good.
        `on_traceback` shows a developer what agents raise."""
        contain()
        clock = clock or SystemClock()
        redactor = settings.redactor
        self._settings = settings
        self._app = app
        self.store = store or open_store(settings, clock)
        self.bus = bus or open_bus(settings)
        self.metrics = Metrics(_models(app), {tool.name for agent in app.agents.values() for tool in agent.tools})
        self.tracer = Tracer(open_exporter(settings))
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
        self.agent_directory = AgentDirectory(self.store, clock, app.agents, redactor, _agent_limits(settings, app))
        self.feed = Feed(self.store, lambda last: self.bus.send([Hint("feed", seq=last)]), settings.poll_seconds)
        self.reply_order = ReplyOrder(self.store, self._wake_workers, settings.poll_seconds)
        least = settings.group_pause_min_seconds
        pause = (least, max(least, settings.group_pause_max_seconds))
        admission = Admission(
            self.store,
            clock,
            InputLimits(settings.max_message_chars, settings.max_queued_per_lane, settings.max_queued_per_owner),
        )
        conversations = Conversations(
            self.store,
            self.tail,
            clock,
            Random(),
            pause,
            self._wake_workers,
            self.feed.wake,
            redactor,
            self.tracer,
            admission,
            self.agent_directory.memory_owner,
        )
        away = settings.database_wait_seconds
        agent_directory = patient(self.agent_directory, away)
        executor = RunServices(
            patient(self.store, away),
            self.journal,
            clock,
            app.agents,
            settings.stop_seconds,
            settings.approval_seconds,
            settings.workspaces,
            redactor,
            agent_directory.agent,
            Orchestrator(agent_directory, patient(conversations, away), self.tracer).work,
            self.tracer,
            self.metrics,
            OutputLimits(
                settings.max_event_bytes,
                settings.max_tool_output_bytes,
                settings.max_history_chars,
                settings.tell_tool_errors,
                settings.max_answer_bytes,
            ),
            on_traceback,
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
                wake_other_processes=self._wake_other_processes,
                seen=self._seen,
                metrics=self.metrics,
            )
        most = min(settings.max_blocked_seconds, settings.lease_seconds / 2)
        self.watchdog = Watchdog(most or None, settings.lease_seconds, may_exit=may_exit)
        self.metrics.watch(RUNS_ACTIVE, lambda: 0 if self.worker is None else self.worker.active)
        self.metrics.watch(SSE_CLIENTS, lambda: self.streams.open)
        self.metrics.watch(SSE_LAG, lambda: self.streams.lag)
        self.reaper = Reaper(
            self.store,
            self.tail,
            clock,
            settings.max_attempts,
            settings.cancel_seconds,
            self._wake_workers,
            self._stop_run,
            self.metrics,
            self.store.recover_held_runs,
        )
        grace = settings.chats_grace_seconds if settings.chats_on_disconnect == "cancel" else None
        cancel = Cancel(
            self.store, self.tail, self.streams, clock, settings.cancel_seconds, self._stop_run, self.metrics
        )
        self.deleted_files = DeletedFiles(self.store, clock, (self._remove_workspace, self._remove_checkpoints))
        self.engine = Engine(
            intake=Intake(
                self.store,
                self.tail,
                clock,
                list(app.agents),
                settings.default_agent or app.default or "",
                self.worker,
                self._wake_workers,
                redactor,
                admission,
                app.plans(settings.default_agent or app.default),
            ),
            views=Views(
                self.store,
                self.worker,
                [a.name for a in app.agents.values() if a.kind in SPEAKS_WHOLE],
                clock,
                settings.retention_days,
                self.deleted_files,
            ),
            streams=self.streams,
            cancel=cancel,
            deadlines=Deadlines(cancel, clock),
            approvals=Approvals(self.store, self.tail, clock, app.agents, self._wake_workers, self.metrics, redactor),
            disconnects=Disconnects(self.store, self.streams, grace),
            checkpoints=Checkpoints(self.store),
            access=Access(self.store, clock, redactor=redactor),
            conversations=conversations,
            agent_directory=self.agent_directory,
            feed=self.feed,
            records=AgentHistory(self.store),
            overviews=Overviews(self.store, self.streams, self.worker, clock, self.metrics),
        )
        days = settings.retention_days
        self.retention = None if days is None else Retention(self.store, clock, days)
        self.task_types = app.task_types
        self._loops: list[asyncio.Task[None]] = []
        self.interaction_stores, self.checkpoints = open_checkpoints(settings, self.engine, clock)

    async def start(self) -> None:
        default = self._settings.default_agent
        if default is not None and default not in self._app.agents:
            raise StartupError(f"RUNYARD_DEFAULT_AGENT names {default!r}, which the app does not declare.")
        check_writable(self._settings.workspaces)
        self._check_claude()
        await self._load_models()
        contain_tasks(asyncio.get_running_loop())
        await self.store.open()
        for name, documents in self._app.collections.items():
            await self.store.put_documents(name, documents)
        await self.agent_directory.declare()
        await self.bus.open(self._hear)
        self._loops = [
            on_duty("watch", lambda: self.streams.watch(self._settings.poll_seconds)),
            on_duty("outbox", self.outbox.run),
            on_duty("access", self.engine.access.run),
            on_duty("feed", self.feed.run),
            on_duty("deleted files", self.deleted_files.run),
            on_duty("checkpoints", lambda: self.checkpoints.run(self._settings.poll_seconds)),
        ]
        if self.worker is not None:
            self.watchdog.start()
            await self.worker.start()
        # Also without a worker: with the last worker dead, its runs still have to be canceled, ended or put back.
        self._loops.append(on_duty("turns", self.reply_order.run))
        self._loops.append(on_duty("reaper", lambda: self.reaper.run(self._settings.reap_seconds)))
        if self.retention is not None:
            self._loops.append(on_duty("retention", self.retention.run))

    async def drain(self, grace: float) -> None:
        """Stop working, keep answering: what runs ends or goes back into the queue, then streams are cut."""
        self.streams.is_draining = True
        if self.worker is not None:
            await self.worker.drain(grace)
        await _briefly(self.outbox.round())
        self.streams.cut()
        self.feed.cut()

    async def stop(self) -> None:
        if not self.streams.is_cut:
            await self.drain(self._settings.drain_seconds)
        self.watchdog.stop()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(source.close() for agent in self._app.agents.values() for source in agent.sources))
        await self.journal.close(LAST_DUTY_SECONDS)
        await _briefly(self.engine.access.note_use())
        await _briefly(self.checkpoints.round())
        await self.checkpoints.close()
        await _briefly(self.bus.close())
        await self.store.close()
        await _briefly(run_in_thread(safely, self.tracer.exporter.close))

    async def _load_models(self) -> None:
        """Load what agents with a model need, before anything else: it takes seconds, and slows the process down."""
        model_settings_of_agents = [
            agent.model_settings for agent in self._app.agents.values() if agent.model_settings is not None
        ]
        if self.worker is None or all(model_settings.is_scripted for model_settings in model_settings_of_agents):
            return
        from runyard.models.loading import check_installed, load_beside_the_loop

        check_installed()
        log.info("models.load_started", library="litellm")
        began = time.monotonic()
        try:
            await load_beside_the_loop()
        except Exception as error:  # an import may raise anything; a run that asks a model will say so
            log.error("models.load_failed", error=type(error).__name__)
        else:
            log.info("models.loaded", seconds=round(time.monotonic() - began, 1))

    def _check_claude(self) -> None:
        told = [agent.claude for agent in self._app.agents.values() if agent.claude is not None]
        if not told:
            return
        from runyard.agents.declared.claude import check_installed

        if self.worker is not None:
            check_installed()
        settings = self._settings
        if any(each.sessions for each in told) and (settings.encryption_keys or settings.redactor is not None):
            raise StartupError(
                "Claude Agent SDK keeps sessions in files that are neither sealed nor redacted: declare the agent with"
                " sessions=False, or take RUNYARD_ENCRYPTION_KEYS and RUNYARD_REDACT away."
            )

    async def _remove_workspace(self, thread_id: str, owner: str, chat: str | None) -> None:
        await Workspace.of(self._settings.workspaces, thread_id).remove()
        await run_in_thread(remove_homes, self._settings.workspaces, thread_id)

    async def _remove_checkpoints(self, thread_id: str, owner: str, chat: str | None) -> None:
        await self.checkpoints.remove(thread_id, owner, chat)

    def _wake_workers(self) -> None:
        """There may be something to claim, here or elsewhere."""
        if self.worker is not None:
            self.worker.wake()
        self._wake_other_processes()

    def _seen(self) -> None:
        """An agent begins or ends what it was told in a conversation."""
        self.feed.wake()
        self.reply_order.wake()

    def _wake_other_processes(self) -> None:
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
                    self.worker.wake()
                case "cancel" if self.worker is not None:
                    self.worker.look_for_cancels(hint.run_id)
