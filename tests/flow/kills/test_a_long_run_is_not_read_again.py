"""A long log is folded once. Later readers begin at its snapshot, also in a process that was started after a kill -9.

The test takes the middle of the log away while no process runs. A reader that folds the whole log cannot answer then.
"""

from __future__ import annotations

import pytest

from tests.support.scenario.flow import Flow

TOKENS = 12_000  # more than the events between two snapshots
MIDDLE = "seq between 100 and 200"


@pytest.mark.timeout(300)
async def test_state_and_next_message_of_a_long_run_do_not_read_its_log(any_flow: Flow) -> None:
    flow = any_flow
    pod = await flow.first()
    thread = await flow.thread()
    run_id = await flow.post(["tokens", TOKENS], thread=thread)
    reader = await flow.follow(run_id).end()
    await flow.request("GET", f"/api/runs/{run_id}/state")
    whole = (await flow.run(run_id))["last_seq"]
    await pod.kill()
    await flow.database.change(f"create table taken as select * from run_events where run_id = '{run_id}' and {MIDDLE}")
    await flow.database.change(f"delete from run_events where run_id = '{run_id}' and {MIDDLE}")

    pod = await flow.next()
    state = (await flow.request("GET", f"/api/runs/{run_id}/state")).json()
    assert state["last_seq"] == whole
    assert state["text"] == reader.text
    following = await flow.post(["tokens", 3], thread=thread)
    assert (await flow.follow(following).end()).text == "t0 t1 t2 "

    await pod.kill()
    await flow.database.change("insert into run_events select * from taken")
    await flow.database.change("drop table taken")
    await flow.next()
    await flow.check()
