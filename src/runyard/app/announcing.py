"""Connects a process with the engine that `RUNYARD_EXECUTOR` names: announces runs, and divides agents by queue."""

from runyard.app.factories import open_doorbell
from runyard.app.hints import Hints
from runyard.doorbells import DEFAULT_QUEUE
from runyard.engine.control.announcer import Announcer
from runyard.settings import Settings
from runyard.store import AgentFilter, WorkerStore


def build_announcer(settings: Settings, store: WorkerStore, hints: Hints, *, on_demand: bool) -> Announcer | None:
    """Return what announces runs to the engine that the settings name. A process of that engine does not poll."""
    doorbell = open_doorbell(settings)
    if doorbell is None:
        return None
    queues = settings.agent_queues
    poll = None if on_demand else settings.executor_poll_seconds
    announcer = hints.announcer = Announcer(
        store, doorbell, queue_of=lambda agent: queues.get(agent, DEFAULT_QUEUE), poll_seconds=poll
    )
    return announcer


def agents_for_workers(settings: Settings) -> AgentFilter | None:
    """Return the agents whose runs belong to workers without a queue: all that have no queue."""
    routed = sorted(settings.agent_queues) if settings.executor is not None else []
    return AgentFilter(routed, are_excluded=True) if routed else None


def agents_of_queue(settings: Settings, queue: str) -> AgentFilter | None:
    """Return the agents whose runs belong to a queue of the engine."""
    named = sorted(agent for agent, its in settings.agent_queues.items() if its == queue)
    return AgentFilter(named) if queue != DEFAULT_QUEUE else agents_for_workers(settings)
