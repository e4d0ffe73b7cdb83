"""One Runyard server calls another: tasks, labels and budgets are passed on, and both record the result."""

import asyncio

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent, plan, remote
from runyard.agents.declared.loading import App
from runyard.agents.declared.nodes import Node
from runyard.agents.kinds.plan.node_context import NodeContext
from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from runyard.telemetry.spans import Recorder
from tests.agents.contract.agent_server import GOOD, TASK, as_stream, frames, served
from tests.faces.contract.contract_client import contract_agents, stream, sync, task_request
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process import live_server
from tests.support.in_process.live_server import Serve

OTHERS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LABELS = {"workflow_id": "w", "mode": "LIVE"}


def asking(url: str) -> App:
    def far(name: str, task_type: str) -> Agent:
        return remote(name, url=url, task_type=task_type, allow=["127.0.0.1"])

    echo = far("far", "ECHO")

    @agent
    async def twice(ctx: Context) -> runyard.Output:
        first, second = await ctx.call_agent(echo, n=1), await ctx.call_agent(echo, n=2)
        return runyard.Output("", outputs={"found": [first["inputs"], second["inputs"]]})

    async def node(ctx: NodeContext) -> object:
        return (await ctx.call_agent(echo, step=ctx.node))["labels"]

    agents = [echo, twice, far("gated", "gated"), far("nobody", "NOBODY"), far("crashes", "crashes")]
    agents += [far("grounded", "GROUNDED"), plan("pipeline", [Node("One", node), Node("Two", node)])]
    return App({one.name: one for one in agents}, {}, "far")


@pytest.mark.req("S2.22", "S2.33")
async def test_a_task_goes_through_a_remote_agent_unchanged(serve: Serve, gate: Gate) -> None:
    with served(GOOD.but(stream=lambda a: as_stream(*frames(a, outputs={"asked": a})))) as stranger:
        far = remote("far", url=stranger.url, task_type=TASK, allow=["127.0.0.1"])
        server = await serve(App({"far": far}, {}, "far"))
        budgets = {"max_output_tokens": 7, "timeout_ms": 60_000}
        found = await sync(server, task_request("far", inputs={"q": 1}, budgets=budgets, **LABELS))

        got = found["outputs"]["asked"]
        assert (got["request_id"], got["workflow_id"], got["mode"]) == ("req-1", "w", "LIVE")
        assert (got["task_type"], got["inputs"]) == (TASK, {"q": 1})
        assert got["budgets"]["max_output_tokens"] == 7
        assert 0 < got["budgets"]["timeout_ms"] <= 60_000
        log = await server.log(found["provenance"]["run_id"])
        kept = next(one for one in log if one["type"] == "tool.finished")
        assert kept["data"]["output"]["outputs"] == found["outputs"]


@pytest.mark.req("S2.18", "S2.21")
async def test_a_stream_over_a_remote_agent_has_one_end_also_if_the_other_side_has_none(serve: Serve) -> None:
    with served(GOOD.but(stream=lambda a: as_stream(*frames(a)[:-1]))) as stranger:
        far = remote("far", url=stranger.url, task_type=TASK, allow=["127.0.0.1"])
        server = await serve(App({"far": far}, {}, "far"))
        found = await stream(server, task_request("far"))
    assert found.ended_cleanly
    assert [frame.event for frame in found.frames].count("final") == 1
    assert found.frames[-1].json["error"]["code"] == "REMOTE_BROKEN"


@pytest.mark.parametrize("backend", ["memory"])
async def test_one_server_asks_another(gate: Gate, serve: Serve) -> None:
    far = await serve(contract_agents(gate))
    settings = Settings(database_url="sqlite:///unused.db", **live_server.QUICK)
    app = asking(f"http://127.0.0.1:{far.port}")
    async with live_server.served(settings, app, MemoryStore(SystemClock())) as near:
        echoed = await sync(near, task_request("far", inputs={"q": 1}, **LABELS))
        assert echoed["outputs"]["labels"] == {"request_id": "req-1", **LABELS}
        both = await sync(near, task_request("twice"))
        assert both["outputs"]["found"] == [{"n": 1}, {"n": 2}]
        piped = await sync(near, task_request("pipeline", **LABELS))
        assert piped["outputs"] == {node: {"request_id": "req-1", **LABELS} for node in ("One", "Two")}
        assert (await sync(near, task_request("grounded")))["grounding"]["citations"] == ["d1"]
        assert (await sync(near, task_request("nobody")))["error"]["code"] == "UNSUPPORTED_TASK_TYPE"
        assert (await sync(near, task_request("crashes")))["error"]["code"] == "TASK_FAILED"
        late = await sync(near, task_request("gated", budgets={"timeout_ms": 300}))
        assert late["error"]["code"] in {"TIMEOUT", "REMOTE_TIMEOUT"}
        run_id = await near.post("far", "hello")
        assert (await near.ended(run_id)).frames[-1].json["status"] == "done"


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_cancel_closes_the_call(serve: Serve) -> None:
    reached, left = asyncio.Event(), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: here\n\n")
        await writer.drain()
        reached.set()
        while await reader.read(1000):
            pass
        left.set()
        writer.close()

    service = await asyncio.start_server(handle, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{service.sockets[0].getsockname()[1]}"
    far = remote("far", url=url, task_type=TASK, allow=["127.0.0.1"])
    server = await serve(App({"far": far}, {}, "far"))
    run_id = await server.post("far")
    async with asyncio.timeout(20):
        await reached.wait()
        answer = await server.http.post(f"/api/runs/{run_id}/cancel")
        await left.wait()
    assert answer.json()["status"] == "canceled"
    service.close()


@pytest.mark.req("S3.35")
@pytest.mark.parametrize("given", [None, OTHERS, "00-a secret-01"])
async def test_the_trace_goes_with_the_task(serve: Serve, given: str | None) -> None:
    """One trace from the caller through the run to the remote agent, each span below the other."""
    with served() as stranger:
        far = remote("far", url=stranger.url, task_type=TASK, allow=["127.0.0.1"])
        server = await serve(App({"far": far}, {}, "far"))
        headers = {} if given is None else {"traceparent": given}
        answer = await server.http.post("/agents/run/sync", json=task_request("far", inputs={"q": 1}), headers=headers)
        assert answer.status_code == 200
        run_id = answer.json()["provenance"]["run_id"]
        recorder = server.process.tracer.exporter
        assert isinstance(recorder, Recorder)
        await eventually("the run is traced", lambda: recorder.spans)  # a moment after its answer
        run, tool = recorder.spans

        trace, parent = (OTHERS[3:35], OTHERS[36:52]) if given == OTHERS else (run_id.replace("-", ""), None)
        assert (run.trace_id, run.parent_id) == (trace, parent)
        assert stranger.headers["traceparent"] == f"00-{trace}-{tool.id}-01"
        assert tool.parent_id == run.id
        assert "a secret" not in str(await server.log(run_id))
