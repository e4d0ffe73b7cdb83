"""S1's ApprovalManager: a wait for a decision, over the rows that hold it.

The rows decide: a second answer does not overwrite the first, a cancel wakes who waits, and either may happen in
another process (D9, C7).
"""

from runyard.engine.engine import Engine
from runyard.engine.log.stream import Pause

PATIENCE = 15.0  # between looks while nothing is heard


class ApprovalManager:
    def __init__(self, engine: Engine, owner: str) -> None:
        self._engine = engine
        self._owner = owner

    async def request_approval(self, approval_id: str) -> bool:
        """Return what was decided, once it is; False also if the run ended without an answer."""
        approval = await self._engine.approvals.get(self._owner, approval_id)
        run = await self._engine.views.run(self._owner, approval.run_id)
        follower = self._engine.streams.follow(run.id, run.last_seq)
        try:
            while approval.state == "pending":
                if await follower.next(PATIENCE) in (Pause.CUT, Pause.GONE):
                    raise ConnectionAbortedError("This process is going away; ask another one.")
                approval = await self._engine.approvals.get(self._owner, approval_id)
        finally:
            follower.close()
        return approval.state == "approved"

    async def respond(self, approval_id: str, approved: bool) -> None:
        """Decide; AlreadyDecided if somebody has."""
        await self._engine.approvals.decide(
            self._owner, approval_id, "approved" if approved else "rejected", self._owner
        )
