"""Waits of a run: requested once, answered in a later execution.

An unanswered wait blocks (`parking.py`) until the run is parked. After the answer the run reaches the same place by
replay and finds the answer in the log. Python agents and models wait in the same way.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from runyard.agents.declared.agent import OnUnknown
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.replay import Replay
from runyard.agents.execution import Execution
from runyard.agents.json_values import same
from runyard.base.ids import new_id
from runyard.domain.events import ApprovalRequested, Payload, WaitRequested
from runyard.domain.state.run_state import CallState, StepState, WaitState
from runyard.domain.wait import ApprovalKind, ValueKind, Wait, WaitKind, child_target
from runyard.errors import Nondeterministic

UNKNOWN: Final = "unknown_outcome"


class WaitRequest(Struct, frozen=True, kw_only=True):
    """A wait that a run requests, with the fields of `wait.requested`. `target`: the event that answers it."""

    kind: ValueKind
    name: str
    prompt: str | None = None
    input: Any = None
    schema: dict[str, Any] | None = None
    default: Any = UNSET
    expires_at: int | None = None
    target: str | None = None


class Waits:
    """The waits of one execution."""

    def __init__(self, execution: Execution, replay: Replay, parking: Parking, on_unknown: OnUnknown) -> None:
        self._execution = execution
        self._replay = replay
        self._parking = parking
        self._on_unknown = on_unknown
        self._wait_ids: dict[tuple[str, WaitKind], str] = {}
        self.children = sum(wait.kind == "child" for wait in execution.state.waits.values())

    # --- approvals

    def ask(self, key: str, kind: ApprovalKind, name: str, asked: Any, *before: Payload) -> str:
        """Request an approval without waiting and return its id. The events `before`, the request and its row are one
        append."""
        wait = self._new(key, kind, name, asked)
        event_kind = "question" if kind == "confirmation" else kind
        self._execution.wait(wait, *before, ApprovalRequested(wait.id, key, event_kind, name, asked))
        return wait.id

    def is_asked(self, key: str, kind: WaitKind) -> bool:
        return (key, kind) in self._wait_ids or self._replay.wait(key, kind) is not None

    def pending_id(self, key: str, kind: WaitKind) -> str | None:
        """Return the id of the requested wait under this key, if it has no answer."""
        found = self._replay.wait(key, kind)
        if found is None:
            return self._wait_ids.get((key, kind))
        return found[0] if found[1].answered_seq is None else None

    async def decision(
        self, key: str, kind: ApprovalKind, name: str, asked: Any, *before: Payload, after: int = 0
    ) -> WaitState:
        """Return the decision. Request the approval if it is new, and block while it is pending."""
        found = self._replay.wait(key, kind, after)
        if found is None:
            await self._parking.wait_for(self._wait_ids.get((key, kind)) or self.ask(key, kind, name, asked, *before))
        wait_id, wait = found
        if not same(wait.input, asked):
            raise Nondeterministic
        if wait.answered_seq is None:
            await self._parking.wait_for(wait_id)
        return wait

    async def repeat(self, key: str, name: str, asked: Any, known: StepState | CallState) -> bool:
        """Return whether to repeat a `once` call that may have happened."""
        if self._on_unknown == "ask":
            answer = await self.decision(key, UNKNOWN, name, asked, after=known.started_seq or 0)
            agreed = answer.state == "approved"
        else:
            agreed = False
        self._replay.use(key)
        return agreed

    # --- values

    def request(self, key: str, wanted: WaitRequest, *before: Payload, after: Sequence[Payload] = ()) -> WaitState:
        """Request a value without waiting and return the wait. The events `before` and `after`, the request and its row
        are one append."""
        child = new_id() if wanted.kind == "child" else None
        self.children += child is not None
        described = {"prompt": wanted.prompt, "input": wanted.input, "schema": wanted.schema}
        stored = {name: value for name, value in described.items() if value is not None}
        if wanted.default is not UNSET:
            stored["default"] = wanted.default
        target = wanted.target if child is None else child_target(child)
        wait = self._new(key, wanted.kind, wanted.name, stored, wanted.expires_at, target)
        event = WaitRequested(
            wait.id,
            key,
            wanted.kind,
            wanted.name,
            wanted.prompt,
            wanted.input,
            wanted.schema,
            wanted.default,
            child,
            wanted.expires_at,
        )
        self._execution.wait(wait, *before, event, *after)
        return WaitState(
            call_id=key,
            kind=wanted.kind,
            name=wanted.name,
            input=wanted.input,
            child=child,
            expires_at=wanted.expires_at,
        )

    def known(self, key: str, wanted: WaitRequest) -> WaitState | None:
        """Return the wait under this key, from the log. Raises Nondeterministic if it waits for something else."""
        found = self._replay.wait(key, wanted.kind)
        if found is None:
            return None
        wait = found[1]
        if wait.name != wanted.name or wait.prompt != wanted.prompt or not same(wait.input, wanted.input):
            raise Nondeterministic
        return wait

    async def value(self, key: str, wanted: WaitRequest) -> WaitState:
        """Return the answered wait. Request it if it is new, and block while it is pending."""
        if self.known(key, wanted) is None and not self.is_asked(key, wanted.kind):
            self.request(key, wanted)
        return await self.block(key, wanted.kind)

    async def block(self, key: str, kind: ValueKind) -> WaitState:
        """Return the answer to a requested wait. Block while it is pending."""
        found = self._replay.wait(key, kind)
        if found is None:
            await self._parking.wait_for(self._wait_ids[key, kind])
        wait_id, wait = found
        if wait.answered_seq is None:
            await self._parking.wait_for(wait_id)
        self._replay.use(key)
        return wait

    def _new(
        self,
        key: str,
        kind: WaitKind,
        name: str,
        asked: Any,
        expires_at: int | None = None,
        target: str | None = None,
    ) -> Wait:
        wait = Wait(
            id=self._execution.new_wait_id(kind),
            run_id=self._execution.run.id,
            call_id=key,
            kind=kind,
            name=name,
            input=asked,
            created_at=self._execution.now_ms(),
            expires_at=expires_at,
            target=target,
        )
        self._wait_ids[key, kind] = wait.id
        return wait
