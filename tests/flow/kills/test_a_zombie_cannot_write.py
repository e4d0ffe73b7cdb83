"""A worker that lost its lease without noticing: while its successor is running, none of its writes is accepted, and it
stops its runs."""

from __future__ import annotations

import asyncpg
import pytest

from runyard.stores.postgres import connections as _connections
from tests.support.eventually import eventually
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod
from tests.support.scenario.reader import Reader

TEXT = "".join(f"t{n} " for n in (0, 1, 2, *range(40)))


async def frozen_until_succeeded(flow: Flow, unsafe: str = "") -> tuple[str, Reader, Pod, Pod]:
    """A zombie that has just woken up and continues writing, and the successor that has written everything and holds
    the
    run: neither depends on how fast the other is."""
    api = await flow.start("api")
    zombie = await flow.start("worker", unsafe=unsafe)
    run_id = await flow.post(["tokens", 3], ["wait", "middle"], ["tokens", 40, 30], ["wait", "end"])
    reader = flow.follow(run_id, api)
    await flow.at_gate("middle", zombie)
    await flow.freeze(zombie)
    successor = await flow.start("worker", lease_seconds=20)
    flow.notes.open_gate("middle", successor.pid)
    await flow.at_gate("end", successor)
    zombie.thaw()
    flow.notes.open_gate("middle", zombie.pid)
    return run_id, reader, zombie, successor


async def refused(flow: Flow, pod: Pod) -> None:
    await eventually(
        f"a write of {pod.name} is refused",
        lambda: any(int(words[2]) == pod.pid for words in flow.notes.read("refused")),
    )


async def stopped(flow: Flow, run_id: str, pod: Pod) -> None:
    await eventually(
        f"{pod.name} stops its agent",
        lambda: any(words[:2] == [run_id, str(pod.pid)] for words in flow.notes.read("stopped")),
    )


@pytest.mark.invariant(2)
@pytest.mark.req("S0.38")
async def test_a_frozen_worker_that_wakes_up_stops_its_runs(flow: Flow) -> None:
    run_id, reader, zombie, successor = await frozen_until_succeeded(flow)
    await stopped(flow, run_id, zombie)
    assert (await flow.run(run_id))["status"] == "running", "the successor must still be at work, or this shows nothing"
    await eventually("the zombie knows", lambda: zombie.said("worker.lease_lost"))
    flow.notes.open_gate("end", successor.pid)
    await reader.end()
    assert reader.text == TEXT
    assert reader.count("run.resumed")
    successor.terminate()
    assert await successor.end() == 0
    again = await flow.post(["tokens", 3])
    await flow.reached(again, "done")
    assert zombie.alive, "it came back under a new id and works on"
    assert zombie.said("worker.registered") > 1


@pytest.mark.invariant(2)
async def test_even_one_that_never_hears_of_it_cannot_write(flow: Flow) -> None:
    run_id, reader, zombie, successor = await frozen_until_succeeded(flow, unsafe="lease")
    await refused(flow, zombie)
    assert (await flow.run(run_id))["status"] == "running", "the successor must still be at work, or this shows nothing"
    await stopped(flow, run_id, zombie)
    flow.notes.open_gate("end", successor.pid)
    await reader.end()
    assert reader.text == TEXT


async def test_a_blocked_event_loop_does_not_keep_the_lease(flow: Flow) -> None:
    """Faults 7: the heartbeat must not come from somewhere that still runs while the agents do not."""
    api = await flow.start("api")
    blocked = await flow.start("worker")
    run_id = await flow.post(["tokens", 2], ["block", "block"], ["tokens", 3], ["wait", "end"])
    reader = flow.follow(run_id, api)
    await flow.at_gate("block", blocked)
    successor = await flow.start("worker")
    await flow.at_gate("block", successor)
    flow.notes.open_gate("block", successor.pid)
    await flow.at_gate("end", successor)
    flow.notes.open_gate("block", blocked.pid)
    await stopped(flow, run_id, blocked)
    assert (await flow.run(run_id))["status"] == "running"
    flow.notes.open_gate("end")
    await reader.end()
    assert reader.text == "t0 t1 t0 t1 t2 "


@pytest.mark.invariant(2)
async def test_a_worker_that_comes_back_with_the_same_name_is_another_one(flow: Flow) -> None:
    """Fault 8: the label is the host's; the id is the life's."""
    await flow.start("api")
    worker = await flow.start("worker")
    run_id = await flow.post(["tokens", 2], ["wait", "end"])
    await flow.at_gate("end", worker)
    first = (await flow.run(run_id))["worker_id"]
    await worker.kill()
    again = await flow.start("worker")
    await flow.at_gate("end", again)
    assert (await flow.run(run_id))["worker_id"] != first
    flow.notes.open_gate("end")
    await flow.reached(run_id, "done")


async def test_a_worker_that_is_frozen_inside_a_statement_does_not_keep_its_locks(flow: Flow) -> None:
    """Between the parts of a statement Postgres waits for its client as long as that lives, whatever its time-outs are.
    A session that looks the same holds the locks that a process frozen there would hold."""
    assert isinstance(flow.database, PostgresDatabase)
    await flow.start("api")
    worker = await flow.start("worker")
    run_id = await flow.post(["tokens", 3], ["wait", "end"])
    await flow.at_gate("end", worker)
    frozen = await asyncpg.connect(flow.database.dsn, server_settings=_connections.SETTINGS)
    await frozen.execute("begin")
    await frozen.execute("select * from workers for update")
    await frozen.prepare("select * from runs")  # and never executed
    await worker.kill()
    successor = await flow.start("worker", lease_seconds=20)
    await flow.at_gate("end", successor)
    assert successor.said("database.sessions_terminated") == 1
    assert not successor.said("bus.disconnected"), "no other session was ended"
    flow.notes.open_gate("end")
    await flow.reached(run_id, "done")
    frozen.terminate()
