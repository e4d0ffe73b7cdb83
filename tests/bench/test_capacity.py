"""The ramp finds the largest number of conversations that held."""

from __future__ import annotations

import pytest

from bench.report.results import Row
from bench.scaling.capacity import knee


@pytest.mark.parametrize("limit", [16, 40, 47, 100, 333, 1_999])
def test_the_ramp_ends_near_the_true_limit(limit: int) -> None:
    asked = []

    def measure(clients: int) -> Row:
        asked.append(clients)
        return Row(case="capacity", server="x", clients=clients, delay_ms_p99=10.0 if clients <= limit else 90.0)

    found = knee(measure, 120, 2_000)
    assert found is not None
    assert limit * 0.8 <= found.clients <= limit
    assert len(asked) <= 13


def test_a_server_that_never_holds_has_no_capacity_and_a_good_one_stops_at_the_end() -> None:
    assert knee(lambda n: Row(case="capacity", server="x", clients=n, delay_ms_p99=51.0), 40, 2_000) is None
    assert knee(lambda n: Row(case="capacity", server="x", clients=n), 40, 2_000) is None
    best = knee(lambda n: Row(case="capacity", server="x", clients=n, delay_ms_p99=1.0), 40, 2_000)
    assert best is not None
    assert best.clients == 2_000
