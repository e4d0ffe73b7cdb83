"""kill -9 of a worker at any point (STORAGE faults 1 to 5): another one goes on, nothing is lost, nothing repeated."""

from __future__ import annotations

import pytest

from tests.support.flow import Flow

WORDS = "".join(f"t{n} " for n in range(20))


@pytest.mark.req("S0.33", "S0.36", "S0.38")
@pytest.mark.parametrize("k", [1, 2, 5, 13, 20])
async def test_in_the_middle_of_a_stream(flow: Flow, k: int) -> None:
    api = await flow.start("api")
    await flow.start("worker", fault=f"after.model.token:{k}")
    run_id = await flow.post(["step", "look up"], ["tokens", 20, 4])
    reader = flow.follow(run_id, api)
    await flow.struck("after.model.token")
    await flow.start("worker")
    await reader.end()
    assert (await flow.run(run_id))["status"] == "done"
    assert reader.text == WORDS
    assert reader.count("run.resumed") == 1
    first = reader.types.index("run.resumed")
    assert reader.types[first + 1] == "model.reset", "clients are told to drop the open text before it comes again"
    assert flow.effects("step") == [f"{run_id}:look up"], "a finished step is not repeated"
