"""A run goes from queued to exactly one end, and every transition keeps to the one table of moves."""

import pytest

from runyard.domain.runs.append import Finish
from runyard.domain.runs.lane import claimed, finished, parked, requeued
from runyard.domain.runs.run import MOVES, TERMINAL_STATUSES, Run, Status

ENDS = {
    status: Finish(status=status, stop_reason="end_turn" if status is Status.DONE else "error")
    for status in TERMINAL_STATUSES
}


def a_run(status: Status) -> Run:
    return Run(id="r", owner="o", face="native", lane_key="l", pos=1, agent="a", status=status, created_at=0)


def transition(run: Run, after: Status) -> Run:
    match after:
        case Status.RUNNING:
            return claimed(run, "w", None, 1)
        case Status.WAITING:
            return parked(run)
        case Status.QUEUED:
            return requeued(run, "crash")
        case _:
            return finished(run, ENDS[after], 1)


@pytest.mark.req("S0.8")
def test_nothing_follows_an_end() -> None:
    for status in TERMINAL_STATUSES:
        assert status.is_terminal
        assert MOVES[status] == frozenset()


@pytest.mark.req("S0.8")
@pytest.mark.parametrize("before", Status)
@pytest.mark.parametrize("after", Status)
def test_a_transition_that_is_not_in_the_table_is_refused(before: Status, after: Status) -> None:
    if after in MOVES[before]:
        assert transition(a_run(before), after).status is after
    else:
        with pytest.raises(AssertionError, match="cannot go from"):
            transition(a_run(before), after)
