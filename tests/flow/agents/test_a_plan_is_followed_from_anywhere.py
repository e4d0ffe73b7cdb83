"""Plans with real processes: readers that drop and come back, pods that die, and the events of the reference plan."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from tests.support.scenario.flow import Flow
from tests.support.scenario.reader import Reader

NODES = ["EnsureDevice", "Warmup", "OpenApp", "Ping", "Teardown"]
SECOND_HALF = [f"{what} {node}" for node in NODES[2:] for what in ("NodeStarted", "NodeFinished")]
REFERENCE = [
    "RunStarted",
    "NodeStarted EnsureDevice",
    "DebugTrace ensureDevice.check",
    "NodeFinished EnsureDevice",
    "NodeStarted Warmup",
    "NodeFinished Warmup",
    *SECOND_HALF,
    "RunFinished",
]


def event_names(reader: Reader) -> list[str]:
    return [" ".join([event["type"], *(event[key] for key in ("name", "fn") if key in event)]) for event in reader.data]


def keys(run_id: str, *nodes: str) -> list[str]:
    return [f"{run_id}:{node}" for node in nodes]


@pytest.mark.req("S4.39", "S4.3", "S4.33", "S4.35", "S4.2", "S4.13", "S4.41")
async def test_the_reference_plan_leaves_thirteen_events_all_published_in_order(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.start_plan("device", "smoke")
    reader = await flow.follow(run_id, face="plans").end()
    assert event_names(reader) == REFERENCE
    log = await flow.log(run_id)
    assert len({(row["run_id"], row["seq"]) for row in log}) == len(log) == 13
    published = await flow.published(run_id)
    assert [row["seq"] for row in published] == list(range(1, 14))
    assert all(row["published_at"] is not None for row in published)
    assert [row["source"] for row in published] == ["api"] + ["worker"] * 12
    run = await flow.run(run_id)
    assert (run["external_id"], run["state"], run["last_seq"]) == ("smoke", "finished", 13)
    assert run["finished_at"] is not None


@pytest.mark.req("S4.38", "S4.39", "S4.20")
@pytest.mark.parametrize("left_at", [3, 5])
async def test_a_client_that_left_comes_back_and_gets_the_rest(any_flow: Flow, left_at: int) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.start_plan("held", "e2e")
    async with flow.http.stream("GET", f"{flow.api.url}/agents/runs/e2e/stream") as response:
        await _ids(response, left_at)
    flow.notes.open_gate("OpenApp")
    async with flow.http.stream("GET", f"{flow.api.url}/agents/runs/e2e/stream?fromSeq={left_at}") as response:
        rest = await _ids(response)
    assert rest == list(range(left_at + 1, 14)), "and then the stream was closed"
    await flow.reached(run_id, "done")


async def _ids(response: httpx2.Response, enough: int | None = None) -> list[int]:
    found: list[int] = []
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            found.append(int(line[4:]))
        if len(found) == enough:
            break
    return found


@pytest.mark.req("S4.38", "S4.37", "S4.19", "S4.36")
async def test_on_two_pods_a_client_moves_to_the_other_one_at_every_seq(flow: Flow) -> None:
    pods = [await flow.start("serve"), await flow.start("api")]
    run_id = await flow.start_plan("held", "wanderer", pods[1])
    readers = [flow.follow(run_id, *pods, drop_after=n, face="plans") for n in (1, 2, 3)]
    readers += [flow.follow(run_id, *reversed(pods), drop_after=1, face="plans"), flow.follow(run_id, pods[1])]
    await readers[0].until("seven events", lambda reader: len(reader.data) >= 7)
    flow.notes.open_gate("OpenApp")
    await asyncio.gather(*[reader.end() for reader in readers])
    assert [event_names(reader) for reader in readers[:-1]] == [REFERENCE] * 4
    assert readers[0].connections >= 13, "it was dropped after every single event"


@pytest.mark.req("S4.36", "S4.38")
async def test_a_finished_run_is_read_from_any_seq_on_a_pod_that_never_saw_it(flow: Flow) -> None:
    await flow.start("serve")
    run_id = await flow.start_plan("device", "old")
    await flow.follow(run_id, face="plans").end()
    stranger = await flow.start("api")
    for seq in range(14):
        response = await flow.request("GET", f"/agents/runs/old/stream?fromSeq={seq}", stranger)
        assert [int(line[4:]) for line in response.text.splitlines() if line.startswith("id: ")] == list(
            range(seq + 1, 14)
        )


@pytest.mark.req("S4.34", "S4.15", "S4.47")
async def test_two_runs_at_once_do_not_get_into_each_others_way(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    names = [f"run-{n}" for n in range(6)]
    run_ids = await asyncio.gather(*[flow.start_plan("device", name) for name in names])
    readers = [flow.follow(run_id, face="plans") for run_id in run_ids]
    for name, run_id, reader in zip(names, run_ids, readers, strict=True):
        await reader.end()
        assert event_names(reader) == REFERENCE
        assert {event["runId"] for event in reader.data} == {name}
        assert [row["seq"] for row in await flow.published(run_id)] == list(range(1, 14))


async def test_one_run_id_on_two_pods_starts_one_run(flow: Flow) -> None:
    pods = [await flow.start("serve"), await flow.start("serve")]
    run_ids = await asyncio.gather(*[flow.start_plan("device", "same", pods[n % 2]) for n in range(10)])
    assert len(set(run_ids)) == 1
    await flow.reached(run_ids[0], "done")
    assert flow.effects("node") == keys(run_ids[0], *NODES)


# --- the worker dies -------------------------------------------------------------------------------------------------


async def test_a_worker_that_dies_inside_a_node_repeats_no_finished_one(any_flow: Flow) -> None:
    flow = any_flow
    worker = await flow.first()
    run_id = await flow.start_plan("held", "crash")
    reader = flow.follow(run_id, face="plans")
    await flow.at_gate("OpenApp", worker)
    await reader.until("the node is announced", lambda reader: len(reader.data) >= 7)
    await worker.kill()
    flow.notes.open_gate("OpenApp")
    await flow.next()
    await reader.end()
    assert event_names(reader) == [
        *REFERENCE[:7],
        "DebugTrace run.resumed",
        *REFERENCE[7:],
    ], "the node that had begun is called again, and not announced again"
    assert flow.effects("node") == keys(run_id, "EnsureDevice", "Warmup", "OpenApp", "OpenApp", "Ping", "Teardown")


@pytest.mark.parametrize("point", ["after.step.started:2", "after.step.finished:1", "before.step.finished:3"])
async def test_a_worker_that_dies_between_two_commits_repeats_no_finished_node(any_flow: Flow, point: str) -> None:
    flow = any_flow
    worker = await flow.first(fault=point)
    run_id = await flow.start_plan("device", "crash")
    reader = flow.follow(run_id, face="plans")
    await worker.end()
    finished = [row["name"] for row in await flow.log(run_id) if row["type"] == "step.finished"]
    before = flow.effects("node")
    await flow.next()
    await reader.end()
    assert flow.effects("node")[len(before) :] == keys(run_id, *[node for node in NODES if node not in finished])
    assert [event for event in event_names(reader) if event != "DebugTrace run.resumed"][-1] == "RunFinished"


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_once_node_that_had_begun_waits_for_a_person(any_flow: Flow, decision: str) -> None:
    flow = any_flow
    worker = await flow.first()
    run_id = await flow.start_plan("careful", "once")
    reader = flow.follow(run_id, face="plans")
    await flow.at_gate("OpenApp", worker)
    await worker.kill()
    flow.notes.open_gate("OpenApp")
    await flow.next()
    approval = await flow.approval(run_id, "unknown_outcome")
    assert flow.effects("node") == keys(run_id, "EnsureDevice", "Warmup", "OpenApp")
    assert (await flow.decide(approval, decision)).status_code == 200
    await reader.end()
    if decision == "approve":
        assert flow.effects("node")[3:] == keys(run_id, "OpenApp", "Ping", "Teardown")
        assert (await flow.run(run_id))["status"] == "done"
    else:
        assert flow.effects("node")[3:] == []
        assert event_names(reader)[-2:] == ["DebugTrace error:unknown_outcome", "RunFinished"]


@pytest.mark.req("S4.52", "S4.20")
async def test_a_process_that_dies_before_it_can_publish_leaves_nothing_unpublished(any_flow: Flow) -> None:
    flow = any_flow
    worker = await flow.first(fault="after.done:1")
    run_id = await flow.start_plan("device", "unpublished")
    reader = flow.follow(run_id, face="plans")
    await worker.end()
    await flow.next()
    await reader.end()
    assert event_names(reader) == REFERENCE
    assert (await flow.published(run_id))[-1]["published_at"] is not None
    assert (await flow.run(run_id))["state"] == "finished"
