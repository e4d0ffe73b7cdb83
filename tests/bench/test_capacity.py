"""The ramp finds the largest number of conversations that held."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.report.results import Row
from bench.scaling.capacity import Ramp


def climbed(ramp: Ramp, measure: Callable[[int], Row]) -> Row | None:
    while ramp.next is not None:
        ramp.take(measure(ramp.next))
    return ramp.held


@pytest.mark.parametrize("limit", [16, 40, 47, 100, 333, 1_999])
def test_the_ramp_ends_near_the_true_limit(limit: int) -> None:
    asked = []

    def measure(clients: int) -> Row:
        asked.append(clients)
        return Row(case="capacity", server="x", clients=clients, delay_ms_p99=10.0 if clients <= limit else 90.0)

    found = climbed(Ramp(120, 2_000), measure)
    assert found is not None
    assert limit * 0.8 <= found.clients <= limit
    assert len(asked) <= 13


def test_a_server_that_never_holds_has_no_capacity_and_a_good_one_stops_at_the_end() -> None:
    def best_of(delay: float | None) -> Row | None:
        return climbed(Ramp(40, 2_000), lambda n: Row(case="capacity", server="x", clients=n, delay_ms_p99=delay))

    assert best_of(51.0) is None
    assert best_of(None) is None
    best = best_of(1.0)
    assert best is not None
    assert best.clients == 2_000
