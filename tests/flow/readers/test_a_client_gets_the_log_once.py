"""A client gets each event of the log once, in order, however its connections break. The checker compares every
reader with the log."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.scenario.flow import Flow

pytestmark = pytest.mark.invariant(7)

WORDS = "".join(f"t{n} " for n in range(15))


@pytest.mark.req("S0.17", "S0.36", "S0.37")
async def test_dropped_at_every_seq_and_back_on_another_pod(flow: Flow) -> None:
    pods = [await flow.start("serve"), await flow.start("api")]
    run_id = await flow.post(["step", "s"], ["tokens", 15, 4], ["call", "look"])
    readers = [flow.follow(run_id, *pods, drop_after=n, face=face) for n in (1, 2, 3) for face in ("native", "threads")]
    readers += [flow.follow(run_id, pods[0], drop_after=1), flow.follow(run_id, pods[1], drop_after=1)]
    await asyncio.gather(*[reader.end() for reader in readers])
    assert readers[0].connections >= len(readers[0].seen.events), "it was dropped after every single event"
    assert (await flow.run(run_id))["status"] == "done", "no connection of a client affects the run"


@pytest.mark.req("S0.25")
async def test_a_stream_may_begin_at_any_seq_of_a_finished_run(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.post(["step", "s"], ["tokens", 5])
    whole = flow.follow(run_id)
    await whole.end()
    for seq in range(len(whole.seen.events) + 1):
        response = await flow.request("GET", f"/api/runs/{run_id}/log", headers={"Last-Event-ID": str(seq)})
        ids = [int(line[4:]) for line in response.text.splitlines() if line.startswith("id: ")]
        assert ids == list(range(seq + 1, len(whole.seen.events) + 1))


@pytest.mark.req("S0.36")
async def test_the_pod_it_listens_to_is_killed(flow: Flow) -> None:
    await flow.start("worker", lease_seconds=20)
    first, second = await flow.start("api"), await flow.start("api")
    run_id = await flow.post(["tokens", 15, 10], pod=second)
    reader = flow.follow(run_id, first, second)
    await reader.tokens(4)
    await first.kill()
    await reader.end()
    assert reader.text == WORDS
    assert (await flow.run(run_id))["attempts"] == 1, "the run did not notice"


@pytest.mark.req("S0.36")
async def test_on_sqlite_the_server_is_killed_and_started_again(sqlite_flow: Flow) -> None:
    flow = sqlite_flow
    pod = await flow.start("serve")
    run_id = await flow.post(["tokens", 15, 10])
    readers = [flow.follow(run_id), flow.follow(run_id, drop_after=2), flow.follow(run_id, face="threads")]
    for k in (3, 6):
        await readers[0].tokens(k)
        await pod.kill()
        pod = await flow.start("serve")
    await asyncio.gather(*[reader.end() for reader in readers])
    assert readers[0].text == WORDS


@pytest.mark.req("S0.37")
async def test_a_run_ends_although_every_client_left(flow: Flow) -> None:
    await flow.start("serve")
    run_id = await flow.post(["tokens", 3], ["wait", "end"], ["tokens", 3])
    reader = flow.follow(run_id)
    await reader.tokens(3)
    await reader.stop()
    flow.notes.open_gate("end")
    await flow.reached(run_id, "done")


@pytest.mark.req("S0.42")
async def test_the_same_script_gives_the_same_events_even_when_workers_die(flow: Flow) -> None:
    await flow.start("api")
    texts = set()
    for fault in ("", "after.model.token:2", "after.tool.started:1"):
        worker = await flow.start("worker", fault=fault)
        reader = flow.follow(await flow.post(agent="fixed"), face="threads")
        if fault:
            await worker.end()
            worker = await flow.start("worker")
        await reader.end()
        texts.add(str(list(zip(reader.types, reader.data, strict=True))))
        worker.terminate()
        await worker.end()
    assert len(texts) == 1
