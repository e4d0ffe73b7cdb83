"""Questions to people: asked once, answered in a later execution.

An unanswered question blocks (`parking.py`) until the run is parked. After the decision the run reaches the same place
by replay and finds the answer in the log. Python agents and models ask in the same way.
"""

from typing import Any, Final

from runyard.agents.declared.agent import OnUnknown
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay
from runyard.agents.execution import Execution
from runyard.agents.json_values import same
from runyard.domain.approval import Approval, ApprovalKind
from runyard.domain.events import ApprovalRequested, Payload
from runyard.domain.fold import CallState, QuestionState, StepState
from runyard.errors import Nondeterministic

UNKNOWN: Final = "unknown_outcome"


class Questions:
    def __init__(self, execution: Execution, replay: Replay, parking: Parking, on_unknown: OnUnknown) -> None:
        self._execution = execution
        self._replay = replay
        self._parking = parking
        self._on_unknown = on_unknown
        self._asked: dict[tuple[str, ApprovalKind], str] = {}

    def ask(self, key: str, kind: ApprovalKind, name: str, asked: Any, *before: Payload) -> str:
        """Ask without waiting and return the approval's id. The events `before`, the question and its row are one
        append."""
        approval_id = self._execution.new_approval_id()
        approval = Approval(
            id=approval_id,
            run_id=self._execution.run.id,
            call_id=key,
            kind=kind,
            tool=name,
            input=asked,
            created_at=self._execution.now_ms(),
        )
        self._execution.ask(approval, *before, ApprovalRequested(approval_id, key, kind, name, asked))
        self._asked[key, kind] = approval_id
        return approval_id

    def is_asked(self, key: str, kind: ApprovalKind) -> bool:
        return (key, kind) in self._asked or self._replay.question(key, kind) is not None

    async def decision(
        self, key: str, kind: ApprovalKind, name: str, asked: Any, *before: Payload, after: int = 0
    ) -> QuestionState:
        """Return the decision. Ask if the question is new, and block while it is pending."""
        found = self._replay.question(key, kind, after)
        if found is None:
            await self._parking.wait_for(self._asked.get((key, kind)) or self.ask(key, kind, name, asked, *before))
        approval_id, question = found
        if not same(question.input, asked):
            raise Nondeterministic
        if question.decided_seq is None:
            await self._parking.wait_for(approval_id)
        return question

    async def repeat(self, key: str, name: str, asked: Any, known: StepState | CallState) -> bool:
        """Return whether to repeat a `once` call that may have happened."""
        if self._on_unknown == "ask":
            answer = await self.decision(key, UNKNOWN, name, asked, after=known.started_seq or 0)
            agreed = answer.state == "approved"
        else:
            agreed = False
        self._replay.use(key)
        return agreed
