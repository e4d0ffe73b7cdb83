"""Records decisions of people: each once, together with its event. The run then continues from the queue.

An edited input is checked against its tool before the decision is recorded, so that the client learns what is wrong.
For tools of a tool server, the server's tools are listed if no run of this process has done so yet. For an agent that
this process does not declare, the worker checks the input when it calls the tool.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from runyard.clock import Clock
from runyard.domain.approval import Approval
from runyard.domain.events import ApprovalDecided, Drafter, clean
from runyard.domain.no_redaction import NO_REDACTION
from runyard.domain.run import Status
from runyard.engine.log.tail import Tail
from runyard.errors import AlreadyDecided, Invalid, ToolError, Unavailable
from runyard.store import RunColumn, Store
from runyard.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from runyard.agents.declared.agent import Agent
    from runyard.agents.tools.tool import Tool
    from runyard.domain.redaction import Redactor

MOST_OPEN = 1000  # open approvals of one run, and waiting runs of one thread


class ToolUnavailable(Unavailable):
    """The tool server does not answer, so the edited input cannot be checked. Try again, or decide without an edit."""

    code = "tool_unavailable"


class Approvals:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        *,
        clock: Clock,
        agents: "Mapping[str, Agent]",
        wake_workers: Callable[[], None],
        metrics: Metrics,
        redactor: "Redactor" = NO_REDACTION,
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
        """Record a decision and requeue the run. Raises Invalid if the edited input does not fit the tool, and
        AlreadyDecided."""
        approval_id = clean(approval_id)
        edited, reason = self._redactor.value(edited), self._redactor.value(reason)
        if edited is not None:
            await self._check_edit(owner, approval_id, edited)
        event = self._draft(
            ApprovalDecided(approval_id, decision, by, edited, None if reason is None else clean(reason))
        )
        approval = await self._store.decide(owner, approval_id, decision, by, event)
        self._metrics.events_persisted(1)
        self._tail.mark_stale(approval.run_id)
        self._wake_workers()
        return approval

    async def _check_edit(self, owner: str, approval_id: str, edited: Any) -> None:
        approval = await self._store.get_approval(owner, approval_id)
        if approval.kind != "tool":
            raise Invalid("This approval is a question, so it has no input to edit. Decide without `edited`.")
        run = await self._store.get_run(owner, approval.run_id)
        agent = self._agents.get(run.agent)
        tool = None if agent is None else await _find_tool(agent, approval.tool)
        if tool is not None:
            tool.check(edited)

    async def reject_open(self, owner: str, thread_id: str, by: str, reason: str, *, except_run: str) -> None:
        """Reject all open approvals of the thread's runs, except those of the run `except_run`."""
        where: dict[RunColumn, str] = {"thread_id": thread_id, "status": Status.WAITING.value}
        waiting = await self._store.list_runs(owner, where, None, MOST_OPEN)
        for run in [run for run in waiting if run.id != except_run]:
            for approval in await self._store.list_approvals(owner, None, MOST_OPEN, run.id):
                with suppress(AlreadyDecided):
                    await self.decide(owner, approval.id, "rejected", by, reason)


async def _find_tool(agent: "Agent", name: str) -> "Tool[..., Any] | None":
    """Return the agent's tool with that name, declared or from a tool server."""
    for tool in agent.tools:
        if tool.name == name:
            return tool
    from runyard.agents.declared.agent import equipped

    try:
        full = await equipped(agent)
    except ToolError:
        raise ToolUnavailable from None
    return next((tool for tool in full.tools if tool.name == name), None)
