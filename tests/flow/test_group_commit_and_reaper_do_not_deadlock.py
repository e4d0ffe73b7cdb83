"""Many runs that end in groups, leases so short that they run out all the time, reapers everywhere: the database sees
not one deadlock, and every run ends."""

from __future__ import annotations

import asyncio
from functools import partial

from tests.support.flow import Flow, eventually


async def test_under_many_runs_and_tiny_leases(flow: Flow) -> None:
    await flow.start("api")
    tiny = {"lease_seconds": 0.4, "reap_seconds": 0.02, "poll_seconds": 0.02, "max_attempts": 1000}
    threads = [await flow.thread() for _ in range(20)]
    async with flow.kept_alive("worker", 3, **tiny) as workers:

        def reaped() -> int:
            return sum(pod.said("run.reaped") for pod in flow.pods)

        for turn in range(3):  # each time the leases of a whole pod run out in the middle of its groups
            held, quick = ["wait", f"turn-{turn}"], ["tokens", 6, 5]
            await asyncio.gather(
                *[flow.post(quick, ["step", "s"], held, quick, thread=thread) for thread in threads[:10]],
                *[flow.post(quick, ["step", "s"], quick, thread=thread) for thread in threads[10:] for _ in range(3)],
            )
            taken = reaped() + 1
            pid = await flow.at_gate(f"turn-{turn}")
            worker = next(worker for worker in workers if worker.pid == pid)
            await flow.freeze(worker)
            await eventually("its runs are taken", partial(lambda wanted: reaped() >= wanted, taken))
            worker.thaw()
            flow.notes.open_gate(f"turn-{turn}")
        await flow.settled(30)
    [row] = await flow.database.rows("select deadlocks from pg_stat_database where datname = current_database()")
    assert row["deadlocks"] == 0
    rows = await flow.database.rows("select status, count(*) as n from runs group by status")
    assert [tuple(row.values()) for row in rows] == [("done", 120)]
