"""Decisions of people: recorded once, with their event, and the run goes on from the queue.

An edited input is checked here against the tool, so that whoever edits it is told what does not fit. A tool that this
process does not know of (another app, a tool server) checks it when it is called.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from runyard.agents.agent import Agent
from runyard.clock import Clock
from runyard.domain.approval import Approval
from runyard.domain.events import ApprovalDecided, Drafter, clean
from runyard.engine.tail import Tail
from runyard.store import Store


class Approvals:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        clock: Clock,
        ring: Callable[[], None],
        agents: Mapping[str, Agent] | None = None,
    ) -> None:
        self._store = store
        self._tail = tail
        self._draft = Drafter(clock, "api")
        self._ring = ring
        self._agents = agents or {}

    async def decide(
        self,
        owner: str,
        approval_id: str,
        decision: Literal["approved", "rejected"],
        by: str,
        reason: str | None = None,
        edited: Any = None,
    ) -> Approval:
        """InvalidInput if the edited input does not fit the tool; then nothing is decided."""
        if edited is not None:
            await self._check(owner, clean(approval_id), edited)
        event = self._draft(
            ApprovalDecided(approval_id, decision, by, edited, None if reason is None else clean(reason))
        )
        approval = await self._store.decide(owner, clean(approval_id), decision, by, event)
        self._tail.stale(approval.run_id)
        self._ring()
        return approval

    async def _check(self, owner: str, approval_id: str, edited: Any) -> None:
        approval = await self._store.get_approval(owner, approval_id)
        if approval.kind != "tool" or approval.state != "pending":
            return
        run = await self._store.get_run(owner, approval.run_id)
        agent = self._agents.get(run.agent)
        for tool in agent.tools if agent is not None else ():
            if tool.name == approval.tool:
                tool.check(edited)
