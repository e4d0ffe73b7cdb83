"""The ledger: steps, messages and cost of runs in an agent's mailbox."""

from collections.abc import Sequence
from typing import Protocol

from runyard.domain.ledger import Day, FirstTokens, Ledger, QueueState, RunGroup
from runyard.domain.run import Run


class LedgerStore(Protocol):
    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        """Return an owner's runs in an agent's mailbox with an id below `before`, newest first. Only runs of this agent
        are read, however many others exist."""

    async def holding_runs(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Return those of these runs that are the active run of their lane. A run that waits for a person and has
        released its lane is not included."""

    async def read_ledger(self, run_id: str) -> Ledger:
        """Return the steps and messages of a mailbox run, in order. `append` writes them with their events. A step that
        has not ended when its run ends is marked as failed."""

    async def run_groups(
        self, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
    ) -> Sequence[RunGroup]:
        """Return the runs with an id from `since` on, of an owner or of all owners, and of one agent or of all, in
        groups. Runs of one group have equal values in all fields that are not sums. `durations` are milliseconds in
        ascending order."""

    async def first_tokens(
        self, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
    ) -> Sequence[FirstTokens]:
        """Return the runs that had a first token, in groups by day, agent and the time to it. The parameters are those
        of `run_groups`."""

    async def queue_state(self, owner: str | None, agent: str | None, limit: int) -> QueueState:
        """Return how many runs have not started, at most `limit`, and how long the oldest of them has waited; of an
        owner or of all owners, and of one agent or of all."""

    async def usage_by_day(self, owner: str, agent: str, limit: int) -> Sequence[Day]:
        """Return the cost of this owner's runs in an agent's mailbox per day of their steps, latest first."""
