"""Builders for the parts of a process: log pipeline, channels, worker, control loops, engine.

Each builder takes the settings and the parts that it needs. `process.py` calls them in this order.
"""

import os
import socket
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from runyard.agents.declared.loading import App
from runyard.app.announcing import agents_for_workers
from runyard.app.factories import open_objects
from runyard.app.hints import Hints
from runyard.app.limits import agent_limits, file_limits, input_limits, run_limits
from runyard.base.clock import Clock
from runyard.buses.bus import Bus
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.conversations import Conversations
from runyard.engine.channels.feed import Feed
from runyard.engine.channels.orchestrator import Orchestrator
from runyard.engine.channels.reply_order import ReplyOrder
from runyard.engine.control.linked_runs import LinkedRuns
from runyard.engine.control.reaper import Reaper
from runyard.engine.files import Files
from runyard.engine.limits import Admission
from runyard.engine.log.journal import Journal
from runyard.engine.log.outbox import Outbox
from runyard.engine.log.publications import Publications
from runyard.engine.log.pushes import Pushes
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.log.stream import Streams
from runyard.engine.log.tail import Tail
from runyard.engine.running.database_wait import retrying
from runyard.engine.running.run_services import RunServices, ShowTraceback
from runyard.engine.running.watchdog import Watchdog
from runyard.engine.running.worker import Worker
from runyard.faces.a2a.push import KIND as A2A_PUSH
from runyard.faces.a2a.push import notifications
from runyard.faces.chats.agent_events import agent_events_fold
from runyard.faces.langgraph.webhooks import KIND as LANGGRAPH_PUSH
from runyard.faces.langgraph.webhooks import Webhook
from runyard.settings import Settings
from runyard.settings.addresses import networks
from runyard.store import Store
from runyard.telemetry.metrics import Metrics
from runyard.telemetry.spans import Tracer

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

# kinds of agents that record whole messages in addition to the pieces
WHOLE_MESSAGES = frozenset({"model", "claude", "pydantic_ai", "openai_agents"})


@dataclass(frozen=True)
class Resources:
    """The objects that every part of a process uses."""

    settings: Settings
    app: App
    clock: Clock
    machine_clock: Clock
    redactor: "Redactor"
    store: Store
    bus: Bus
    metrics: Metrics
    tracer: Tracer
    hints: Hints


@dataclass(frozen=True)
class LogPipeline:
    """The path of events: from the journal, which writes them, to the streams that clients follow."""

    publications: Publications
    outbox: Outbox
    tail: Tail
    journal: Journal
    streams: Streams
    pushes: Pushes


def build_log_pipeline(resources: Resources) -> LogPipeline:
    settings, publications = resources.settings, Publications()
    pushes = Pushes(
        resources.store,
        {A2A_PUSH: notifications, LANGGRAPH_PUSH: Webhook},
        allow=networks(settings.push_allow),
        attempts=settings.push_attempts,
        timeout_seconds=settings.push_timeout_seconds,
    )
    outbox = Outbox(
        resources.store,
        publications,
        resources.bus,
        resources.clock,
        resources.metrics,
        poll_seconds=settings.outbox_poll_seconds,
        batch=settings.outbox_batch,
        on_commit=pushes.add_committed,
    )
    tail = Tail(outbox, settings.tail_bytes)
    return LogPipeline(
        publications,
        outbox,
        tail,
        Journal(resources.store, tail, resources.metrics),
        Streams(resources.store, tail, publications),
        pushes,
    )


@dataclass(frozen=True)
class Channels:
    agent_directory: AgentDirectory
    conversations: Conversations
    feed: Feed
    reply_order: ReplyOrder

    def wake(self) -> None:
        """Number feed entries and release due runs now, because a run in a mailbox has begun or ended."""
        self.feed.wake()
        self.reply_order.wake()


def build_channels(resources: Resources, tail: Tail, admission: Admission) -> Channels:
    settings = resources.settings
    directory = AgentDirectory(
        resources.store,
        resources.clock,
        declared=resources.app.agents,
        default=settings.default_agent or resources.app.default,
        redactor=resources.redactor,
        limits=agent_limits(settings, resources.app),
    )
    feed = Feed(resources.store, resources.hints.announce_feed, settings.poll_seconds)
    shortest = settings.group_pause_min_seconds
    conversations = Conversations(
        resources.store,
        tail,
        clock=resources.clock,
        random=Random(),
        pause_seconds=(shortest, max(shortest, settings.group_pause_max_seconds)),
        wake_workers=resources.hints.wake_workers,
        wake_feed=feed.wake,
        redactor=resources.redactor,
        tracer=resources.tracer,
        admission=admission,
        memory_owner=directory.memory_owner,
    )
    return Channels(
        directory, conversations, feed, ReplyOrder(resources.store, resources.hints.wake_workers, settings.poll_seconds)
    )


def build_files(resources: Resources, store: Store) -> Files:
    settings = resources.settings
    return Files(
        store, resources.clock, file_limits(settings), objects=open_objects(settings), redactor=resources.redactor
    )


def build_admission(resources: Resources) -> Admission:
    settings = resources.settings
    return Admission(resources.store, resources.clock, input_limits(settings))


def whole_message_agents(app: App) -> list[str]:
    return [agent.name for agent in app.agents.values() if agent.kind in WHOLE_MESSAGES]


def build_worker(
    resources: Resources,
    journal: Journal,
    channels: Channels,
    snapshots: Snapshots,
    on_traceback: ShowTraceback | None = None,
    *,
    on_demand: bool = False,
) -> Worker:
    settings, wait = resources.settings, resources.settings.database_wait_seconds
    directory, store = retrying(channels.agent_directory, wait), retrying(resources.store, wait)
    services = RunServices(
        store,
        journal,
        clock=resources.clock,
        agents=resources.app.agents,
        limits=run_limits(settings),
        workspaces=settings.workspaces,
        redactor=resources.redactor,
        find_agent=directory.agent,
        orchestrate=Orchestrator(directory, retrying(channels.conversations, wait), resources.tracer).orchestrate,
        tracer=resources.tracer,
        metrics=resources.metrics,
        on_traceback=on_traceback,
        snapshots=snapshots,
        folds={"chats": agent_events_fold(frozenset(whole_message_agents(resources.app)).__contains__)},
        files=build_files(resources, store),
    )
    return Worker(
        resources.store,
        services,
        label=f"{socket.gethostname()}:{os.getpid()}",
        slots=0 if on_demand else settings.slots,
        lease_seconds=settings.lease_seconds,
        poll_seconds=settings.poll_seconds,
        wake_other_processes=resources.hints.wake_other_processes,
        on_mailbox_run=channels.wake,
        agents=agents_for_workers(settings),
        metrics=resources.metrics,
    )


def build_watchdog(settings: Settings, *, may_exit: bool) -> Watchdog:
    limit = min(settings.max_blocked_seconds, settings.lease_seconds / 2)
    return Watchdog(limit or None, settings.lease_seconds, may_exit=may_exit)


def build_reaper(resources: Resources, tail: Tail, linked_runs: LinkedRuns) -> Reaper:
    return Reaper(
        resources.store,
        tail,
        clock=resources.clock,
        max_attempts=resources.settings.max_attempts,
        cancel_seconds=resources.settings.cancel_seconds,
        wake_workers=resources.hints.wake_workers,
        stop_run=resources.hints.stop_run,
        metrics=resources.metrics,
        linked_runs=linked_runs,
        recover_reply_order=resources.store.recover_held_runs,
    )
