"""Many runs that end in groups, leases so short that they run out all the time, reapers everywhere: the database sees
not one deadlock, and every run ends."""

from __future__ import annotations

import asyncio
from functools import partial

from tests.support.flow import Flow, eventually
from tests.support.pods import Pod

BUSIEST = """
select w.label, count(*) as n from runs r join workers w on w.id = r.worker_id
 where r.status = 'running' group by w.label order by n desc limit 1
"""


async def test_under_many_runs_and_tiny_leases(flow: Flow) -> None:
    await flow.start("api")
    tiny = {"lease_seconds": 0.4, "reap_seconds": 0.02, "poll_seconds": 0.02, "max_attempts": 1000}
    threads = [await flow.thread() for _ in range(20)]
    async with flow.kept_alive("worker", 3, **tiny) as workers:

        async def busiest() -> Pod | None:
            for row in await flow.database.rows(BUSIEST):
                pid = int(row["label"].rpartition(":")[2])
                return next((worker for worker in workers if worker.pid == pid), None)
            return None

        def reaped() -> int:
            return sum(pod.said("run.reaped") for pod in flow.pods)

        for _ in range(3):  # each time the leases of a whole pod run out in the middle of its groups
            await asyncio.gather(
                *[
                    flow.post(["tokens", 6, 5], ["step", "s"], ["tokens", 6, 5], thread=t)
                    for t in threads
                    for _ in range(2)
                ]
            )
            worker: Pod = await eventually("somebody works", busiest)
            taken = reaped() + 1
            await flow.freeze(worker)
            await eventually("its runs are taken", partial(lambda wanted: reaped() >= wanted, taken))
            worker.thaw()
        await flow.settled(30)
    [row] = await flow.database.rows("select deadlocks from pg_stat_database where datname = current_database()")
    assert row["deadlocks"] == 0
    rows = await flow.database.rows("select status, count(*) as n from runs group by status")
    assert [tuple(row.values()) for row in rows] == [("done", 120)]
