"""Every exceeded limit returns a problem with 413 or 429, and Retry-After if a retry can succeed."""

from typing import Any

import httpx2
import pytest

import runyard
from runyard.agents.declared.loading import App
from runyard.engine.limits import Backlogs
from runyard.errors import QueueFull, TooManyRequests
from runyard.store import Store
from runyard.web.limits.rates import BURST_SECONDS, MOST_KEYS, Rates
from tests.faces.contract.contract_client import task_request
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server
from tests.web.responses.test_problems import MEMORY, problem


def refused(answer: httpx2.Response, code: str) -> dict[str, Any]:
    assert int(answer.headers["retry-after"]) >= 1
    return problem(answer, 429, code)


async def test_requests_of_a_key_have_a_pace_and_a_burst() -> None:
    now = [100.0]
    rates = Rates(10, lambda: now[0])
    for _ in range(int(10 * BURST_SECONDS)):
        rates.take("a")
    with pytest.raises(TooManyRequests) as caught:
        rates.take("a")
    assert 0 < caught.value.retry_after <= 0.11
    rates.take("b")
    now[0] += 0.1
    rates.take("a")
    with pytest.raises(TooManyRequests):
        rates.take("a")
    for n in range(MOST_KEYS + 5):
        rates.take(f"key {n}")
    assert len(rates._done_at) == MOST_KEYS


def test_the_first_request_of_a_key_passes_whatever_the_clock_shows() -> None:
    """Near 2048 a sum of times is rounded more coarsely than the clock."""
    for n in range(100):
        now = 1100 + n / 97
        rates = Rates(0.001, lambda now=now: now)  # type: ignore[misc]
        rates.take("a")
        with pytest.raises(TooManyRequests):
            rates.take("a")


@MEMORY
async def test_a_key_that_asks_too_often_is_429(serve: Serve) -> None:
    server = await serve(keys=True, rate_per_key=0.01)
    key, other = await server.key("ann"), await server.key("bob")
    answers = [await server.http.get("/api/runs", headers={"X-API-Key": key}) for _ in range(2)]
    assert answers[0].status_code == 200
    refused(answers[1], "too_many_requests")
    assert (await server.http.get("/api/runs", headers={"X-API-Key": other})).status_code == 200
    assert (await server.http.get("/health")).status_code == 200


@MEMORY
async def test_streams_of_a_key_and_of_the_process_are_bounded_and_a_closed_one_makes_room(
    serve: Serve, gate: Gate
) -> None:
    server = await serve(keys=True, max_streams_per_key=1, max_streams=2)
    keys = [await server.key("ann") for _ in range(3)]
    server.http.headers["x-api-key"] = keys[0]
    run_id = await server.post("asks")
    path = f"/api/runs/{run_id}/log"
    first = await server.stream(path, {"x-api-key": keys[0]})
    await first.frames_to("run.waiting")
    refused(await server.http.get(path), "too_many_streams")
    second = await server.stream(path, {"x-api-key": keys[1]})
    await second.frames_to("run.waiting")
    refused(await server.http.get(path, headers={"x-api-key": keys[2]}), "too_many_streams")
    answer = await server.http.post(
        "/chats/c/interactions", json={"user_message": "hi"}, headers={"x-api-key": keys[2]}
    )
    refused(answer, "too_many_streams")
    assert (await server.http.get("/api/runs")).json()["runs"][0]["run_id"] == run_id, "nothing was started"
    await first.close()
    third = await server.stream(path, {"x-api-key": keys[2]})
    await third.frames_to("run.waiting")
    await second.close()
    await third.close()


async def test_a_lane_takes_so_many_runs_and_no_more(serve: Serve, gate: Gate) -> None:
    server = await serve(max_queued_per_lane=2)
    thread_id = await server.thread()
    first = await server.post("asks", thread_id=thread_id)
    await server.waiting(first)  # it holds the lane
    for _ in range(2):
        await server.post("happy", thread_id=thread_id)
    body = {"content": "one more", "agent": "happy"}
    refused(await server.http.post(f"/api/threads/{thread_id}/messages", json=body), "queue_full")
    await server.post("happy")  # another lane has room
    runs = (await server.http.get("/api/runs", params={"thread_id": thread_id})).json()["runs"]
    assert len(runs) == 3


@MEMORY
async def test_an_owner_has_about_so_many_runs_waiting(serve: Serve, memory_store: Store) -> None:
    server = await serve(worker=False, max_queued_per_owner=2)
    for _ in range(2):
        await server.post("happy")
    backlogs: Backlogs = server.process.engine.intake._admission.backlogs
    backlogs._counts.clear()
    backlogs.check("local")  # starts a count
    for counting in list(backlogs._counting):
        await counting
    with pytest.raises(QueueFull):
        backlogs.check("local")
    thread_id = await server.thread()
    body = {"content": "one more", "agent": "happy"}
    refused(await server.http.post(f"/api/threads/{thread_id}/messages", json=body), "queue_full")
    channel = (await server.http.post("/api/channels", json={"name": "all", "agents": ["happy"]})).json()["id"]
    refused(await server.http.post("/api/messages", json={"channelId": channel, "text": "hi"}), "queue_full")
    refused(await server.http.post("/agents/runs", json={"runId": "r1"}), "queue_full")
    refused(await server.http.post("/chats/c/interactions", json={"user_message": "hi"}), "queue_full")
    for how in ("sync", "stream"):
        answer = await server.http.post(f"/agents/run/{how}", json=task_request("happy"))
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "QUEUE_FULL")
        assert int(answer.headers["retry-after"]) >= 1


@MEMORY
async def test_a_message_that_is_too_long_is_413(serve: Serve) -> None:
    server = await serve(max_message_chars=5)
    thread_id = await server.thread()
    await server.post("happy", "12345", thread_id)
    answer = await server.http.post(f"/api/threads/{thread_id}/messages", json={"content": "123456"})
    problem(answer, 413, "too_large")
    channel = (await server.http.post("/api/channels", json={"name": "all", "agents": []})).json()["id"]
    answer = await server.http.post("/api/messages", json={"channelId": channel, "text": "123456"})
    problem(answer, 413, "too_large")


@MEMORY
async def test_a_body_that_is_too_large_is_413(serve: Serve) -> None:
    server = await serve(max_body_bytes=100)
    problem(await server.http.post("/api/threads", content=b" " * 101), 413, "too_large")
    assert 'runyard_requests_refused_total{code="too_large"} 1.0' in (await server.http.get("/metrics")).text


@runyard.tool(effects="none")
async def shout(times: int) -> str:
    return "x" * times


@runyard.agent
async def caller(ctx: runyard.Context) -> str:
    try:
        return f"got {len(await ctx.call(shout, times=int(ctx.message.text)))}"
    except runyard.errors.ToolFailed as failure:
        return failure.error


@runyard.agent
async def writer(ctx: runyard.Context) -> None:
    await ctx.token("x" * int(ctx.message.text))


@runyard.agent
async def stepper(ctx: runyard.Context) -> str:
    return str(len(await ctx.step("shout", lambda: "x" * int(ctx.message.text))))


@runyard.agent
async def answerer(ctx: runyard.Context) -> str:
    return "x" * int(ctx.message.text)


@runyard.agent
async def rememberer(ctx: runyard.Context) -> str:
    return " ".join(str(len(message.text)) for message in await ctx.history())


thinker = runyard.Agent("thinker", model="scripted", turns=[{"text": ["x" * 2500, "x" * 2500]}])
LARGE = App({agent.name: agent for agent in (caller, writer, stepper, answerer, rememberer, thinker)}, {}, "caller")


async def said(server: Server, agent: str, text: str, thread_id: str | None = None) -> dict[str, Any]:
    run_id = await server.post(agent, text, thread_id)
    await server.ended(run_id)
    return dict((await server.http.get(f"/api/runs/{run_id}/state")).json())


@MEMORY
async def test_a_tool_that_returns_too_much_fails_and_the_agent_is_told(serve: Serve) -> None:
    server = await serve(LARGE, max_tool_output_bytes=1000)
    assert (await said(server, "caller", "500"))["output"]["text"] == "got 500"
    assert (await said(server, "caller", "5000"))["output"]["text"] == "output_too_large"


@MEMORY
async def test_a_run_that_writes_too_large_an_event_ends_as_an_error_that_names_the_limit(serve: Serve) -> None:
    server = await serve(LARGE, max_event_bytes=1000)
    assert (await said(server, "stepper", "500"))["status"] == "done"
    failed = await said(server, "stepper", "5000")
    assert (failed["status"], failed["error"]["code"]) == ("error", "event_too_large")
    assert "1000 bytes" in failed["error"]["message"]
    assert "RUNYARD_MAX_EVENT_BYTES" in failed["error"]["message"]


@pytest.mark.parametrize("agent", ["writer", "answerer", "thinker"])
async def test_an_answer_may_be_larger_than_one_event(serve: Serve, agent: str) -> None:
    server = await serve(LARGE, max_event_bytes=1000)
    run_id = await server.post(agent, "5000")
    whole = (await server.ended(run_id)).wire[-2]
    assert whole[0] == "final"
    assert whole[1]["text"] == "x" * 5000
    log = await server.log(run_id)
    tokens = [event["data"]["text"] for event in log if event["type"] == "model.token"]
    assert all(len(text) < 1000 for text in tokens)
    assert agent == "answerer" or "".join(tokens) == "x" * 5000
    thread = (await server.http.get(f"/api/threads/{(await server.run(run_id))['thread_id']}")).json()
    assert thread["messages"][-1]["content"] == "x" * 5000


@MEMORY
@pytest.mark.parametrize("agent", ["writer", "answerer", "thinker"])
async def test_an_answer_that_is_too_large_ends_as_an_error_that_names_the_limit(serve: Serve, agent: str) -> None:
    server = await serve(LARGE, max_event_bytes=1000, max_answer_bytes=3000)
    failed = await said(server, agent, "5000")
    assert (failed["status"], failed["error"]["code"]) == ("error", "answer_too_large")
    assert "3000 bytes" in failed["error"]["message"]
    assert "RUNYARD_MAX_ANSWER_BYTES" in failed["error"]["message"]


@MEMORY
async def test_an_answer_of_two_megabytes_is_not_too_large(serve: Serve) -> None:
    server = await serve(LARGE)
    state = await said(server, "writer", "2000000")
    assert (state["status"], len(state["output"]["text"])) == ("done", 2_000_000)


@MEMORY
async def test_an_agent_is_told_no_more_of_the_past_than_fits(serve: Serve) -> None:
    server = await serve(LARGE, max_history_chars=100)
    thread_id = await server.thread()
    for text in ("70", "30", "20"):
        await said(server, "answerer", text, thread_id)
    assert (await said(server, "rememberer", "what?", thread_id))["output"]["text"] == "2 30 2 20"
