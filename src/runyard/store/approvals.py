"""Approvals: decisions that runs wait for."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from runyard.domain.approval import Approval
from runyard.domain.events import Draft


class ApprovalStore(Protocol):
    async def get_approval(self, owner: str, approval_id: str) -> Approval:
        """Return an approval; NotFound if the owner has none with this id."""

    async def list_approvals(
        self, owner: str, before: str | None, limit: int, run_id: str | None = None
    ) -> Sequence[Approval]:
        """Return pending approvals, of all runs or of one, newest first."""

    async def decide(
        self, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
    ) -> Approval:
        """Record a decision and its event, and put the run back into the queue if it is parked.

        The first decision wins: AlreadyDecided for any later one; RunEnded if the run ended without a decision."""

    async def expire(self, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
        """Mark pending approvals past their `expires_at` as expired, each with its event, and return them."""
