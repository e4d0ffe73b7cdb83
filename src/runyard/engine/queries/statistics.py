"""Runs over time: how many, how they ended, how long they took and what they cost, by day and by agent.

The store counts runs in groups of similar durations, so a long history is never read run by run. Percentiles are those
of the groups: at most a tenth away from the exact value.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from runyard.base.clock import Clock
from runyard.base.ids import first_id_at
from runyard.domain.events import Usage, clean
from runyard.domain.runs.ledger import RunGroup
from runyard.domain.runs.run import Status
from runyard.store import Store

DAY_MS = 86_400_000
GROWTH = 1.2
DURATIONS = tuple(sorted({round(GROWTH**power) for power in range(120)}))  # up to a month


class Figures(Struct, frozen=True):
    """The runs of a day or of an agent. Durations are milliseconds; None if no run has ended or started."""

    name: str
    runs: int
    errors: Mapping[str, int]
    canceled: int
    took_p50: int | None
    took_p95: int | None
    waited_p95: int | None
    usage: Usage


class Statistics:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def report(
        self, owner: str | None, days: int, agent: str | None = None
    ) -> tuple[Sequence[Figures], Sequence[Figures]]:
        """Return the figures of the last days, also of those without runs, and of the agents, most runs first. None
        counts all owners."""
        today = self._clock.now_ms() // DAY_MS
        first = today - days + 1
        since = first_id_at(first * DAY_MS)
        groups = await self._store.run_groups(owner, since, None if agent is None else clean(agent), DURATIONS)
        by_day = [
            _figures(str(day), (group for group in groups if group.day == day)) for day in range(first, today + 1)
        ]
        names = sorted({group.agent for group in groups})
        by_agent = [_figures(name, (group for group in groups if group.agent == name)) for name in names]
        return by_day, sorted(by_agent, key=lambda figures: -figures.runs)


def _figures(name: str, groups: Iterable[RunGroup]) -> Figures:
    found = list(groups)
    errors: Counter[str] = Counter()
    took: Counter[int] = Counter()
    waited: Counter[int] = Counter()
    usage = Usage()
    for group in found:
        usage += group.usage
        if group.status is Status.ERROR:
            errors[group.error_code or "unknown"] += group.runs
        if group.took is not None:
            took[group.took] += group.runs
        if group.waited is not None:
            waited[group.waited] += group.runs
    return Figures(
        name,
        sum(group.runs for group in found),
        dict(sorted(errors.items())),
        sum(group.runs for group in found if group.status is Status.CANCELED),
        percentile(took, 0.5),
        percentile(took, 0.95),
        percentile(waited, 0.95),
        usage,
    )


def percentile(counts: Mapping[int, int], share: float) -> int | None:
    """Return the duration that this share of the runs does not exceed, from counts by place in `DURATIONS`."""
    left = share * sum(counts.values())
    for place in sorted(counts):
        left -= counts[place]
        if left <= 0:
            lower = DURATIONS[place - 1] if place else 0
            upper = DURATIONS[place] if place < len(DURATIONS) else lower
            return (lower + upper) // 2
    return None
