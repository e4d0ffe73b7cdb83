"""Search an owner's runs by time, cost and a part of the id: newest first, a bounded number of runs at once."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from runyard.base.ids import made_at
from runyard.domain.runs.run import Run

PAGE = 200
MOST_READ = 2_000  # runs that one search reads; the cursor of its result continues behind them


class RunSearch(Struct, frozen=True):
    """The conditions that a run must meet: not older than `since` (milliseconds), with a cost of at least `min_usd`,
    and with an id that starts or ends with `id_part`."""

    since: int | None = None
    min_usd: float | None = None
    id_part: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == RunSearch()

    def fits(self, run: Run) -> bool:
        if self.min_usd is not None and (0.0 if run.usage is None else run.usage.usd) < self.min_usd:
            return False
        return self.id_part is None or run.id.startswith(self.id_part) or run.id.endswith(self.id_part)


class FoundRuns(Struct, frozen=True):
    """Runs that fit. `next` is the cursor for older ones; None if there are none."""

    runs: Sequence[Run]
    next: str | None


async def search_runs(
    read: Callable[[str | None, int], Awaitable[Sequence[Run]]], wanted: RunSearch, before: str | None, limit: int
) -> FoundRuns:
    """Return the runs that fit, in the order of `read(before, limit)`: newest first."""
    found: list[Run] = []
    size = limit if wanted.is_empty else PAGE
    for _ in range(max(1, MOST_READ // size)):
        page = await read(before, size)
        for run in page:
            before = run.id
            if wanted.since is not None and made_at(run.id) < wanted.since:
                return FoundRuns(found, None)
            if wanted.fits(run):
                found.append(run)
                if len(found) == limit:
                    return FoundRuns(found, before)
        if len(page) < size:
            return FoundRuns(found, None)
    return FoundRuns(found, before)
