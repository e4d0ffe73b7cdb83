"""Waits: answers that runs wait for, and events that machines deliver."""

from collections.abc import Callable, Sequence
from typing import Protocol

from runyard.domain.events import Draft
from runyard.domain.runs.run import Run
from runyard.domain.wait import KeptEvent, Wait, WaitStatus


class WaitStore(Protocol):
    async def get_wait(self, owner: str | None, wait_id: str) -> Wait:
        """Return a wait; NotFound if the owner has none with this id. None looks among all owners."""

    async def list_waits(self, owner: str, before: str | None, limit: int, run_id: str | None = None) -> Sequence[Wait]:
        """Return pending waits that a person or a client answers, of all runs or of one, newest first: those that are
        older than the wait `before`."""

    async def answer(
        self,
        owner: str | None,
        wait_id: str,
        state: WaitStatus,
        by: str,
        event: Draft,
        taken: KeptEvent | None = None,
    ) -> Wait:
        """Record an answer and its event, and put the run back into the queue if it is parked. A `taken` event answers
        no other wait.

        The first answer wins: AlreadyDecided for any later one; RunEnded if the run ended without an answer."""

    async def expire(
        self, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> tuple[Sequence[Wait], int | None]:
        """Answer pending waits past their `expires_at` with the state and event that `event` makes, first due first.
        Return them, and the milliseconds until the next wait expires (0: call again; None: no wait expires).

        Runs become ready in the order of their due times."""

    async def ended_children(self, limit: int, child: str | None = None) -> Sequence[tuple[str, Run]]:
        """Return ended runs that another run waits for, with the ids of the waits; only that `child` if given."""

    async def orphaned_children(self, limit: int, parent: str | None = None) -> Sequence[Run]:
        """Return child runs that have not ended, and have no cancel request, although their parent has ended."""

    async def keep_event(self, event: KeptEvent, keep_ms: int) -> bool:
        """Store an event for `keep_ms`. Return False for an id that this owner used already; nothing changes then."""

    async def matched_events(self, limit: int, target: str | None = None) -> Sequence[tuple[Wait, KeptEvent]]:
        """Return pending waits for which an event is kept, each with the oldest such event that no run has taken."""

    async def forget_events(self) -> None:
        """Delete events past their time."""
