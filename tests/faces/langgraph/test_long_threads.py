"""Threads with more runs than one page: lists by status, streams, and what is canceled."""

from typing import Any

import runyard
from runyard.agents.declared.loading import App
from runyard.faces.langgraph.thread_stream import BITS
from tests.faces.langgraph.test_routes import RUNS, asks, echo, made, slow, waited
from tests.faces.langgraph.test_thread_stream import followed, frames_of, sent
from tests.support.in_process.live_server import Serve, Server
from tests.web.responses.test_problems import MEMORY


@runyard.agent
async def fails(ctx: runyard.Context) -> str:
    raise RuntimeError("no")


APP = App({each.name: each for each in (echo, asks, slow, fails)}, {}, "echo")


async def listed(server: Server, thread: str, **query: Any) -> list[str]:
    answer = await server.http.get(RUNS.format(thread), params=query)
    assert answer.status_code == 200, answer.text
    return [each["run_id"] for each in answer.json()]


async def test_old_runs_are_found_by_their_status(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await waited(server, thread, "fails")
    [failed] = await listed(server, thread)
    await waited(server, thread, "asks")
    await waited(server, thread, "echo", "never mind")
    replaced = (await listed(server, thread))[1]
    for n in range(3):
        await waited(server, thread, "echo", f"{n}")
    asked = await server.post("asks", "go", thread)
    await server.waiting(asked)
    queued = [await server.post("echo", f"{n}", thread) for n in range(3)]
    assert await listed(server, thread, status="error", limit=1) == [failed]
    assert await listed(server, thread, status="interrupted", limit=2) == [asked, replaced]
    assert await listed(server, thread, status="interrupted", limit=2, offset=2) == [replaced.removesuffix("_2")]
    assert await listed(server, thread, status="pending", limit=2, offset=1) == queued[1::-1]
    assert len(await listed(server, thread, status="success", limit=3)) == 3
    for status in ("running", "timeout", "other"):
        assert await listed(server, thread, status=status) == []


@MEMORY
async def test_a_stream_begins_with_the_oldest_run_that_has_not_ended(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await server.post("slow", "go", thread)
    for n in range(21):
        await server.post("echo", f"{n}", thread)
    stream = await followed(server, thread, ["lifecycle"])
    await stream.until(lambda: b"running" in stream.body)
    [first, *_] = frames_of(stream)
    stream.abort()
    message = {"messages": [{"type": "human", "content": "go", "id": "m1"}]}
    start: dict[str, Any] = {"assistant_id": "echo", "input": message, "multitaskStrategy": "enqueue"}
    applied = (await sent(server, thread, "run.start", **start))["meta"]["applied_through_seq"]
    assert applied >> BITS == first["seq"] >> BITS, "the client gets the rest of the run at work, too"
    assert (await server.http.delete(f"/langgraph/threads/{thread}")).status_code == 204
