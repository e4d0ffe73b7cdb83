"""Decisions of people: recorded once, with their event, and the run goes on from the queue.

An edited input is checked here against the tool, before anything is decided, so that the client is told what does not
fit. The tools of a tool server are listed for that, if no run has listed them in this process yet. A tool of an agent
that this process does not declare checks its input when it is called.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from runyard.agents.declared.agent import Agent, equipped
from runyard.agents.tools.tool import Tool
from runyard.clock import Clock
from runyard.domain.approval import Approval
from runyard.domain.events import ApprovalDecided, Drafter, clean
from runyard.domain.run import Status
from runyard.engine.log.tail import Tail
from runyard.errors import AlreadyDecided, Invalid, ToolError, Unavailable
from runyard.store import RunColumn, Store
from runyard.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

MOST_OPEN = 1000  # questions of one run


class ToolUnavailable(Unavailable):
    """The tool server does not answer, so the edited input cannot be checked. Try again, or decide without an edit."""

    code = "tool_unavailable"


class Approvals:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        clock: Clock,
        agents: Mapping[str, Agent],
        wake_workers: Callable[[], None],
        metrics: Metrics,
        redactor: "Redactor | None" = None,
    ) -> None:
        self._redactor = redactor
        self._store = store
        self._tail = tail
        self._agents = agents
        self._draft = Drafter(clock, "api")
        self._wake_workers = wake_workers
        self._metrics = metrics

    async def get(self, owner: str, approval_id: str) -> Approval:
        return await self._store.get_approval(owner, clean(approval_id))

    async def decide(
        self,
        owner: str,
        approval_id: str,
        decision: Literal["approved", "rejected"],
        by: str,
        reason: str | None = None,
        edited: Any = None,
    ) -> Approval:
        """An edited input that does not fit its tool is refused before anything is decided."""
        approval_id = clean(approval_id)
        if self._redactor is not None:
            edited, reason = self._redactor.value(edited), self._redactor.value(reason)
        if edited is not None:
            await self._check(owner, approval_id, edited)
        event = self._draft(
            ApprovalDecided(approval_id, decision, by, edited, None if reason is None else clean(reason))
        )
        approval = await self._store.decide(owner, approval_id, decision, by, event)
        self._metrics.events_persisted(1)
        self._tail.stale(approval.run_id)
        self._wake_workers()
        return approval

    async def _check(self, owner: str, approval_id: str, edited: Any) -> None:
        approval = await self._store.get_approval(owner, approval_id)
        if approval.kind != "tool":
            raise Invalid("Only the input of a tool can be edited; this is a question.")
        run = await self._store.get_run(owner, approval.run_id)
        agent = self._agents.get(run.agent)
        tool = None if agent is None else await _tool(agent, approval.tool)
        if tool is not None:
            tool.check(edited)

    async def reject_open(self, owner: str, thread_id: str, by: str, reason: str, *, but: str) -> None:
        """Say no to everything that runs of this thread wait for, but not to what the run `but` does."""
        where: dict[RunColumn, str] = {"thread_id": thread_id, "status": Status.WAITING.value}
        waiting = await self._store.list_runs(owner, where, None, MOST_OPEN)
        for run in [run for run in waiting if run.id != but]:
            for approval in await self._store.list_approvals(owner, None, MOST_OPEN, run.id):
                with suppress(AlreadyDecided):
                    await self.decide(owner, approval.id, "rejected", by, reason)


async def _tool(agent: Agent, name: str) -> Tool[..., Any] | None:
    """The tool of that name: declared, or listed by one of the agent's sources."""
    for tool in agent.tools:
        if tool.name == name:
            return tool
    try:
        full = await equipped(agent)
    except ToolError:
        raise ToolUnavailable from None
    return next((tool for tool in full.tools if tool.name == name), None)
