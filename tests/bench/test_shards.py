"""The simulation of many shards loses and invents no run, and behaves like queues."""

from __future__ import annotations

import pytest

from bench.scaling.shards import SLOTS, Costs, Outcome, Plan, Simulation, row, table

COSTS = Costs(claim=2.0, run=0.5, commit=3.0, event=0.05)


def simulated(
    loops: int, runs_s: float, costs: Costs = COSTS, seconds: float = 4.0, until: float | None = None
) -> Outcome:
    return Simulation(Plan("x", loops, servers=2), costs, runs_s, seconds, until).run()


@pytest.mark.parametrize(("loops", "runs_s"), [(2, 20), (100, 100), (10, 400)])
def test_every_run_that_arrives_is_done_queued_or_running(loops: int, runs_s: float) -> None:
    found = simulated(loops, runs_s)
    assert found.arrived == found.claimed + found.queued == pytest.approx(4 * runs_s, rel=0.4)
    assert found.offered == found.committed + found.buffered
    assert len(found.claim_ms) == found.claimed
    assert len(found.commit_ms) == found.committed
    assert found.busy <= found.seconds * 2 * SLOTS
    assert found.area == pytest.approx(sum(found.commit_ms) / 1000 + found.residual), "Little's law"


def test_when_nothing_more_arrives_everything_is_committed() -> None:
    found = simulated(20, 50, until=2.0)
    assert found.arrived == found.claimed
    assert found.committed == found.offered == found.arrived * 20
    assert found.area == pytest.approx(sum(found.commit_ms) / 1000)
    assert simulated(20, 50, until=2.0) == found, "the same seed gives the same"


def test_no_answer_is_quicker_than_its_statement_and_load_makes_groups() -> None:
    few, many = simulated(2, 5), simulated(2, 300)
    assert min(few.commit_ms) >= COSTS.commit + COSTS.event - 1e-6
    assert min(few.claim_ms) >= COSTS.claim + COSTS.run - 1e-6
    assert many.committed / many.statements > 3 * few.committed / few.statements


def test_loops_without_work_cost_their_polls() -> None:
    one, thousand = simulated(2, 1), simulated(1000, 1)
    assert one.empty_claims / one.seconds == pytest.approx(2, rel=0.5)
    assert thousand.empty_claims / thousand.seconds == pytest.approx(1000, rel=0.05)


def test_a_server_that_is_too_slow_falls_behind() -> None:
    found = simulated(100, 200, Costs(claim=2, run=0.5, commit=300, event=1))
    assert found.busy == pytest.approx(found.seconds * 2 * SLOTS, rel=0.2)
    assert found.buffered > found.committed / 4


def test_the_table_has_a_row_for_each_plan_and_load() -> None:
    rows = table(COSTS, loads=(5,), seconds=1.0)
    assert [each.count("|") for each in rows] == [10, 10]
    assert row(Plan("x", 4, servers=2), 1, simulated(4, 5)).startswith("| x | 1 |")
