"""The shared dependencies of all runs of one process: the store, the journal, the agents, the limits and the
telemetry."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from runyard.agents.declared.agent import Agent, Output
from runyard.base.clock import Clock
from runyard.domain.content.parts import StoredContent
from runyard.domain.events import Drafter
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.runs.append import Release
from runyard.domain.runs.run import Run
from runyard.domain.task import Budget
from runyard.engine.files import Files
from runyard.engine.limits import OutputLimits
from runyard.engine.log.journal import Journal
from runyard.engine.log.snapshots import STATE, FoldKind, Snapshots
from runyard.engine.running.run_snapshots import RunSnapshots
from runyard.errors import RunyardError
from runyard.store import Claim, Store
from runyard.telemetry.logger import get_logger
from runyard.telemetry.metrics import Metrics
from runyard.telemetry.spans import Recorder, Tracer

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

log = get_logger()

RunAgent = Callable[[Agent], Awaitable[Output | None]]
"""Run an agent to its output."""
Orchestrate = Callable[[Agent, Run, RunAgent], Awaitable[Output | None]]
"""Prepare an agent for its mailbox, run it with the given function, and return its output."""
ShowTraceback = Callable[[Run, str, str], None]
"""Show a developer what an agent's own code raised: the run, a title, the traceback."""


NO_FOLDS: Mapping[str, FoldKind[Any]] = MappingProxyType({})


class RunLimits(NamedTuple):
    stop_seconds: float  # for an agent to end after its cancellation
    approval_seconds: float | None = None  # until an approval without a deadline expires
    output: OutputLimits = OutputLimits()
    children: int = 100  # child runs of one run
    child_depth: int = 5


class WaitSupport(Protocol):
    """The operations that the waits of runs need from the rest of the engine. `engine/control/linked_runs.py`
    implements it."""

    @property
    def start_child(self) -> Callable[[Run, str, str, StoredContent, Budget], Awaitable[None]]:
        """Queue a run for a parent under an id, with an agent, a text and a budget, unless it was queued before."""

    async def match_event(self, target: str | None) -> None: ...

    async def run_ended(self, run: Run) -> None: ...


class RunServices:
    def __init__(
        self,
        store: Store,
        journal: Journal,
        *,
        clock: Clock,
        agents: Mapping[str, Agent],
        limits: RunLimits,
        workspaces: Path = Path(".runyard/workspaces"),
        redactor: "Redactor" = NO_REDACTION,
        find_agent: Callable[[str], Awaitable[Agent | None]] | None = None,
        orchestrate: Orchestrate | None = None,
        tracer: Tracer | None = None,
        metrics: Metrics | None = None,
        on_traceback: ShowTraceback | None = None,
        snapshots: Snapshots | None = None,
        folds: Mapping[str, FoldKind[Any]] = NO_FOLDS,
        files: Files | None = None,
    ) -> None:
        """`find_agent` looks up agents that are not declared in code; `orchestrate` runs an agent in its mailbox.
        `folds`: the folds that faces keep snapshots of, by the name of the face."""
        self.store = store
        self.snapshots = snapshots or Snapshots(store)
        self._folds = folds
        self.files = files
        self.journal = journal
        self.clock = clock
        self.draft = Drafter(clock, "worker")
        self.agents = agents
        self.versions = {name: agent.version for name, agent in agents.items()}
        self._find_agent = find_agent
        self.orchestrate = orchestrate
        self.workspaces = workspaces
        self.redactor = redactor
        self.tracer = tracer or Tracer(Recorder())
        self.metrics = metrics or Metrics()
        self._on_traceback = on_traceback
        self.stop_seconds = limits.stop_seconds
        self.child_limits = (limits.children, limits.child_depth)
        self.wait_support: WaitSupport | None = None  # set once the engine is built
        self.approval_ms = None if limits.approval_seconds is None else int(limits.approval_seconds * 1000)
        self.limits = limits.output
        self.most_event_bytes = self.limits.event_bytes or sys.maxsize
        self.most_answer_bytes = max(self.limits.answer_bytes or sys.maxsize, self.limits.event_bytes or 0)

    async def agent(self, name: str) -> Agent | None:
        """Look up an agent by name: declared in code, or made over the API."""
        if name in self.agents or self._find_agent is None:
            return self.agents.get(name)
        return await self._find_agent(name)

    def snapshots_of(self, run: Run) -> RunSnapshots:
        """Return what saves the snapshots of a run while this process executes it."""
        own = self._folds.get(run.face)
        return RunSnapshots(self.snapshots, run, [STATE] if own is None else [STATE, own])

    def show_traceback(self, run: Run, title: str, text: str | None) -> None:
        """Show a traceback to the developer who watches this process, if there is one. Never raises."""
        if self._on_traceback is not None and text is not None:
            with suppress(Exception):  # a closed terminal must not change how a run ends
                self._on_traceback(run, title, text)

    def trace_dequeue(self, claims: Sequence[Claim], began: float) -> None:
        """Trace the claims of runs in mailboxes; `began` is when the worker asked for them."""
        for claim in claims:
            if claim.run.in_mailbox:
                span = self.tracer.root("mailbox.dequeue", claim.run.id, began, agent=claim.run.agent)
                self.tracer.end(span)

    async def release(self, run: Run) -> None:
        """Put a run that this worker holds but does not execute back into the queue."""
        try:
            await self.journal.open(run).move(Release(), [])
        except RunyardError as error:
            log.warning("run.release_failed", run_id=run.id, code=error.code)
