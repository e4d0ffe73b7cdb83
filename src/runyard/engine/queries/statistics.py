"""Runs over time: how many, how they ended, how long they took and what they cost, by day and by agent.

The store counts runs in groups of similar durations, so a long history is never read run by run. Percentiles are those
of the groups: at most a tenth away from the exact value.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from runyard.base.clock import Clock
from runyard.base.ids import first_id_at
from runyard.domain.events import Usage, clean
from runyard.domain.runs.ledger import FirstTokens, QueueState, RunGroup
from runyard.domain.runs.run import Status
from runyard.store import LedgerStore

DAY_MS = 86_400_000
MOST_COUNTED = 100_000
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
    first_token_p50: int | None
    first_token_p95: int | None
    usage: Usage


class Report(Struct, frozen=True):
    """The figures of days and of agents, and the queue as it is now."""

    days: Sequence[Figures]
    agents: Sequence[Figures]
    queue: QueueState


class Statistics:
    def __init__(self, store: LedgerStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def report(self, owner: str | None, days: int, agent: str | None = None) -> Report:
        """Return the figures of the last days, also of those without runs, and of the agents, most runs first. None
        counts all owners."""
        today = self._clock.now_ms() // DAY_MS
        oldest = today - days + 1
        since = first_id_at(oldest * DAY_MS)
        wanted = None if agent is None else clean(agent)
        groups = await self._store.run_groups(owner, since, wanted, DURATIONS)
        first = await self._store.first_tokens(owner, since, wanted, DURATIONS)
        by_day = [
            _figures(
                str(day), [each for each in groups if each.day == day], [each for each in first if each.day == day]
            )
            for day in range(oldest, today + 1)
        ]
        by_agent = [
            _figures(
                name, [each for each in groups if each.agent == name], [each for each in first if each.agent == name]
            )
            for name in sorted({group.agent for group in groups})
        ]
        queue = await self._store.queue_state(owner, wanted, MOST_COUNTED)
        return Report(by_day, sorted(by_agent, key=lambda figures: -figures.runs), queue)


def _figures(name: str, found: Sequence[RunGroup], first: Sequence[FirstTokens]) -> Figures:
    errors: Counter[str] = Counter()
    took: Counter[int] = Counter()
    waited: Counter[int] = Counter()
    first_tokens: Counter[int] = Counter()
    for each in first:
        first_tokens[each.place] += each.runs
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
        percentile(first_tokens, 0.5),
        percentile(first_tokens, 0.95),
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
