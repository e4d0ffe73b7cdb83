"""A lane of the memory store: a queue of runs with at most one active run."""

from bisect import insort
from dataclasses import dataclass, field

from runyard.domain.runs.run import Run


@dataclass
class Lane:
    next_pos: int = 1
    queue: list[tuple[int, str]] = field(default_factory=list)
    active_run: str | None = None
    ready_at: int = 0

    @property
    def has_work(self) -> bool:
        return self.active_run is None and bool(self.queue)

    def is_ready(self, now: int) -> bool:
        return self.has_work and self.ready_at <= now

    @property
    def first(self) -> str:
        return self.queue[0][1]

    def join(self, run_id: str, now: int) -> int:
        """Add a run in the last position and return that. An idle lane is ready since now, also after a back-off."""
        if self.active_run is None and not self.queue:
            self.ready_at = now
        pos = self.reserve()
        self.queue.append((pos, run_id))
        return pos

    def reserve(self) -> int:
        """Reserve a position for a held run. The run joins the queue when it is released."""
        pos, self.next_pos = self.next_pos, self.next_pos + 1
        return pos

    def release(self, run: Run, now: int) -> None:
        """Add a held run to the queue, in its reserved position."""
        if not self.queue and self.active_run is None:
            self.ready_at = now
        insort(self.queue, (run.pos, run.id))

    def take(self) -> None:
        """Make the first run of the queue the active run."""
        self.active_run = self.queue.pop(0)[1]

    def free(self, run: Run, now: int) -> None:
        """Remove the run, if it is the active run."""
        if self.active_run == run.id:
            self.active_run, self.ready_at = None, now

    def rejoin(self, run: Run, ready_at: int) -> None:
        """Return a run to its old position in the queue."""
        self.free(run, ready_at)
        insort(self.queue, (run.pos, run.id))
        self.ready_at = ready_at

    def leave(self, run: Run) -> None:
        """Remove a run from the queue."""
        self.queue.remove((run.pos, run.id))
