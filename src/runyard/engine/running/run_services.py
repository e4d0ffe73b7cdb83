"""What all executions of one process share: the store and the journal, the agents, the limits, the telemetry."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from runyard.agents.declared.agent import Agent, Output
from runyard.clock import Clock
from runyard.domain.append import Release
from runyard.domain.events import Drafter
from runyard.domain.run import Run
from runyard.engine.limits import OutputLimits
from runyard.engine.log.journal import Journal
from runyard.errors import RunyardError
from runyard.store import Claim, Store
from runyard.telemetry.metrics import Metrics
from runyard.telemetry.spans import Recorder, Tracer

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

log = structlog.get_logger()

NO_LIMITS = OutputLimits()
Think = Callable[[Agent], Awaitable[Output | None]]
ShowTraceback = Callable[[Run, str, str], None]
Orchestrate = Callable[[Agent, Run, Think], Awaitable[Output | None]]


class RunServices:
    def __init__(
        self,
        store: Store,
        journal: Journal,
        clock: Clock,
        agents: Mapping[str, Agent],
        stop_seconds: float,
        approval_seconds: float | None = None,
        workspaces: Path = Path(".runyard/workspaces"),
        redactor: "Redactor | None" = None,
        hired: Callable[[str], Awaitable[Agent | None]] | None = None,
        office: Orchestrate | None = None,
        tracer: Tracer | None = None,
        metrics: Metrics | None = None,
        limits: OutputLimits = NO_LIMITS,
        on_traceback: ShowTraceback | None = None,
    ) -> None:
        """`hired` finds agents that are not declared in code; `office` sees to those that work in their mailbox;
        `on_traceback` shows a developer what an agent's own code raised."""
        self._on_traceback = on_traceback
        self.office = office
        self.tracer = tracer or Tracer(Recorder())
        self.metrics = metrics or Metrics()
        self.limits = limits
        self.most_event_bytes = limits.event_bytes or sys.maxsize
        self.most_answer_bytes = max(limits.answer_bytes or sys.maxsize, limits.event_bytes or 0)
        self.redactor = redactor
        self._hired = hired
        self.store = store
        self.journal = journal
        self.clock = clock
        self.agents = agents
        self.versions = {name: agent.version for name, agent in agents.items()}
        self.draft = Drafter(clock, "worker")
        self.stop_seconds = stop_seconds
        self.approval_ms = None if approval_seconds is None else int(approval_seconds * 1000)
        self.workspaces = workspaces

    async def agent(self, name: str) -> Agent | None:
        if name in self.agents or self._hired is None:
            return self.agents.get(name)
        return await self._hired(name)

    def show_traceback(self, run: Run, what: str, text: str | None) -> None:
        """Show a traceback to the developer who watches this process, if there is one. Never raises."""
        if self._on_traceback is not None and text is not None:
            with suppress(Exception):  # a closed terminal must not change how a run ends
                self._on_traceback(run, what, text)

    def dequeued(self, claims: Sequence[Claim], began: float) -> None:
        """What was claimed of mailboxes, and since when it was looked for."""
        for claim in claims:
            if claim.run.in_mailbox:
                span = self.tracer.root("mailbox.dequeue", claim.run.id, began, agent=claim.run.agent)
                self.tracer.end(span)

    async def give_back(self, run: Run) -> None:
        """Put a run that was claimed, but that nobody here works on, back into the queue."""
        try:
            await self.journal.open(run).move(Release(), [])
        except RunyardError as error:
            log.warning("run.release_failed", run_id=run.id, code=error.code)
