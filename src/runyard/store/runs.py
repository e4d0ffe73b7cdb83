"""Runs, their waits and their ledgers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from runyard.base.ids import IdKind
from runyard.domain.events import Draft
from runyard.domain.runs.ledger import Day, FirstTokens, Ledger, QueueState, RunGroup
from runyard.domain.runs.run import Fate, Feedback, Run
from runyard.domain.wait import KeptEvent, Wait, WaitStatus

Ending = Callable[[Run, Fate], Sequence[Draft]]
RunColumn = Literal["status", "agent", "thread_id", "error_code"]
RunFilter = Mapping[RunColumn, str]


class RunStore(Protocol):
    """Runs: look them up, cancel them, and cancel those whose client disconnected."""

    async def get_run(self, owner: str, run_id: str) -> Run:
        """Return a run; NotFound if the owner has no run with this id."""

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        """Return the run that a client named `external_id`; NotFound if there is none."""

    async def get_runs(self, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
        """Return those of these runs that the owner has, by id."""

    async def ancestors(self, run_id: str, limit: int) -> Sequence[Run]:
        """Return the last `limit` runs before this one on its own branch, newest first."""

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        """Return runs that match `where` with an id below `before`, newest first."""

    async def open_runs(self, owner: str, thread_id: str) -> Sequence[Run]:
        """Return the runs of a thread that have not ended, oldest first, as they were at one time."""

    async def list_ended_runs(
        self, owner: str, where: RunFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Run]:
        """Return ended runs that match `where` (status, agent, thread), last ended first: those with `finished_at` and
        id below `before`."""

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        """Request that a run stops, and return the run after the request.

        A queued or waiting run ends at once, with the events that `ending` makes. A running run gets a cancel request
        with a deadline. A run that has ended stays unchanged. All concurrent callers see the same end."""

    async def detach(self, run_id: str, grace_ms: int) -> None:
        """Record that the run's client disconnected: the run is canceled unless a client reconnects within that time.
        A run that waits for a person, has ended or is being canceled stays unchanged. Parking clears the deadline."""

    async def attach(self, run_ids: Sequence[str]) -> None:
        """Clear the disconnect deadline of runs that have a follower."""

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        """Cancel, like `cancel`, the runs whose disconnect deadline has passed, and return them."""

    async def put_feedback(self, feedback: Feedback) -> Feedback:
        """Store the feedback on a run with the present time, and return it. It replaces an earlier one. NotFound if
        there is no such run. It is deleted with the run."""

    async def drop_feedback(self, run_id: str) -> None:
        """Delete the feedback on a run, if there is one."""

    async def read_feedback(self, run_ids: Sequence[str]) -> Mapping[str, Feedback]:
        """Return the feedback on those of these runs that have one, by run id."""

    async def find_ids(self, owner: str, kind: IdKind, part: str, limit: int) -> Sequence[str]:
        """Return the ids of the owner's runs, chats or waits that start or end with this part, newest first. The prefix
        of a wait's id may be left out."""


class WaitStore(Protocol):
    """Waits: answers that runs wait for, and events that machines deliver."""

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


class LedgerStore(Protocol):
    """The ledger: steps, messages and cost of runs in an agent's mailbox."""

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

    async def usage_by_day(self, owner: str, agent: str, limit: int) -> Sequence[Day]:
        """Return the cost of this owner's runs in an agent's mailbox per day of their steps, latest first."""

    async def first_tokens(
        self, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
    ) -> Sequence[FirstTokens]:
        """Return the runs that had a first token, in groups by day, agent and the time to it. The parameters are those
        of `run_groups`."""

    async def queue_state(self, owner: str | None, agent: str | None, limit: int) -> QueueState:
        """Return how many runs have not started, at most `limit`, and how long the oldest of them has waited; of an
        owner or of all owners, and of one agent or of all."""
