"""The thread stream of LangGraph's SDKs: runs of every API in one sequence, positions, commands, and how it ends."""

import asyncio
from typing import Any

import msgspec

from runyard.base.sse import Parser
from runyard.web.streaming.sse import STALL_SECONDS
from tests.faces.langgraph.test_routes import APP, made, waited
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import bearer
from tests.web.responses.test_problems import MEMORY

CHANNELS = ["values", "checkpoints", "messages", "tools", "lifecycle", "input", "updates", "custom"]


async def followed(server: Server, thread: str, channels: list[str] = CHANNELS, **more: Any) -> RawStream:
    body = {"channels": channels, **more}
    return await RawStream.open(server.port, f"/langgraph/threads/{thread}/stream/events", {}, body=body)


async def ends(stream: RawStream, number: int) -> list[Any]:
    """Return the events of a stream that has so many ends of runs."""

    def are_there() -> bool:
        return sum(stream.body.count(b'"event":"%b"' % each) for each in (b"completed", b"failed")) >= number

    await stream.until(are_there)
    return frames_of(stream)


def frames_of(stream: RawStream) -> list[Any]:
    return [msgspec.json.decode(frame.data) for frame in Parser().feed(bytes(stream.body))]


async def sent(server: Server, thread: str, method: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
    body = {"id": 7, "method": method, "params": params}
    answer = await server.http.post(f"/langgraph/threads/{thread}/commands", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["id"] == 7
    return answer.json()


async def test_a_stream_has_the_runs_of_every_api_and_any_seq_leads_to_the_rest(serve: Serve) -> None:
    server = await serve(APP)
    thread = await server.thread()
    live = await followed(server, thread)
    await server.ended(await server.post("echo", "one", thread_id=thread))
    started = await sent(server, thread, "run.start", assistant_id="echo", input={"messages": "two"})
    await server.post("echo", "three", thread_id=thread)
    events = await ends(live, 3)
    said = [each["params"]["data"]["messages"] for each in events if each["method"] == "values"]
    assert [each["content"] for each in said[-1]] == ["one", "one", "two", "two", "three", "three"]
    checkpoints = [each["params"]["data"] for each in events if each["method"] == "checkpoints"]
    assert [each["step"] for each in checkpoints] == sorted({each["step"] for each in checkpoints})
    second = [each for each in events if each["seq"] > started["meta"]["applied_through_seq"]]
    assert second[0]["params"]["data"]["event"] == "running"
    assert {each["id"] for each in checkpoints[2:4]} == {started["result"]["run_id"]}
    state = (await server.http.get(f"/langgraph/threads/{thread}/state")).json()
    assert state["metadata"]["step"] == checkpoints[-1]["step"]
    for at in range(0, len(events) - 1, 5):
        rest = await followed(server, thread, since=events[at]["seq"])
        left = [each["params"]["data"]["event"] for each in events[at + 1 :] if each["method"] == "lifecycle"]
        assert await ends(rest, left.count("completed")) == events[at + 1 :]
        rest.abort()
    nothing = await followed(server, thread, namespaces=[["other"]])
    assert nothing.body == b""
    for each in (live, nothing):
        each.abort()


@MEMORY
async def test_a_long_thread_is_shown_from_its_newest_runs_or_whole(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    for n in range(23):
        await waited(server, thread, "echo", f"{n}")
    newest = await ends(await followed(server, thread, ["values", "lifecycle"]), 10)
    whole = await ends(await followed(server, thread, ["values", "lifecycle"], since=0), 23)
    assert newest == whole[-len(newest) :]
    assert len(newest[-2]["params"]["data"]["messages"]) == 46


@MEMORY
async def test_a_stream_has_heartbeats_and_is_cut_by_a_shutdown_and_with_its_thread(serve: Serve) -> None:
    server = await serve(APP, heartbeat_seconds=0.05)
    for how in ("thread", "shutdown"):
        thread = await made(server)
        stream = await followed(server, thread)
        await stream.until(lambda stream=stream: stream.body.count(b": ping\n") >= 2)  # type: ignore[misc]
        assert b": ping\n\n" not in stream.body, "the client for Node would make an event of it"
        if how == "thread":
            assert (await server.http.delete(f"/langgraph/threads/{thread}")).status_code == 204
        else:
            await server.process.drain(0)
        async with asyncio.timeout(STALL_SECONDS / 2):  # a client that reads nothing is cut, too, but later
            await stream.to_end()
        assert (stream.was_cut, stream.ended_cleanly) == (True, False)


@MEMORY
async def test_commands_have_results_or_errors_of_the_protocol(serve: Serve) -> None:
    server = await serve(APP, keys=True)
    full, less = bearer(await server.key("ann")), bearer(await server.key("ann", "read", "write"))
    server.http.headers.update(full)
    message = {"messages": [{"type": "human", "content": "go", "id": "m1"}]}
    first = await sent(server, "mine", "run.start", assistant_id="asks", input=message)
    again = await sent(server, "mine", "run.start", assistant_id="asks", input=message)
    assert first["result"] == again["result"], "a command that is sent again starts nothing"

    async def interrupts() -> Any:
        return (await server.http.get("/langgraph/threads/mine/state")).json()["interrupts"]

    [asked] = await eventually("it asks", interrupts)
    answer = {"interrupt_id": asked["id"], "response": True, "namespace": []}
    for method, params, headers, code in (
        ("input.respond", answer, less, "permission_denied"),
        ("input.respond", {**answer, "interrupt_id": asked["id"][:-1] + "x"}, full, "no_such_interrupt"),
        ("input.respond", {**answer, "update": {"x": 1}}, full, "not_supported"),
        ("input.respond", {}, full, "invalid_argument"),
        ("run.start", {"assistant_id": "other", "input": "x"}, full, "invalid_argument"),
        ("run.start", {"assistant_id": "echo"}, full, "invalid_argument"),
        ("state.fork", {"checkpoint_id": "none"}, full, "no_such_checkpoint"),
        ("state.get", {"keys": 3}, full, "invalid_argument"),
        ("subscription.subscribe", {}, full, "unknown_command"),
    ):
        found = await sent(server, "mine", method, headers, **params)
        assert (found["type"], found["error"]) == ("error", code), (method, params, found)
        assert found["message"]
    assert (await sent(server, "mine", "agent.getTree"))["result"]["tree"]["status"] == "interrupted"
    done = await sent(server, "mine", "input.respond", **answer)
    assert done["result"] == {"run_id": f"{first['result']['run_id']}_2"}
    body = {"assistant_id": "echo", "input": "x"}
    await server.http.get(f"/langgraph/threads/mine/runs/{done['result']['run_id']}/join", params=body)
    values = (await sent(server, "mine", "state.get", keys=["messages"]))["result"]["values"]
    assert [each["content"] for each in values["messages"]] == ["go", "yes"]
    [checkpoint] = (await sent(server, "mine", "state.listCheckpoints"))["result"]["checkpoints"]
    assert checkpoint["id"] == first["result"]["run_id"]


@MEMORY
async def test_other_values_of_a_state_are_not_updated_and_the_error_says_why(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await waited(server, thread, "echo")
    path = f"/langgraph/threads/{thread}/state"
    before = (await server.http.get(path)).json()
    refused = await server.http.post(path, json={"values": {"mood": "good"}, "as_node": "x"})
    assert (refused.status_code, refused.json()["code"]) == (422, "unsupported")
    assert "can add `messages` to the state" in refused.json()["detail"]
    patched = await server.http.patch(path, json={"metadata": {"user": "ann"}})
    assert patched.json()["metadata"]["user"] == "ann"
    assert (await server.http.get(path)).json() == before
