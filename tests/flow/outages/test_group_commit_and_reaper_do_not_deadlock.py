"""Many runs that end in groups, leases so short that they run out all the time, reapers everywhere: the database sees
not one deadlock, and every run ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

pytestmark = pytest.mark.invariant(9)


async def frozen_with_runs(flow: Flow, workers: Sequence[Pod]) -> Pod:
    """A worker that is frozen while it has runs. With leases this short, one that had some a moment ago need not have
    them now."""
    while True:
        for worker in workers:
            await flow.freeze(worker)
            if await flow.has_runs(worker):
                return worker
            worker.thaw()


async def test_under_many_runs_and_tiny_leases(flow: Flow) -> None:
    await flow.start("api")
    tiny = {"lease_seconds": 0.4, "reap_seconds": 0.02, "poll_seconds": 0.02, "max_attempts": 1000}
    threads = [await flow.thread() for _ in range(20)]
    async with flow.kept_alive("worker", 3, **tiny) as workers:
        for turn in range(3):  # each time the leases of a whole pod run out in the middle of its groups
            held, quick = ["wait", f"turn-{turn}"], ["tokens", 6, 5]
            await asyncio.gather(
                *[flow.post(quick, ["step", "s"], held, quick, thread=thread) for thread in threads[:10]],
                *[flow.post(quick, ["step", "s"], quick, thread=thread) for thread in threads[10:] for _ in range(3)],
            )
            await flow.at_gate(f"turn-{turn}")
            worker = await frozen_with_runs(flow, workers)
            await flow.lost_its_runs(worker)
            worker.thaw()
            flow.notes.open_gate(f"turn-{turn}")
    for worker in workers:
        await worker.kill()
    await flow.start("worker", lease_seconds=20)  # a slow machine may never end a run within leases as short as theirs
    await flow.settled()
    [row] = await flow.database.rows("select deadlocks from pg_stat_database where datname = current_database()")
    assert row["deadlocks"] == 0
    rows = await flow.database.rows("select status, count(*) as n from runs group by status")
    assert [tuple(row.values()) for row in rows] == [("done", 120)]
