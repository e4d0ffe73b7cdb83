"""`runyard.work_once`: one run under lease and fence, executed until it ends, waits or goes back into the queue. Each
call is
in a separate process, as an engine such as Celery makes it."""

from __future__ import annotations

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod


async def _queue_without_worker(flow: Flow, *program: object, agent: str = "player") -> str:
    """Post a run that no worker takes. On SQLite, where a server has a worker, the server is stopped in its midst."""
    if not flow.is_sqlite:
        if not flow.apis:
            await flow.start("api")
        return await flow.post(*program, agent=agent)
    server = await flow.start("serve")
    run_id = await flow.post(["wait", "served"], *program, agent=agent)
    await flow.at_gate("served", server)
    server.terminate()
    assert await server.end() == 0
    flow.notes.open_gate("served")
    return run_id


async def _once(flow: Flow, **variables: str) -> Pod:
    return await flow.start("once", variables=variables)


def _worked(flow: Flow) -> list[list[str]]:
    return flow.notes.read("worked")


async def test_a_call_works_one_run_to_its_end(any_flow: Flow) -> None:
    flow = any_flow
    run_id = await _queue_without_worker(flow, ["call", "pay"], ["tokens", 3])
    assert await (await _once(flow)).end() == 0
    assert _worked(flow) == [["done", run_id]]
    assert await (await _once(flow)).end() == 0
    assert _worked(flow)[1:] == [["nothing"]], "a doubled call finds nothing to do"


async def test_calls_in_one_process_take_one_run_each(flow: Flow) -> None:
    runs = {await _queue_without_worker(flow, ["tokens", 2]) for _ in range(3)}
    assert await (await _once(flow, CALLS="4")).end() == 0
    *worked, last = _worked(flow)
    assert {run_id for _, run_id in worked} == runs
    assert last == ["nothing"]
    registered = await flow.database.rows("select id from workers")
    assert registered == [], "the process left no worker behind"


async def test_a_killed_call_loses_its_run_to_the_next_one(any_flow: Flow) -> None:
    flow = any_flow
    run_id = await _queue_without_worker(flow, ["step", "look_up"], ["wait", "end"], ["tokens", 3])
    killed = await _once(flow)
    await flow.at_gate("end", killed)
    await killed.kill()
    flow.notes.open_gate("end")

    async def taken_over() -> bool:
        await (await _once(flow)).end()
        return ["done", run_id] in _worked(flow)

    await eventually("another call takes the run over", taken_over)
    types = [event["type"] for event in await flow.log(run_id)]
    assert "run.resumed" in types
    assert flow.effects("step") == [f"{run_id}:look_up"], "a finished step is not repeated"


async def test_a_run_is_handed_back_after_max_seconds(any_flow: Flow) -> None:
    flow = any_flow
    run_id = await _queue_without_worker(flow, ["step", "look_up"], ["wait", "end"], ["tokens", 3])
    first = await _once(flow, MAX_SECONDS="0.5")
    assert await first.end() == 0
    assert _worked(flow) == [["released", run_id]]
    row = await flow.run(run_id)
    assert (row["status"], row["worker_id"]) == ("queued", None)
    attempts = row["attempts"]
    flow.notes.open_gate("end")
    assert await (await _once(flow)).end() == 0
    assert _worked(flow)[1:] == [["done", run_id]]
    assert attempts == 0, "a handed back run has not failed"
    assert flow.effects("step") == [f"{run_id}:look_up"]


async def test_a_run_that_waits_gives_its_call_back(flow: Flow) -> None:
    run_id = await _queue_without_worker(flow, ["approve", "May I?"], ["tokens", 2])
    assert await (await _once(flow)).end() == 0
    assert _worked(flow) == [["waiting", run_id]]
    assert await (await _once(flow)).end() == 0
    assert _worked(flow)[1:] == [["nothing"]]
    await flow.decide(await flow.approval(run_id), "approve")
    assert await (await _once(flow)).end() == 0
    assert _worked(flow)[2:] == [["done", run_id]]


async def test_a_canceled_run_ends_in_the_call_that_has_it(flow: Flow) -> None:
    run_id = await _queue_without_worker(flow, ["wait", "never"])
    call = await _once(flow)
    await flow.at_gate("never", call)
    await flow.cancel(run_id)
    assert await call.end() == 0
    assert _worked(flow) == [["canceled", run_id]]


async def test_a_call_takes_runs_of_its_agents_only(flow: Flow) -> None:
    first = await _queue_without_worker(flow, ["tokens", 1])
    second = await _queue_without_worker(flow, ["tokens", 1], agent="second")
    assert await (await _once(flow, AGENTS="second", CALLS="2")).end() == 0
    assert _worked(flow) == [["done", second], ["nothing"]]
    assert await (await _once(flow)).end() == 0
    assert _worked(flow)[2:] == [["done", first]]


async def test_a_process_that_was_suspended_registers_again_and_claims(flow: Flow) -> None:
    """As a cloud function that is frozen for longer than its lease."""
    run_id = await _queue_without_worker(flow, ["wait", "go"])
    function = await _once(flow, CALLS="2")
    await flow.at_gate("go", function)
    await flow.freeze(function)
    await flow.lost_its_runs(function)
    other = await _queue_without_worker(flow, ["tokens", 1])
    flow.notes.open_gate("go")
    function.thaw()
    assert await function.end() == 0
    (lost, worked) = _worked(flow)
    assert lost == ["lost", run_id], "the fence refuses the old owner"
    assert worked[0] == "done", "the next call claims under a new lease"
    assert await (await _once(flow)).end() == 0
    assert {words[1] for words in _worked(flow) if words[0] == "done"} == {run_id, other}


@pytest.mark.req("S0.38")
async def test_calls_and_workers_share_one_database(flow: Flow) -> None:
    await flow.start("worker", slots=1)
    runs = [await _queue_without_worker(flow, ["tokens", 5, 2], ["call", "pay"]) for _ in range(12)]
    calls = [await _once(flow, CALLS="4") for _ in range(2)]
    for run_id in runs:
        await flow.reached(run_id, "done")
    for call in calls:
        assert await call.end() == 0
    worked = [words[1] for words in _worked(flow) if words[0] == "done"]
    assert len(worked) == len(set(worked)), "no run was worked twice"
