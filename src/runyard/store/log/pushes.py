"""Pushes: addresses that get the updates of runs, each with a cursor over the log."""

from collections.abc import Sequence
from typing import Protocol

from runyard.domain.push import Push


class PushStore(Protocol):
    async def put_push(self, push: Push, most: int, *, at_end: bool) -> Push:
        """Store a push and return it; NotFound if there is no such run. It gets the events after the present end of the
        log if `at_end`, otherwise all.

        A push with an existing id replaces its data and begins its attempts again; its position stays. TooMany if the
        run has `most` others."""

    async def list_pushes(self, run_id: str) -> Sequence[Push]:
        """Return the pushes of a run, sorted by id."""

    async def drop_push(self, run_id: str, push_id: str) -> None:
        """Delete a push, if it exists."""

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        """Claim pushes that are due and have events to deliver, first due first; only those of `run_ids` if given.
        Until the lease ends no other call returns them. Also return whether any push has not ended."""

    async def settle_push(self, push: Push, wait_ms: int | None) -> Push | None:
        """Record `seq` and `failures` of a claimed push. It is due again after `wait_ms`, or never if that is None.
        Return the push, or None and change nothing if it was deleted, replaced or claimed again meanwhile."""
