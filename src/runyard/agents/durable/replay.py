"""Replay: the results and the text that a resumed execution already has.

A python agent is called again from the top. Every step, tool call and wait gets the key `name#occurrence`, which is
unique in a run. If the log has a record under that key, the record is used instead of calling again. A record that does
not match the call raises Nondeterministic.

Text is compared with the text in the log and is not emitted again. If an agent writes other text than the first time,
nothing is emitted until it has used the last recorded result; from then on it is live.
"""

from typing import Any

from runyard.agents.json_values import same
from runyard.domain.state.run_state import CallState, State, StepState, WaitState
from runyard.domain.wait import WaitKind
from runyard.errors import Nondeterministic


class ReplayedText:
    """Text in the log, and how much of it the resumed agent has written again."""

    def __init__(self, kept: str) -> None:
        self._logged_text = kept
        self._at = 0
        self._diverged = False
        self.is_used_up = not kept  # all text is fresh now, so `fresh` need not be called

    def fresh(self, text: str, live: bool) -> str:
        """Return the part of `text` that is not in the log yet."""
        if not self._diverged:
            known = self._logged_text[self._at : self._at + len(text)]
            if text.startswith(known):
                self._at += len(known)
                self.is_used_up = self._at == len(self._logged_text)
                return text[len(known) :]
            self._diverged = True
        return text if live else ""

    def skip(self, start: int, end: int) -> str:
        """Skip and return the text that was written inside a call that is not made again."""
        if self._diverged or self._at != start:
            return ""
        self._at = end
        return self._logged_text[start:end]


class Replay:
    def __init__(self, state: State) -> None:
        self._steps = {step.key: step for step in state.steps}
        self._calls = {call.call_id: call for call in state.calls}
        self._waits = state.waits
        self._used: dict[str, int] = {}
        self._ahead = {step.key for step in state.steps if step.finished}
        self._ahead |= {call.call_id for call in state.calls if call.status == "finished"}
        self._ahead |= {key for key, wait in state.waits.items() if wait.answered_seq is not None}
        self.text = ReplayedText(state.text[: state.kept_text])
        self.thinking = ReplayedText(state.thinking[: state.kept_thinking])

    @property
    def live(self) -> bool:
        """Whether every recorded result has been used, so that everything from here on is new."""
        return not self._ahead

    def key(self, name: str) -> str:
        number = self._used[name] = self._used.get(name, 0) + 1
        return f"{name}#{number}"

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

    def wait(self, key: str, kind: WaitKind, after: int = 0) -> tuple[str, WaitState] | None:
        """Return the newest wait of this kind for `key` that was requested after seq `after`."""
        for wait_id, wait in reversed(self._waits.items()):
            if wait.call_id == key and wait.kind == kind and wait.requested_seq > after:
                return wait_id, wait
        return None

    def use(self, key: str) -> None:
        """Mark the result under `key`, and the answers that led to it, as used."""
        if not self._ahead:
            return
        self._ahead.discard(key)
        answered = [wait_id for wait_id in self._ahead if wait_id in self._waits]
        self._ahead -= {wait_id for wait_id in answered if self._waits[wait_id].call_id == key}
