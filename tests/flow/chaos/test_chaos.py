"""A short chaos run on each database, with every kind of fault. `make chaos` runs longer ones, with other seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.chaos.chaos import run
from tests.flow.chaos.schedule import KINDS, DatabaseKind, schedule

SECONDS: dict[DatabaseKind, float] = {"postgres": 70, "sqlite": 50}
SEED = 4


@pytest.mark.timeout(900)
@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres), "sqlite"])
async def test_faults_under_load_break_no_promise(database: DatabaseKind, tmp_path: Path) -> None:
    report = await run(database, SECONDS[database], SEED, tmp_path)
    print(report.text())
    assert report.violations == []
    assert report.runs > 0
    drawn = {fault.kind for fault in schedule(database, SECONDS[database], SEED)}
    assert drawn == {*report.faults, *report.missed, *report.skipped}


@pytest.mark.parametrize("database", list(KINDS))
def test_equal_seeds_draw_equal_faults_and_every_kind_within_half_a_minute(database: DatabaseKind) -> None:
    faults = schedule(database, 35, SEED)
    assert faults == schedule(database, 35, SEED)
    assert faults != schedule(database, 35, SEED + 1)
    assert {fault.kind for fault in faults} == set(KINDS[database])
