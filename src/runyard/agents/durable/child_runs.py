"""Child runs: another agent works in a separate run, and this run waits for its end.

The wait is durable before the child is queued, and it records the child's id. After a crash the child is queued again
under the same id, which has no effect if it exists: no child runs twice."""

import msgspec

from runyard.agents.declared.agent import Output
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.waits import WaitRequest, Waits
from runyard.agents.execution import Execution
from runyard.domain.content.parts import StoredContent
from runyard.domain.events import Payload
from runyard.domain.state.run_state import WaitState
from runyard.domain.task import Budget
from runyard.errors import AnswerTimedOut, ChildFailed, Invalid, TooManyChildren


class ChildRuns:
    """The child runs of one execution."""

    def __init__(self, execution: Execution, parking: Parking, waits: Waits) -> None:
        self._execution = execution
        self._parking = parking
        self._waits = waits

    async def end_of(
        self,
        key: str,
        agent: str,
        content: StoredContent,
        budget: Budget,
        deadline: int | None = None,
        *before: Payload,
    ) -> WaitState:
        """Return the answered wait for the child under this key. Start the child if it is new; the events `before` are
        then written together with its wait."""
        wanted = WaitRequest(kind="child", name=agent, input=content, expires_at=deadline)
        known = self._waits.known(key, wanted)
        if known is None or known.answered_seq is None:
            with self._parking.working():
                if known is None:
                    self._check_room(agent)
                    known = self._waits.request(key, wanted, *before)
                    await self._execution.commit()
                await self._execution.start_child(known.child or "", agent, content, budget, known.expires_at)
        return await self._waits.block(key, "child")

    def _check_room(self, agent: str) -> None:
        most_children, most_deep = self._execution.child_limits
        if self._waits.children >= most_children:
            raise TooManyChildren(f"A run may start at most {most_children} child runs (RUNYARD_MAX_CHILDREN).")
        if self._execution.run.depth >= most_deep:
            raise TooManyChildren(f"Child runs may be nested {most_deep} deep (RUNYARD_MAX_CHILD_DEPTH).")
        if not self._execution.knows_agent(agent):
            raise Invalid(f"This server declares no agent {agent!r}. Add it to the app.")


def child_output(found: WaitState) -> Output:
    """Return the output of an ended child. Raises ChildFailed or AnswerTimedOut.

    The deadline of a child is that of its wait. Whichever of them is enforced first, the agent gets the same error."""
    if found.state == "expired" or (found.code == "timeout" and found.expires_at is not None):
        raise AnswerTimedOut(f"The child run of {found.name} did not end in time.")
    if found.state == "failed":
        raise ChildFailed(found.name, found.code or "error", found.reason)
    return msgspec.convert(found.value, Output)
