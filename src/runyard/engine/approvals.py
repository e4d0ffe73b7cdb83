"""Decisions of people: recorded once, with their event, and the run goes on from the queue."""

from collections.abc import Callable
from typing import Any, Literal

from runyard.clock import Clock
from runyard.domain.approval import Approval
from runyard.domain.events import ApprovalDecided, Drafter, clean
from runyard.engine.tail import Tail
from runyard.store import Store
from runyard.telemetry.metrics import Metrics


class Approvals:
    def __init__(self, store: Store, tail: Tail, clock: Clock, ring: Callable[[], None], metrics: Metrics) -> None:
        self._store = store
        self._tail = tail
        self._draft = Drafter(clock, "api")
        self._ring = ring
        self._metrics = metrics

    async def decide(
        self,
        owner: str,
        approval_id: str,
        decision: Literal["approved", "rejected"],
        by: str,
        reason: str | None = None,
        edited: Any = None,
    ) -> Approval:
        event = self._draft(
            ApprovalDecided(approval_id, decision, by, edited, None if reason is None else clean(reason))
        )
        approval = await self._store.decide(owner, clean(approval_id), decision, by, event)
        self._metrics.events_persisted(1)
        self._tail.stale(approval.run_id)
        self._ring()
        return approval
