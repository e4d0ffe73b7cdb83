"""The ramp finds the largest number of conversations that held."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.report.results import Row
from bench.scaling.capacity import Ramp


def a_row(clients: int, delay: float | None, start: float = 2.0) -> Row:
    return Row(case="capacity", server="x", clients=clients, delay_ms_p99=delay, first_ms_p99=start)


def climbed(ramp: Ramp, measure: Callable[[int], Row]) -> Row | None:
    while ramp.next is not None:
        ramp.take(measure(ramp.next))
    return ramp.held


@pytest.mark.parametrize("limit", [16, 40, 47, 100, 333, 1_999])
def test_the_ramp_ends_near_the_true_limit(limit: int) -> None:
    asked = []

    def measure(clients: int) -> Row:
        asked.append(clients)
        return a_row(clients, 10.0 if clients <= limit else 90.0)

    found = climbed(Ramp(120, 2_000), measure)
    assert found is not None
    assert limit * 0.8 <= found.clients <= limit
    assert len(asked) <= 13


def test_a_server_that_never_holds_has_no_capacity_and_a_good_one_stops_at_the_end() -> None:
    def best_of(delay: float | None) -> Row | None:
        return climbed(Ramp(40, 2_000), lambda n: a_row(n, delay))

    assert best_of(51.0) is None
    assert best_of(None) is None
    best = best_of(1.0)
    assert best is not None
    assert best.clients == 2_000


def test_a_server_that_lets_conversations_wait_for_others_does_not_hold_them() -> None:
    best = climbed(Ramp(40, 2_000), lambda n: a_row(n, 10.0, start=2.0 if n <= 100 else 2500.0))
    assert best is not None
    assert best.clients <= 100
