"""A run that kills its worker on every attempt ends as poison, and no other run is affected."""

from __future__ import annotations

from tests.support.scenario.flow import Flow


async def test_the_killer_is_given_up_and_every_neighbour_ends(flow: Flow) -> None:
    await flow.start("api", max_attempts=3)
    thread = await flow.thread()
    killer = await flow.post(["tokens", 2], ["die"], thread=thread)
    behind = await flow.post(["tokens", 2], thread=thread)
    innocent = [await flow.post(["tokens", 5, 5]) for _ in range(10)]
    async with flow.kept_alive("worker", 2, max_attempts=3):
        innocent += [await flow.post(["tokens", 20, 20]) for _ in range(5)]
        await flow.reached(killer, "error")
        for run_id in (behind, *innocent):
            await flow.reached(run_id, "done", "error")
        row = await flow.run(killer)
        assert (row["error_code"], row["stop_reason"]) == ("poison", "error")
        assert len(flow.notes.read("died")) == 3, "max_attempts"
        assert [await flow.status(run_id) for run_id in (behind, *innocent)] == ["done"] * (len(innocent) + 1)
