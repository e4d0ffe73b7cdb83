"""What a resumed execution already has: recorded results by key, and text that must not be shown twice.

A python agent is called again from the top. Every step, tool call and question gets the key `name#occurrence`, counted
over all of them, so that a key is unique in a run. What the log has under that key is used instead of doing it again; a
record that does not fit is Nondeterministic.

Text is compared with what the log kept: what is there already is not emitted again. Where an agent writes other text
than the first time, it stays silent until it has used the last recorded result, and is live from then on.
"""

from collections import Counter
from typing import Any

from runyard.agents.json_values import same
from runyard.domain.approval import ApprovalKind
from runyard.domain.fold import CallState, QuestionState, State, StepState
from runyard.errors import Nondeterministic


class Echo:
    """Text that the log kept, and how much of it has been written again."""

    def __init__(self, kept: str) -> None:
        self._kept = kept
        self._at = 0
        self._astray = False

    def fresh(self, text: str, live: bool) -> str:
        """The part of `text` that is not in the log yet."""
        if not self._astray:
            known = self._kept[self._at : self._at + len(text)]
            if text.startswith(known):
                self._at += len(known)
                return text[len(known) :]
            self._astray = True
        return text if live else ""

    def skip(self, start: int, end: int) -> str:
        """Pass over what was written inside a call that is not made again; the text passed over."""
        if self._astray or self._at != start:
            return ""
        self._at = end
        return self._kept[start:end]


class Replay:
    def __init__(self, state: State) -> None:
        self._steps = {step.key: step for step in state.steps}
        self._calls = {call.call_id: call for call in state.calls}
        self._questions = state.approvals
        self._used: Counter[str] = Counter()
        self._ahead = {step.key for step in state.steps if step.finished}
        self._ahead |= {call.call_id for call in state.calls if call.status == "finished"}
        self._ahead |= {key for key, question in state.approvals.items() if question.decided_seq is not None}
        self.text = Echo(state.text[: state.kept_text])
        self.thinking = Echo(state.thinking[: state.kept_thinking])

    @property
    def live(self) -> bool:
        """Whether every recorded result has been used: from here on, nothing has happened before."""
        return not self._ahead

    def key(self, name: str) -> str:
        self._used[name] += 1
        return f"{name}#{self._used[name]}"

    def step(self, key: str, digest: str) -> StepState | None:
        step = self._steps.get(key)
        if key in self._calls or (step is not None and step.hash != digest):
            raise Nondeterministic
        return step

    def call(self, key: str, given: Any) -> CallState | None:
        call = self._calls.get(key)
        if key in self._steps or (call is not None and not same(call.asked, given)):
            raise Nondeterministic
        return call

    def question(self, key: str, kind: ApprovalKind, after: int = 0) -> tuple[str, QuestionState] | None:
        """The newest approval of this kind for `key` that was requested after seq `after`."""
        for approval_id, question in reversed(self._questions.items()):
            if question.call_id == key and question.kind == kind and question.requested_seq > after:
                return approval_id, question
        return None

    def use(self, key: str) -> None:
        """The result under `key`, and the decisions that led to it, have been used."""
        if not self._ahead:
            return
        self._ahead.discard(key)
        decided = [approval_id for approval_id in self._ahead if approval_id in self._questions]
        self._ahead -= {approval_id for approval_id in decided if self._questions[approval_id].call_id == key}
