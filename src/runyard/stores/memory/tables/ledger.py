"""The ledger: the steps and messages of each run. A step that is written again keeps its start time."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from runyard.domain.events import Usage
from runyard.domain.runs.ledger import Day, Ledger, LedgerMessage, Step

DAY_MS = 86_400_000


class Ledgers:
    def __init__(self) -> None:
        self._steps: dict[str, dict[int, Step]] = defaultdict(dict)
        self._lines: dict[str, list[LedgerMessage]] = defaultdict(list)

    def add(self, ledger: Ledger) -> None:
        for step in ledger.steps:
            known = self._steps[step.run_id].get(step.number, step)
            self._steps[step.run_id][step.number] = replace(
                step, model=step.model or known.model, created_at=known.created_at
            )
        for message in ledger.messages:
            self._lines[message.run_id].append(message)

    def close(self, run_id: str, now: int, failed: bool) -> None:
        """Mark the unfinished steps of an ended run as failed, and its last step if the run failed."""
        steps = self._steps.get(run_id, {})
        for step in list(steps.values()):
            if step.status == "running" or (failed and step.number == max(steps)):
                steps[step.number] = replace(step, status="failed", completed_at=step.completed_at or now)

    def drop(self, run_id: str) -> None:
        self._steps.pop(run_id, None)
        self._lines.pop(run_id, None)

    def of(self, run_id: str) -> Ledger:
        steps = self._steps.get(run_id, {})
        return Ledger([steps[number] for number in sorted(steps)], list(self._lines.get(run_id, ())))

    def by_day(self, run_ids: Collection[str]) -> Sequence[Day]:
        days: dict[int, list[Step]] = defaultdict(list)
        for run_id in run_ids:
            for step in self._steps.get(run_id, {}).values():
                days[step.created_at // DAY_MS].append(step)
        return [_day(number, days[number]) for number in sorted(days, reverse=True)]


def _day(number: int, steps: Sequence[Step]) -> Day:
    usage = sum((step.usage for step in steps), Usage())
    return Day(day=number, runs=len({step.run_id for step in steps}), steps=len(steps), usage=usage)
