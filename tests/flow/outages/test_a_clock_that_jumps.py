"""The clock of one machine jumps by 60 days while its process runs. Deadlines follow the database's clock."""

from __future__ import annotations

import signal

from tests.support.faults.jumping_clock import JUMPS
from tests.support.scenario.flow import Flow

HOUR_SECONDS = 3600


async def test_an_approval_has_its_hour(flow: Flow) -> None:
    await flow.start("api")
    worker = await flow.start("worker", approval_seconds=HOUR_SECONDS, variables={JUMPS: "60"})
    worker.signal(signal.SIGUSR1)
    run_id = await flow.post(["approve", "Go on?"])
    approval = await flow.approval(run_id)
    [row] = await flow.database.rows("select expires_at - now_ms() as left from waits")
    assert 0 < row["left"] <= HOUR_SECONDS * 1000
    assert (await flow.decide(approval, "approve")).status_code == 200
    await flow.reached(run_id, "done")
