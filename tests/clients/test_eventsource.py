"""The package `eventsource` follows a run of the threads API over connections that break at every event, while servers
and a worker die, and to every kind of end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, RETRY_MS, ran, resumed_through_kills, running
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

PROGRAM = "eventsource_client.mjs"


def assert_whole(found: dict[str, Any]) -> None:
    """The client has every event once, in order, and it stopped by itself."""
    assert found["ids"] == sorted(set(found["ids"]))
    assert found["names"][-1] == "state"
    assert found["status"] == 204, "the client stops by itself, and does not connect for ever"


async def test_a_stream_that_is_cut_at_every_event_has_no_gap_and_no_repetition(url: str) -> None:
    undisturbed = await ran(PROGRAM, "follow", url, INPUT="look")
    async with CuttingProxy(lambda: [url], 1, retry_ms=RETRY_MS) as proxy:
        found = await ran(PROGRAM, "follow", proxy.url, INPUT="look")
        cuts = proxy.cuts
    assert_whole(found)
    assert found["text"] == found["final"] == undisturbed["text"] == "So: A-1 is paid."
    assert (found["names"], found["ids"]) == (undisturbed["names"], undisturbed["ids"])
    assert cuts == len(found["ids"]) == found["opened"]


@pytest.mark.postgres
async def test_a_stream_is_cut_at_every_event_while_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    found, proxy = await resumed_through_kills(flow, PROGRAM, 1, "follow", RETRY_MS, INPUT="slowly")
    assert_whole(found)
    assert found["text"] == found["final"] == "".join(COUNT), "what the killed worker wrote is taken back"
    assert proxy.cuts == len(found["ids"]) > len(COUNT)


async def test_a_stream_goes_on_after_a_restart_of_the_only_server(any_flow: Flow) -> None:
    """The server that executes the run dies in the middle of the answer. Until the next one listens, nothing does."""
    pod = await any_flow.start("serve", "after.model.token:12", app=APP)
    async with (
        CuttingProxy(lambda: [pod.url for pod in any_flow.apis], 1, retry_ms=RETRY_MS) as proxy,
        running(PROGRAM, "follow", proxy.url, INPUT="slowly") as program,
    ):
        await program.line()
        await pod.end()
        await any_flow.start("serve", app=APP)
        found = await program.result()
    assert_whole(found)
    assert found["text"] == found["final"] == "".join(COUNT)
    assert proxy.cuts == len(found["ids"])


@pytest.mark.parametrize("given", ["hello", "refund", "fail", "endless"])
async def test_a_stream_has_the_end_of_its_run(url: str, sqlite_flow: Flow, given: str) -> None:
    """An answer, a tool that another client approves, an error, and a cancel by another client."""
    async with running(PROGRAM, "follow", url, INPUT=given) as program:
        run = (await program.line())["run"]
        if given == "refund":
            await sqlite_flow.reached(run, "waiting")
            [wait] = (await sqlite_flow.request("GET", "/api/waits")).json()["waits"]
            await sqlite_flow.request("POST", f"/api/approvals/{wait['wait_id']}", json={"decision": "approve"})
        if given == "endless":
            await sqlite_flow.cancel(run)
        found = await program.result()
    assert_whole(found)
    ends: dict[str, Any] = {
        "hello": ("Hello, dear guest.", None),
        "refund": ("So: A-1 is refunded.", None),
        "fail": (None, {"error": "The model's provider limits the rate of requests. Retry the run later."}),
        "endless": (None, {"reason": "requested"}),
    }
    assert (found.get("final"), found.get("end")) == ends[given]
    assert ("tool_end" in found["names"]) == (given == "refund")
