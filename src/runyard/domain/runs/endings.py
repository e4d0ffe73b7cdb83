"""The events that end a log."""

from collections.abc import Sequence
from typing import Literal

from runyard.base.clock import Clock
from runyard.domain.events import Draft, Drafter, RunCanceled, RunError, RunFinished, RunOutput
from runyard.domain.runs.append import END_OF, Finish
from runyard.domain.runs.run import Fate, Run

FORKED = "forked"  # the reason why the copy that a fork makes is canceled


def end_events(draft: Drafter, result: RunOutput | RunError | RunCanceled | None, finish: Finish) -> list[Draft]:
    """Return the result and `run.finished`; only the latter, if the agent's kind has no output."""
    status: Literal["done", "error", "canceled"] = finish.status.value  # type: ignore[assignment]
    first = [] if result is None else [draft(result)]
    return [*first, draft(RunFinished(status, finish.stop_reason, finish.usage))]


class EndWithoutWorker:
    """Makes the last events of runs that end without a worker: canceled for `reason`, or failed. An `Ending` for the
    store."""

    def __init__(self, clock: Clock, reason: str) -> None:
        self._draft = Drafter(clock, "api")
        self._reason = reason

    def __call__(self, run: Run, fate: Fate) -> Sequence[Draft]:
        finish = END_OF[fate]
        if fate == "cancel":
            return end_events(self._draft, RunCanceled(self._reason), finish)
        return end_events(self._draft, RunError(finish.error_code or "", finish.error or ""), finish)
