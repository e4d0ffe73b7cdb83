"""Several pods on one Postgres: hints reduce latency, and lost hints lose no event.

Tests that show that the bus works turn polling off (`DEAF`): every event arrives over the bus. Tests that show that the
bus may fail rely on polling.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow

NEVER = 3600
DEAF: dict[str, Any] = {"poll_seconds": NEVER, "outbox_poll_seconds": NEVER, "reap_seconds": NEVER, "lease_seconds": 60}
SPOILT = ["silent", "doubling", "shuffled"]


async def published(flow: Flow, run_id: str, state: str = "finished") -> None:
    async def moved() -> bool:
        return bool((await flow.run(run_id))["state"] == state)

    await eventually(f"the end of {run_id} is published", moved)


async def cut_listeners(flow: Flow) -> int:
    """End every connection that listens; how many there were."""
    assert isinstance(flow.database, PostgresDatabase)
    rows = await flow.database.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and query ilike 'listen%'"
    )
    return len(rows)


async def test_work_streams_cancels_and_decisions_go_from_pod_to_pod_without_a_poll(flow: Flow) -> None:
    api, other = await flow.start("api", **DEAF), await flow.start("api", **DEAF)
    await flow.start("worker", **DEAF)
    run_id = await flow.post(["tokens", 5], ["approve", "go on?"], ["tokens", 5], ["wait", "never"], pod=api)
    reader = flow.follow(run_id, other)
    await reader.until("the question", lambda seen: seen.count("approval.requested"))
    approval = await flow.approval(run_id)
    assert (await flow.decide(approval, "approve", pod=other)).status_code == 200
    await reader.tokens(11)
    await flow.at_gate("never")
    assert await flow.cancel(run_id, pod=api) == "canceled"
    await reader.end()
    await published(flow, run_id, "cancelled")


@pytest.mark.parametrize("how", SPOILT)
async def test_a_bus_that_loses_doubles_or_reorders_loses_nothing(flow: Flow, how: str) -> None:
    api, other = await flow.start("api", bus=how), await flow.start("api", bus=how)
    workers = [await flow.start("worker", bus=how) for _ in range(2)]
    assert len(workers) == 2
    runs = [await flow.post(["tokens", 30, 3], ["step", "a"], ["tokens", 30, 3], pod=api) for _ in range(4)]
    readers = [flow.follow(run_id, pod, drop_after=17) for run_id in runs for pod in (api, other)]
    for reader in readers:
        await reader.end()
    for run_id in runs:
        await published(flow, run_id)


async def test_listeners_that_are_cut_come_back_by_themselves(flow: Flow) -> None:
    """No process polls: only a listener that subscribes again can bring the second half."""
    api, other = await flow.start("api", **DEAF), await flow.start("api", **DEAF)
    worker = await flow.start("worker", **DEAF)
    run_id = await flow.post(["tokens", 3], ["wait", "cut"], ["tokens", 400, 5], pod=api)
    reader = flow.follow(run_id, other)
    await reader.tokens(3)
    assert await cut_listeners(flow) == 3
    await asyncio.sleep(0.5)  # waits on purpose: hints that are sent now are lost, and those later must not be
    flow.notes.open_gate("cut", worker.pid)
    await reader.tokens(400)
    await reader.end()


async def test_a_bus_that_is_missing_from_the_start_stops_no_work(flow: Flow) -> None:
    nowhere = "redis://127.0.0.1:1/0"
    api = await flow.start("api", bus_url=nowhere)
    await flow.start("worker", bus_url=nowhere)
    run_id = await flow.post(["tokens", 20, 2], pod=api)
    reader = flow.follow(run_id, api)
    await reader.end()
    await published(flow, run_id)


@pytest.mark.invariant(11)
@pytest.mark.req("S4.52")
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_publisher_that_dies_around_the_cursor_is_made_up_for(flow: Flow, when: str) -> None:
    """Before: committed and not published. After: the cursor has moved, and no hint was sent."""
    api = await flow.start("api")
    # the first publication of the worker is of the first commit that holds a token
    dying = await flow.start("worker", fault=f"{when}.publish:2")
    run_id = await flow.post(["tokens", 40, 10], pod=api)
    reader = flow.follow(run_id, api)
    await dying.end()
    await flow.start("worker")
    await reader.end()
    await published(flow, run_id)


@pytest.mark.invariant(11)
@pytest.mark.req("S4.14", "S4.15")
async def test_many_publishers_and_runs_at_once_publish_everything_in_order(flow: Flow) -> None:
    pods = [await flow.start("serve", outbox_poll_seconds=0.02) for _ in range(3)]
    runs = [await flow.post(["tokens", 60, 1], pod=pods[n % 3]) for n in range(9)]
    for n, run_id in enumerate(runs):
        flow.follow(run_id, pods[(n + 1) % 3])
    for run_id in runs:
        await published(flow, run_id)


async def test_the_commits_of_a_killed_process_are_published_within_the_poll(flow: Flow) -> None:
    api = await flow.start("api")
    dying = await flow.start("worker", fault="after.done:1")
    run_id = await flow.post(["tokens", 3], pod=api)
    await dying.end()
    begun = time.monotonic()
    await published(flow, run_id)
    assert time.monotonic() - begun < 5
    await flow.follow(run_id, api).end()
