"""Runs: look them up, cancel them, cancel those whose client disconnected, and keep the feedback on them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from runyard.domain.events import Draft
from runyard.domain.run import Fate, Feedback, Run

Ending = Callable[[Run, Fate], Sequence[Draft]]
RunColumn = Literal["status", "agent", "thread_id", "error_code"]
RunFilter = Mapping[RunColumn, str]


class RunStore(Protocol):
    async def get_run(self, owner: str, run_id: str) -> Run:
        """Return a run; NotFound if the owner has no run with this id."""

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        """Return the run that a client named `external_id`; NotFound if there is none."""

    async def get_runs(self, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
        """Return those of these runs that the owner has, by id."""

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        """Return runs that match `where` with an id below `before`, newest first."""

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
