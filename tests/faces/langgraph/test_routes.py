"""The routes for LangGraph's SDKs: interrupts, scopes, disconnects, heartbeats, shutdown and states."""

import asyncio
from typing import Any

import runyard
from runyard.agents.declared.loading import App
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import bearer
from tests.web.responses.test_problems import MEMORY


@runyard.agent
async def twice(ctx: runyard.Context) -> str:
    """Ask two questions at once."""
    number, name = await asyncio.gather(ctx.ask("How many?", int), ctx.ask("Who?", str))
    return f"{number} for {name}"


@runyard.agent
async def asks(ctx: runyard.Context) -> str:
    if not await ctx.request_approval("Sure?"):
        return "no"
    return "yes"


@runyard.agent
async def echo(ctx: runyard.Context) -> str:
    return ctx.message.text


@runyard.agent
async def slow(ctx: runyard.Context) -> str:
    await ctx.token("one")
    await asyncio.Event().wait()
    return "two"


@runyard.agent
async def busy(ctx: runyard.Context) -> str:
    """Write events for ever that values do not show."""
    while True:
        await ctx.token("on ")
        await asyncio.sleep(0.02)  # waits on purpose: less than a heartbeat


@runyard.agent
async def counts(ctx: runyard.Context) -> str:
    """Count up to a value of the input."""
    return " ".join(str(n) for n in range(ctx.task.inputs["most"])) if ctx.task is not None else "no task"


APP = App({each.name: each for each in (echo, twice, asks, slow, busy, counts)}, {}, "echo")
RUNS = "/langgraph/threads/{}/runs"


async def made(server: Server, **body: Any) -> str:
    return str((await server.http.post("/langgraph/threads", json=body)).json()["thread_id"])


async def waited(server: Server, thread: str, agent: str, given: Any = "go", **more: Any) -> Any:
    body = {"assistant_id": agent, "input": given, **more}
    answer = await server.http.post(RUNS.format(thread) + "/wait", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def resumed(server: Server, thread: str, agent: str, resume: Any, **headers: str) -> Any:
    body = {"assistant_id": agent, "command": {"resume": resume}}
    return await server.http.post(RUNS.format(thread) + "/wait", json=body, headers=headers)


async def test_several_interrupts_are_answered_by_their_ids(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    number, name = (await waited(server, thread, "twice"))["__interrupt__"]
    assert [number["value"], name["value"]] == ["How many?", "Who?"]
    refused = await resumed(server, thread, "twice", 3)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    first = (await resumed(server, thread, "twice", {number["id"]: 3})).json()
    assert first["__interrupt__"] == [name]
    state = (await server.http.get(f"/langgraph/threads/{thread}/state")).json()
    assert (state["interrupts"], state["next"], state["tasks"][0]["interrupts"]) == ([name], ["twice"], [name])
    last = (await resumed(server, thread, "twice", "ann")).json()
    assert [each["content"] for each in last["messages"]] == ["go", "3 for ann"]
    again = (await resumed(server, thread, "twice", {number["id"]: 4})).json()
    assert again == first, "the second part, as it was"
    other = await made(server)
    assert (await resumed(server, other, "twice", {name["id"]: "eve"})).status_code == 404


@MEMORY
async def test_a_decision_needs_its_scope(serve: Serve) -> None:
    server = await serve(APP, keys=True)
    full, less = await server.key("ann"), await server.key("ann", "read", "write")
    server.http.headers.update(bearer(full))
    thread = await made(server)
    await waited(server, thread, "asks")
    refused = await resumed(server, thread, "asks", True, **bearer(less))
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    assert "`approve`" in refused.json()["detail"]
    answer = (await resumed(server, thread, "asks", True)).json()
    assert answer["messages"][-1]["content"] == "yes"


@MEMORY
async def test_counting_and_searching_need_only_the_scope_read(serve: Serve) -> None:
    server = await serve(APP, keys=True)
    reader = bearer(await server.key("ann", "read"))
    searches = ("assistants/search", "assistants/count", "assistants/echo/versions", "threads/search", "threads/count")
    for path in searches:
        answer = await server.http.post(f"/langgraph/{path}", json={}, headers=reader)
        assert answer.status_code == 200, path
    assert (await server.http.post("/langgraph/threads", json={}, headers=reader)).status_code == 403


@MEMORY
async def test_a_message_to_a_thread_that_waits_replaces_the_question(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await waited(server, thread, "asks")
    values = await waited(server, thread, "echo", "never mind", multitask_strategy="reject")
    assert [each["content"] for each in values["messages"]] == ["go", "never mind", "never mind"]
    runs = (await server.http.get(RUNS.format(thread))).json()
    assert [each["status"] for each in runs] == ["success", "interrupted", "interrupted"]
    assert (await server.http.get("/api/approvals")).json()["approvals"] == []


async def test_a_checkpoint_leads_to_another_branch(serve: Serve) -> None:
    """As front ends edit a message, or let it be answered again: both name the state before its run."""
    server = await serve(APP)
    thread = await made(server)
    for text in ("one", "two"):
        await waited(server, thread, "echo", text)
    path = f"/langgraph/threads/{thread}/history"
    last, first = (await server.http.post(path, json={})).json()
    assert last["parent_checkpoint"] == first["checkpoint"]
    more = await waited(server, thread, "echo", "three", checkpoint=last["checkpoint"])
    assert [each["content"] for each in more["messages"][::2]] == ["one", "two", "three"]
    edited = await waited(server, thread, "echo", "2", checkpoint=last["parent_checkpoint"], metadata={"why": "typo"})
    assert [each["content"] for each in edited["messages"]] == ["one", "one", "2", "2"]
    assert (await server.http.get(RUNS.format(thread))).json()[0]["metadata"] == {"why": "typo"}
    again = await waited(server, thread, "asks", None, checkpoint_id=first["parent_checkpoint"]["checkpoint_id"])
    assert [each["content"] for each in again["messages"]] == ["one"]
    assert len(again["__interrupt__"]) == 1
    body = {"assistant_id": "echo", "input": "x", "checkpoint_id": "none"}
    assert (await server.http.post(RUNS.format(thread), json=body)).status_code == 404


@MEMORY
async def test_a_run_continues_without_its_client_unless_it_is_to_cancel(serve: Serve) -> None:
    server = await serve(APP, heartbeat_seconds=0.05)
    for wish, status in (("continue", "running"), ("cancel", "canceled")):
        body = {"assistant_id": "slow", "input": "go", "stream_mode": "messages-tuple", "on_disconnect": wish}
        stream = await RawStream.open(server.port, "/langgraph/runs/stream", {}, body=body)
        await stream.until(lambda stream=stream: stream.body.count(b": ping\n") >= 2)  # type: ignore[misc]
        assert b": ping\n\n" not in stream.body, "the client for Node would make an event of it"
        [run_id] = stream.header("runyard-run-id")
        stream.abort()

        async def is_so(run_id: str = run_id, status: str = status) -> bool:
            return bool((await server.run(run_id))["status"] == status)

        await eventually(f"the run is {status}", is_so)


@MEMORY
async def test_a_shutdown_cuts_streams_and_waits(serve: Serve) -> None:
    server = await serve(APP)
    body = {"assistant_id": "slow", "input": "go", "stream_mode": "messages-tuple"}
    stream = await RawStream.open(server.port, "/langgraph/runs/stream", {}, body=body)
    wait = await RawStream.open(server.port, "/langgraph/runs/wait", {}, body=body)
    await stream.until(lambda: b'"content":"one"' in stream.body)
    [where], [then] = stream.header("content-location"), wait.header("location")
    assert stream.header("location") == [f"{where}/stream?stream_mode=messages-tuple"]
    assert then.endswith("/join")
    await server.process.drain(0)
    for each in (stream, wait):
        await each.to_end()
        assert (each.was_cut, each.ended_cleanly) == (True, False)


@MEMORY
async def test_positions_modes_and_states_that_do_not_exist_are_refused(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server, thread_id="mine", metadata={"a": 1, "b": None})
    assert (await server.http.post("/langgraph/threads", json={"thread_id": "mine"})).json()["code"] == "thread_exists"
    empty = (await server.http.get(f"/langgraph/threads/{thread}/state")).json()
    assert (empty["values"], empty["next"]) == ({"messages": []}, [])
    await waited(server, thread, "echo")
    [run] = (await server.http.get(RUNS.format(thread))).json()
    stream = f"{RUNS.format(thread)}/{run['run_id']}/stream"
    for path, headers, status in (
        (stream, {"Last-Event-ID": "x"}, 400),
        (stream + "?stream_mode=debug", {}, 422),
        (stream + '?stream_mode=["values"]', {"Last-Event-ID": "-1"}, 200),
        (stream.replace(run["run_id"], f"{run['run_id']}_9"), {}, 404),
        (f"/langgraph/threads/{thread}/state/none", {}, 404),
        ("/langgraph/info", {}, 200),
    ):
        assert (await server.http.get(path, headers=headers)).status_code == status, path
    large = await server.http.patch(f"/langgraph/threads/{thread}", json={"metadata": {"c": "x" * 20_000}})
    assert (large.status_code, "16384 bytes" in large.json()["detail"]) == (422, True)
    minimal = await server.http.patch(
        f"/langgraph/threads/{thread}", json={"metadata": {"c": 2}}, headers={"Prefer": "return=minimal"}
    )
    assert minimal.status_code == 204
    found = (await server.http.get(f"/langgraph/threads/{thread}")).json()
    assert found["metadata"] == {"graph_id": "echo", "assistant_id": "echo", "a": 1, "c": 2}
    checkpoint = {"checkpoint": {"checkpoint_id": run["run_id"]}}
    state = await server.http.post(f"/langgraph/threads/{thread}/state/checkpoint", json=checkpoint)
    assert state.json()["values"] == found["values"]


@MEMORY
async def test_an_assistant_is_its_agent_and_has_no_other_settings(serve: Serve) -> None:
    server = await serve(app=APP)
    alone, other = {"graph_id": "echo"}, {"graph_id": "echo", "metadata": {"team": "a"}}
    for body, status in (
        (alone, 200),
        ({**alone, "assistant_id": "echo"}, 200),
        ({**alone, "assistant_id": "mine"}, 422),
        (other, 422),
        ({**other, "if_exists": "do_nothing"}, 200),
        ({"graph_id": "nothing"}, 404),
    ):
        answer = await server.http.post("/langgraph/assistants", json=body)
        assert answer.status_code == status, (body, answer.text)
    assert answer.json()["code"] == "assistant_not_found"
    found = (await server.http.post("/langgraph/assistants", json=alone)).json()
    assert found == (await server.http.get("/langgraph/assistants/echo")).json()


@MEMORY
async def test_threads_are_found_in_both_orders(serve: Serve) -> None:
    server = await serve(app=APP)
    made_ids = [await made(server, metadata={"n": n % 2}) for n in range(5)]
    for order, start, expected in (("asc", 0, [0, 2]), ("asc", 2, [4]), ("desc", 0, [4, 2]), ("desc", 1, [2, 0])):
        body = {"metadata": {"n": 0}, "sort_by": "created_at", "sort_order": order, "limit": 2, "offset": start}
        found = (await server.http.post("/langgraph/threads/search", json=body)).json()
        assert [each["thread_id"] for each in found] == [made_ids[n] for n in expected], (order, start)


@MEMORY
async def test_a_thread_is_deleted_with_the_runs_that_are_under_way(serve: Serve) -> None:
    server = await serve(app=APP)
    thread = await made(server)
    runs = [
        (await server.http.post(RUNS.format(thread), json={"assistant_id": "slow", "input": "go"})).json()["run_id"]
        for _ in range(2)
    ]
    assert (await server.http.delete(f"/langgraph/threads/{thread}")).status_code == 204
    assert (await server.http.get(f"/langgraph/threads/{thread}")).status_code == 404
    for run in runs:
        assert (await server.http.get(f"/api/runs/{run}")).status_code in (404, 410)


@MEMORY
async def test_a_wait_has_heartbeats_while_its_run_writes_what_values_do_not_show(serve: Serve) -> None:
    server = await serve(app=APP, heartbeat_seconds=0.1)
    body = {"assistant_id": "busy", "input": "go", "on_disconnect": "cancel"}
    async with asyncio.timeout(60), server.http.stream("POST", "/langgraph/runs/wait", json=body) as answer:
        pings = answer.aiter_bytes()
        assert {await anext(pings) for _ in range(2)} == {b"\n"}


async def test_an_input_with_no_messages_is_a_task_in_the_thread(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await waited(server, thread, "echo", {"messages": ["hello"]})
    values = await waited(server, thread, "counts", {"messages": [], "most": 3})
    assert [each["content"] for each in values["messages"]] == ["hello", "hello", "0 1 2"]
    again = await waited(server, thread, "echo", {"messages": ["and now"]})
    assert [each["content"] for each in again["messages"]] == ["hello", "hello", "0 1 2", "and now", "and now"]


async def test_a_task_takes_the_place_of_a_run_after_a_checkpoint(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await waited(server, thread, "echo", "hello")
    state = (await server.http.get(f"/langgraph/threads/{thread}/state")).json()
    before = state["parent_checkpoint"]["checkpoint_id"]
    values = await waited(server, thread, "counts", {"messages": [], "most": 2}, checkpoint_id=before)
    assert [each["content"] for each in values["messages"]] == ["0 1"]


async def test_a_task_follows_the_rules_for_runs_that_have_not_ended_and_for_repeats(serve: Serve) -> None:
    server = await serve(APP)
    thread = await made(server)
    await waited(server, thread, "asks")
    task = {"assistant_id": "counts", "input": {"messages": [], "most": 1}}
    key = {"Idempotency-Key": "k"}
    first = await server.http.post(RUNS.format(thread), json=task, headers=key)
    second = await server.http.post(RUNS.format(thread), json=task, headers=key)
    assert (first.status_code, second.json()["run_id"]) == (200, first.json()["run_id"])
    assert (await server.http.get(RUNS.format(thread) + f"/{first.json()['run_id']}/join")).status_code == 200
    statuses = [each["status"] for each in (await server.http.get(RUNS.format(thread))).json()]
    assert statuses == ["success", "interrupted", "interrupted"]  # the run that waited has two parts


async def test_no_messages_in_a_new_thread_are_refused(serve: Serve) -> None:
    server = await serve(APP)
    body = {"assistant_id": "counts", "input": {"messages": [], "most": 3}, "if_not_exists": "create"}
    for path in ("/langgraph/runs/wait", RUNS.format("new") + "/wait"):
        answer = await server.http.post(path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (400, "no_input")
    assert (await server.http.get("/langgraph/threads/new")).status_code == 404
