"""A lane of the memory store: what runs queue in. While one of them has it, no other is claimed from it."""

from bisect import insort
from dataclasses import dataclass, field

from runyard.domain.run import Run


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
        """A new run takes the last place. A lane that was idle has waited since now, whatever held it up before."""
        if self.active_run is None and not self.queue:
            self.ready_at = now
        pos = self.reserve()
        self.queue.append((pos, run_id))
        return pos

    def reserve(self) -> int:
        """A place for a run that is held: it is not in the queue until it is released."""
        pos, self.next_pos = self.next_pos, self.next_pos + 1
        return pos

    def release(self, run: Run, now: int) -> None:
        """A run that was held takes its place."""
        if not self.queue and self.active_run is None:
            self.ready_at = now
        insort(self.queue, (run.pos, run.id))

    def take(self) -> None:
        """The first run gets the lane."""
        self.active_run = self.queue.pop(0)[1]

    def free(self, run: Run, now: int) -> None:
        """A run lets go of the lane, if it has it."""
        if self.active_run == run.id:
            self.active_run, self.ready_at = None, now

    def rejoin(self, run: Run, ready_at: int) -> None:
        """A run goes back to its old place."""
        self.free(run, ready_at)
        insort(self.queue, (run.pos, run.id))
        self.ready_at = ready_at

    def leave(self, run: Run) -> None:
        """A run gives up its place in the queue."""
        self.queue.remove((run.pos, run.id))
