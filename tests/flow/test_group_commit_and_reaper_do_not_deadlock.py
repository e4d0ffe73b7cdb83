"""Many runs that end in groups, leases so short that they run out all the time, reapers everywhere: the database sees
not one deadlock, and every run ends."""

from __future__ import annotations

import asyncio

from tests.support.flow import Flow, eventually


async def test_under_many_runs_and_tiny_leases(flow: Flow) -> None:
    api = await flow.start("api")
    tiny = {"lease_seconds": 0.15, "reap_seconds": 0.02, "poll_seconds": 0.02, "max_attempts": 1000}
    threads = [await flow.thread() for _ in range(20)]
    async with flow.kept_alive("worker", 3, **tiny) as workers:
        runs = await asyncio.gather(
            *[flow.post(["tokens", 6, 3], ["step", "s"], ["tokens", 6, 3], thread=t) for _ in range(6) for t in threads]
        )
        for k in range(4):  # each time the leases of a whole pod run out in the middle of its groups
            frozen = workers[k % 3]
            frozen.freeze()
            await eventually("its runs are taken", lambda: any(pod.said("run.reaped") > k for pod in flow.pods[1:]))
            frozen.thaw()
        for run_id in runs:
            await flow.reached(run_id, "done")
    [row] = await flow.database.rows("select deadlocks from pg_stat_database where datname = current_database()")
    assert row["deadlocks"] == 0
    assert api.alive
