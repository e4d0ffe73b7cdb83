"""Three agents answer one message one after another, also if a worker is killed or an agent waits for a person."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow

pytestmark = pytest.mark.invariant(12)

NAMES = ["player", "second", "third"]
AT_ONCE: dict[str, Any] = {"group_pause_min_seconds": 0, "group_pause_max_seconds": 0}


async def channel(flow: Flow, *agents: str) -> str:
    made = await flow.request("POST", "/api/channels", json={"name": "all", "agents": list(agents)})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def say(flow: Flow, channel_id: str, *program: Any) -> list[str]:
    """Post the program; the runs that it starts, in the order of the group."""
    body = {"channelId": channel_id, "text": json.dumps(program)}
    message = (await flow.request("POST", "/api/messages", json=body)).json()["id"]
    rows = [row for row in await flow.database.rows("select * from runs") if row["trigger_message_id"] == message]
    started = {row["after_run"]: row["id"] for row in rows}
    runs: list[str] = []
    while (following := started.get(runs[-1] if runs else None)) is not None:
        runs.append(following)
    flow.evidence.accepted += runs
    return runs


async def began(flow: Flow) -> list[str]:
    """The runs in the order in which they first began."""
    return list(dict.fromkeys(run_id for run_id, _, _ in flow.notes.read("began")))


@pytest.mark.req("S3.10", "S3.40")
@pytest.mark.parametrize(
    "fault", ["after.done:1", "after.claim:2", "before.done:2", "before.release_held_runs@posted:1"]
)
async def test_a_worker_that_dies_between_two_turns_loses_none(any_flow: Flow, fault: str) -> None:
    flow = any_flow
    pod = await flow.first(fault, **AT_ONCE)
    started = asyncio.create_task(_posted(flow))
    if "@posted" in fault:  # the server also looks before there is anything to release
        await started
        flow.notes.open_gate("posted")
    await pod.end(30)
    await flow.next(**AT_ONCE)
    runs = await started
    for run_id in runs:
        await flow.reached(run_id, "done")
    assert await began(flow) == runs
    await flow.check()


async def _posted(flow: Flow) -> list[str]:
    return await say(flow, await channel(flow, *NAMES), ["tokens", 3])


@pytest.mark.req("S3.40")
async def test_an_agent_that_waits_for_a_person_lets_the_next_go(any_flow: Flow) -> None:
    flow = any_flow
    await flow.first(**AT_ONCE)
    runs = await say(flow, await channel(flow, *NAMES), ["approve", "may I?"])
    for run_id in runs:
        await flow.reached(run_id, "waiting")
    assert await began(flow) == runs
    for run_id in reversed(runs):
        await flow.decide(await flow.approval(run_id), "approve")
        await flow.reached(run_id, "done")
    await flow.check()


@pytest.mark.req("S3.10", "S3.11", "S3.41")
@pytest.mark.parametrize("workers", [1, 2, 8])
async def test_quick_messages_to_one_agent_run_in_order_under_any_number_of_workers(flow: Flow, workers: int) -> None:
    await flow.start("api", **AT_ONCE)
    for _ in range(workers):
        await flow.start("worker", poll_seconds=0.02, **AT_ONCE)
    place = await channel(flow, "player")
    posted = [(await say(flow, place, ["tokens", 2]))[0] for _ in range(3)]
    for run_id in posted:
        await flow.reached(run_id, "done")
    assert await began(flow) == posted
    await flow.check()


async def test_the_checker_sees_a_turn_that_was_taken_early(flow: Flow) -> None:
    """A red proof for I14 and I15."""
    from tests.support.checker.invariants import InvariantBroken

    await flow.start("serve", **AT_ONCE)
    runs = await say(flow, await channel(flow, *NAMES), ["tokens", 1])
    await flow.reached(runs[-1], "done")
    await eventually("all is told", lambda: _has_feed_entries(flow, 7))
    await flow.database.rows(f"update runs set started_at = 1 where id = '{runs[1]}'")
    await flow.database.rows("delete from feed where kind = 'agent_done'")
    with pytest.raises(InvariantBroken, match=r"(?s)I14 .*the turn of.*I15"):
        await flow.check()


async def _has_feed_entries(flow: Flow, count: int) -> bool:
    return len(await flow.database.rows("select id from feed where no is not null")) == count
