"""The ApprovalManager: waits for a decision and records one.

The database row is authoritative: a second decision does not overwrite the first, and a cancel ends the wait. Both may
happen in another process.
"""

from runyard.engine.engine import Engine
from runyard.engine.log.stream import Pause

POLL_SECONDS = 15.0  # between reads while no event arrives


class ApprovalManager:
    """The approvals of one owner."""

    def __init__(self, engine: Engine, owner: str) -> None:
        self._engine = engine
        self._owner = owner

    async def request_approval(self, approval_id: str) -> bool:
        """Wait for the decision and return it. Return False if the run ended without a decision."""
        approval = await self._engine.waits.get(self._owner, approval_id)
        run = await self._engine.views.run(self._owner, approval.run_id)
        follower = self._engine.streams.follow(run.id, run.last_seq)
        try:
            while approval.state == "pending":
                if await follower.next(POLL_SECONDS) in (Pause.CUT, Pause.GONE):
                    raise ConnectionAbortedError("This process is shutting down. Ask another process.")
                approval = await self._engine.waits.get(self._owner, approval_id)
        finally:
            follower.close()
        return approval.state == "approved"

    async def respond(self, approval_id: str, approved: bool) -> None:
        """Record a decision. Raise AlreadyDecided if there is one."""
        await self._engine.waits.decide(self._owner, approval_id, "approved" if approved else "rejected", self._owner)
