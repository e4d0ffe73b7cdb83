"""A worker that was frozen between the commit of `tool.started` and the call does not make the call when it wakes up:
the run is another worker's by then, or over."""

from __future__ import annotations

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

pytestmark = pytest.mark.invariant(6)

POINT = "after.tool.started"
FAULT = f"{POINT}:1:hang"


async def at_the_call(flow: Flow, **settings: object) -> tuple[str, Pod]:
    """A run whose worker has committed the start of a tool and is frozen before it calls it."""
    worker = await flow.start("worker", FAULT, **settings)  # type: ignore[arg-type]
    run_id = await flow.post(["tokens", 2], ["call", "pay"], ["tokens", 2])
    await flow.struck(POINT)
    await flow.freeze(worker)
    return run_id, worker


async def woken(flow: Flow, run_id: str, worker: Pod) -> None:
    """It is awake and has given the run up."""
    flow.notes.open_gate(POINT)
    worker.thaw()
    await eventually(
        "the worker stops its agent",
        lambda: any(words[:2] == [run_id, str(worker.pid)] for words in flow.notes.read("stopped")),
    )


@pytest.mark.req("S0.38")
async def test_of_a_run_that_another_worker_has(flow: Flow) -> None:
    await flow.start("api")
    run_id, worker = await at_the_call(flow, unsafe="lease")
    await flow.lost_its_runs(worker)
    await woken(flow, run_id, worker)
    assert not flow.effects("pay")
    await flow.start("worker")
    await flow.decide(await flow.approval(run_id, "unknown_outcome"), "approve")
    await flow.reached(run_id, "done")
    assert len(flow.effects("pay")) == 1


async def test_of_a_run_that_is_over_though_the_lease_holds(flow: Flow) -> None:
    await flow.start("api", cancel_seconds=2)
    run_id, worker = await at_the_call(flow, lease_seconds=600, cancel_seconds=2)
    await flow.cancel(run_id)
    await flow.reached(run_id, "canceled")
    await woken(flow, run_id, worker)
    assert not flow.effects("pay")
