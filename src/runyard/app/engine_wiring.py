"""Builds the engine of a process from its parts."""

from runyard.app.wiring import Channels, LogPipeline, Resources, whole_message_agents
from runyard.engine.access import Access
from runyard.engine.channels.activity import ConversationActivity
from runyard.engine.channels.agent_history import AgentHistory
from runyard.engine.channels.orchestrator import Orchestrator
from runyard.engine.control.cancel import Cancel
from runyard.engine.control.deadlines import Deadlines
from runyard.engine.control.deleted_files import DeletedFiles
from runyard.engine.control.disconnects import Disconnects
from runyard.engine.control.linked_runs import LinkedRuns
from runyard.engine.control.waits import Waits
from runyard.engine.engine import Engine
from runyard.engine.feedback import FeedbackBook
from runyard.engine.files import Files
from runyard.engine.intake.intake import Intake
from runyard.engine.limits import Admission
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.log.tail import Tail
from runyard.engine.log.tree import Trees
from runyard.engine.model_requests import ModelRequests
from runyard.engine.queries.checkpoints import Checkpoints
from runyard.engine.queries.overview import Overviews
from runyard.engine.queries.statistics import Statistics
from runyard.engine.queries.thread_search import ThreadSearch
from runyard.engine.queries.views import Views
from runyard.engine.running.worker import Worker
from runyard.engine.shares import Shares
from runyard.telemetry.spans import Recorder, Tracer


def _link_runs(
    resources: Resources, tail: Tail, intake: Intake, cancel: Cancel, snapshots: Snapshots, worker: Worker | None
) -> LinkedRuns:
    """Build what answers waits without a client, and connect the parts that end runs with it."""
    linked_runs = LinkedRuns(
        resources.store,
        tail,
        start_child=intake.start_child,
        cancel=cancel,
        snapshots=snapshots,
        clock=resources.clock,
        wake_workers=resources.hints.wake_workers,
        metrics=resources.metrics,
    )
    cancel.on_ended = linked_runs.run_ended
    if worker is not None:
        worker.services.wait_support = linked_runs
    return linked_runs


def _build_waits(resources: Resources, tail: Tail, linked_runs: LinkedRuns) -> Waits:
    return Waits(
        resources.store,
        tail,
        clock=resources.clock,
        agents=resources.app.agents,
        wake_workers=resources.hints.wake_workers,
        metrics=resources.metrics,
        match_event=linked_runs.match_event,
        event_seconds=resources.settings.event_seconds,
        redactor=resources.redactor,
    )


def _build_model_requests(
    resources: Resources, channels: Channels, snapshots: Snapshots, views: Views
) -> ModelRequests:
    untraced = Orchestrator(channels.agent_directory, channels.conversations, Tracer(Recorder()))
    history_chars = resources.settings.max_history_chars
    return ModelRequests(resources.store, snapshots, views, channels.agent_directory, untraced, history_chars)


def build_engine(
    resources: Resources,
    log: LogPipeline,
    channels: Channels,
    *,
    worker: Worker | None,
    admission: Admission,
    deleted_files: DeletedFiles,
    snapshots: Snapshots,
    files: Files,
) -> Engine:
    settings, app = resources.settings, resources.app
    grace = settings.chats_grace_seconds if settings.chats_on_disconnect == "cancel" else None
    default_agent = settings.default_agent or app.default
    cancel = Cancel(
        resources.store,
        log.tail,
        streams=log.streams,
        clock=resources.clock,
        grace_seconds=settings.cancel_seconds,
        stop_run=resources.hints.stop_run,
        metrics=resources.metrics,
        wake_workers=resources.hints.wake_workers,
    )
    intake = Intake(
        resources.store,
        log.tail,
        clock=resources.clock,
        agents=list(app.agents),
        default_agent=default_agent or "",
        wake_workers=resources.hints.wake_workers,
        worker=worker,
        redactor=resources.redactor,
        admission=admission,
        plans=app.plans(default_agent),
        cancel=cancel,
        metrics=resources.metrics,
        tell_thread=resources.hints.tell_thread,
    )
    linked_runs = _link_runs(resources, log.tail, intake, cancel, snapshots, worker)
    views = Views(
        resources.store,
        worker,
        whole_message_agents=whole_message_agents(app),
        clock=resources.clock,
        retention_days=settings.retention_days,
        deleted_files=deleted_files,
        snapshots=snapshots,
    )
    thread_search = ThreadSearch(resources.store, resources.redactor)
    return Engine(
        intake=intake,
        linked_runs=linked_runs,
        views=views,
        thread_search=thread_search,
        shares=Shares(resources.store, views, thread_search),
        feedback=FeedbackBook(resources.store, views, resources.redactor),
        streams=log.streams,
        trees=Trees(log.streams, resources.store, snapshots),
        cancel=cancel,
        deadlines=Deadlines(cancel, resources.clock),
        waits=_build_waits(resources, log.tail, linked_runs),
        disconnects=Disconnects(resources.store, log.streams, grace),
        checkpoints=Checkpoints(resources.store),
        access=Access(resources.store, resources.clock, redactor=resources.redactor),
        conversations=channels.conversations,
        agent_directory=channels.agent_directory,
        feed=channels.feed,
        agent_history=AgentHistory(resources.store),
        activity=ConversationActivity(resources.store),
        overviews=Overviews(resources.store, log.streams, worker, resources.machine_clock, resources.metrics),
        files=files,
        pushes=log.pushes,
        statistics=Statistics(resources.store, resources.clock),
        model_requests=_build_model_requests(resources, channels, snapshots, views),
    )
