"""The stream of a run has the same bytes, ids and times aside, whether a worker of Runyard or Celery executes it, and
whether the agent is a graph of LangGraph or has the loop of Runyard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.apps.graph_agents import without_numbers
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import ROOT, Nursery
from tests.support.servers.celery_worker import THREADS, CeleryWorkers, kill
from tests.support.servers.redis_server import PrivateRedis

APP = ROOT / "tests" / "support" / "apps" / "engines_app.py"
ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(rb"\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+]00:00)|(?<=[ :])1[0-9]{12}(?=[,}])")
CALL = {"tool": "look", "input": {"what": "it"}}
MESSAGES: dict[str, Any] = {
    "player": [["step", "look_up"], ["call", "look"], ["tokens", 5], ["call", "pay"], ["history"]],
    "fixed": [],
    "thinker": [{"text": "Looking.", "calls": [CALL]}, {"text": ["a", "b"]}],
    "ours": [],
    "graph": [],
}


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Pods that find LangGraph imported."""
    modules = "tests.support.apps.graph_agents langgraph.pregel"
    with Nursery(tmp_path_factory.mktemp("nursery") / "log", modules) as nursery:
        yield nursery


async def _streams(flow: Flow) -> dict[str, bytes]:
    """The bytes that a client of S0 receives of a run of each agent, from its post to the end of the stream."""
    found = {}
    for agent, message in MESSAGES.items():
        run_id = await flow.post(*message, agent=agent)
        response = await flow.request("GET", f"/api/runs/{run_id}/events")
        assert response.headers["content-type"].startswith("text/event-stream")
        frames = [each for each in response.content.split(b"\n\n") if not each.startswith(b":")]  # without heartbeats
        found[agent] = TIME.sub(b"TIME", ID.sub(b"ID", b"\n\n".join(frames)))
    return found


@pytest.mark.req("S0.43")
async def test_the_stream_is_the_same_on_our_worker_and_on_celery(flow: Flow) -> None:
    flow.app = APP
    await flow.start("api")
    worker = await flow.start("worker")
    ours = await _streams(flow)
    worker.terminate()
    await worker.end()
    for pod in flow.apis:
        pod.terminate()
        await pod.end()

    with PrivateRedis() as redis:
        celery = CeleryWorkers(flow, redis.url)
        await celery.serve()
        children = await celery.start()
        by_child = await _streams(flow)
        await kill(children)
        threads = await celery.start(*THREADS)
        by_thread = await _streams(flow)
        await flow.check()
        await kill(threads)
    assert by_child == ours
    assert by_thread == ours
    assert without_numbers(ours["graph"]) == without_numbers(ours["ours"])
    for agent, stream in ours.items():
        assert stream.count(b"id: ") >= 3, agent
        assert not json.loads(stream.rsplit(b"data: ", 1)[1].split(b"\n")[0]).get("error"), agent
