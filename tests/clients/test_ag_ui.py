"""`HttpAgent` of `@ag-ui/client` follows, answers, cancels and follows again."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, ran, resumed_through_kills, running
from tests.faces.ag_ui.test_translate import parts_of, read
from tests.faces.samples.random_logs import drawn_logs
from tests.support.eventually import eventually
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

PROGRAM = "ag_ui_client.mjs"
HELLO = "Hello, dear guest."


async def at_once(url: str, *cases: str) -> list[dict[str, Any]]:
    """Run several cases side by side, each in a separate thread."""
    return await asyncio.gather(*(ran(PROGRAM, case, url, THREAD=f"thread-{case}") for case in cases))


async def test_a_thread_has_answers_tools_files_cancels_and_errors(url: str) -> None:
    answer, tool, cancel, error, file = await at_once(url, "answer", "tool", "cancel", "error", "file")

    assert (answer["outcome"], answer["text"]) == ("success", HELLO)
    assert answer["types"][0] == "RUN_STARTED"
    assert answer["types"][-1] == "RUN_FINISHED"
    assert answer["roles"] == ["user", "reasoning", "assistant", "user", "assistant"]
    said = f"system: Be kind.\n\nPlace: Oslo; user: hello; assistant: {HELLO}; user: repeat"
    assert answer["repeated"]["text"] == said

    assert tool["text"] == "So: A-1 is paid."
    _, call, result, _ = tool["messages"]
    assert call["toolCalls"][0]["function"] == {"name": "look_up", "arguments": '{"order":"A-1"}'}
    assert (result["role"], result["toolCallId"], result["content"]) == (
        "tool",
        call["toolCalls"][0]["id"],
        "A-1 is paid",
    )

    assert (cancel["outcome"], cancel["stopped"]["status"]) == ("cancelled", "canceled")
    assert error == {
        "failed": ["RUN_ERROR", "rate_limited"],
        "unknown": [404, "RUN_ERROR", "agent_not_found"],
        "image": [400, "RUN_ERROR", "bad_request"],
    }
    assert file["text"] == "look: image/png 89504e47, application/pdf 25504446"
    assert file["next"] == ": text/plain 61626364"
    [made] = file["made"]
    assert (made["name"], made["media_type"]) == ("page.txt", "text/plain")


async def test_interrupts_and_tool_calls_are_answered_by_the_next_run(url: str, sqlite_flow: Flow) -> None:
    approval, tool, booking = await at_once(url, "approval", "client_tool", "booking")
    rejected = await ran(PROGRAM, "approval", url, THREAD="rejected", APPROVED="false")

    assert approval["asked"]["outcome"] == "interrupt"
    interrupt = approval["interrupt"]
    assert (interrupt["reason"], interrupt["message"]) == ("tool_call", "Call refund?")
    assert interrupt["responseSchema"]["required"] == ["approved"]
    assert (approval["told"]["outcome"], approval["told"]["text"]) == ("success", "So: A-1 is refunded.")
    assert approval["told"]["interrupts"] == []
    assert "too dear" in rejected["told"]["text"]

    assert (tool["asked"]["outcome"], tool["asked"]["text"]) == ("success", "Let me see.")
    assert tool["told"]["text"] == "So: rain in Kyoto."
    assert tool["roles"] == ["user", "assistant", "assistant", "tool", "assistant"]

    assert [part["outcome"] for part in booking["parts"]] == ["interrupt", "success", "interrupt", "success"]
    assert (booking["question"]["reason"], booking["question"]["message"]) == ("input_required", "Which seat?")
    assert booking["question"]["responseSchema"]["required"] == ["row"]
    assert booking["confirm"]["message"] == "Buy it?"
    status, refusal = booking["wrong"]
    assert (status, refusal["type"]) == (422, "RUN_ERROR")
    assert {"STEP_STARTED", "STEP_FINISHED"} <= set(booking["parts"][1]["types"])
    assert {"SUBAGENT_STARTED", "SUBAGENT_FINISHED"} <= set(booking["parts"][2]["types"])
    last = booking["parts"][3]
    assert last["text"] == "Bought row 12. From Oslo: 99 EUR."
    assert last["result"]["sources"] == ["https://example.com/fares", "fare_001"]
    assert booking["state"] == {"cart": 1, "seat": 12}
    assert len(await sqlite_flow.database.rows("select id from runs where face = 'ag-ui'")) == 4


async def test_a_message_while_the_agent_waits_is_refused_with_the_interrupts(url: str) -> None:
    found = await ran(PROGRAM, "reload", url)
    refused = {"status": 409, "code": "waiting", "message": "Call refund?"}
    assert found == {**refused, "text": "So: A-1 is refunded."}


async def test_the_same_run_id_follows_the_same_run_again(url: str, sqlite_flow: Flow) -> None:
    """The connection breaks after one event, then after two, and so on; in the end the client has the answer once."""
    undisturbed = await ran(PROGRAM, "resume", url, THREAD="t1")
    async with (
        CuttingProxy(lambda: [url], 1) as proxy,
        running(PROGRAM, "resume", proxy.url, THREAD="t2") as program,
    ):
        while "cut" in (found := await program.line()):
            proxy.events = (proxy.events or 0) + 1
    assert (found["text"], found["roles"]) == ("".join(COUNT), ["user", "reasoning", "assistant"])
    assert (found["text"], found["roles"]) == (undisturbed["text"], undisturbed["roles"])
    assert found["cuts"] == proxy.cuts > len(COUNT)
    assert len(await sqlite_flow.database.rows("select id from runs")) == 2, "no connection started another run"


@pytest.mark.postgres
async def test_a_killed_worker_leaves_no_text_behind(flow: Flow) -> None:
    """The worker dies in the middle of the answer while the client follows: a snapshot takes its text back."""
    api = await flow.start("api", app=APP)
    await flow.start("worker", "after.model.token:12", app=APP)
    async with running(PROGRAM, "resume", api.url, INPUT="slowly") as program:
        await flow.pods[-1].end()
        await flow.start("worker", app=APP)
        found = await program.result()
    assert (found["text"], found["roles"]) == ("".join(COUNT), ["user", "reasoning", "assistant"])
    assert "MESSAGES_SNAPSHOT" in found["types"]


@pytest.mark.postgres
async def test_the_same_run_is_followed_again_while_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    """The client reads the run from its beginning again, so each connection may have more events than the one
    before."""
    found, proxy = await resumed_through_kills(flow, PROGRAM, count(1), INPUT="slowly")
    assert (found["text"], found["roles"]) == ("".join(COUNT), ["user", "reasoning", "assistant"])
    assert found["cuts"] >= proxy.cuts > len(COUNT)
    assert len(await flow.database.rows("select id from runs")) == 1, "no connection started another run"


async def test_a_run_of_one_face_is_followed_answered_and_canceled_in_others(url: str, sqlite_flow: Flow) -> None:
    """AG-UI asks, the AI SDK's route shows the same message, and the native route answers. The client begins another
    run, which the AI SDK's route cancels."""

    async def sent(method: str, path: str, **more: Any) -> Any:
        return await sqlite_flow.request(method, path, **more)

    message = {"id": "m1", "role": "user", "content": "refund"}
    asked = await sent("POST", "/api/ag-ui/helper", json={"threadId": "t", "runId": "r1", "messages": [message]})
    assert '"type":"interrupt"' in asked.text
    seen = await sent("GET", "/api/ai/helper/t/stream")
    assert '"type":"tool-approval-request"' in seen.text
    assert seen.text.endswith("data: [DONE]\n\n")
    [wait] = (await sent("GET", "/api/waits")).json()["waits"]
    assert (await sent("POST", f"/api/approvals/{wait['wait_id']}", json={"decision": "approve"})).status_code == 200
    resume = [{"interruptId": wait["wait_id"], "status": "resolved", "payload": True}]
    rest = await sent(
        "POST", "/api/ag-ui/helper", json={"threadId": "t", "runId": "r2", "messages": [message], "resume": resume}
    )
    assert "So: " in rest.text
    assert "A-1 is refunded" in rest.text
    response = await sent("GET", f"/v1/responses/resp_{asked.headers['runyard-run-id']}")
    assert response.json()["status"] == "completed"

    async with running(PROGRAM, "resume", url, THREAD="t2", INPUT="endless") as program:
        run_id = await eventually("the client's run has begun", partial(run_in, sqlite_flow, "running"))
        stopped = await sent("POST", "/api/ai/helper/t2/stop")
        assert stopped.json() == {"runId": run_id, "status": "canceled"}
        found = await program.result()
    assert (found["outcome"], found["cuts"]) == ("cancelled", 0)


async def run_in(flow: Flow, status: str) -> str | None:
    """Return the id of a run with that status, if there is one."""
    rows = await flow.database.rows(f"select id from runs where status = '{status}'")
    return str(rows[0]["id"]) if rows else None


async def test_the_client_reads_random_logs_as_the_fold_does(url: str) -> None:
    logs = [parts_of(events) for events in drawn_logs()]
    cases = [[part for part in parts if part[-1]["type"] in ("RUN_FINISHED", "RUN_ERROR")] for parts in logs]
    lines = b"".join(json.dumps({"parts": parts}).encode() + b"\n" for parts in cases)
    async with running(PROGRAM, "laws", url) as program:
        found = (await program.result(lines))["found"]
    assert len(found) == len(cases)
    for parts, seen in zip(cases, found, strict=True):
        messages = read([event for part in parts for event in part])
        assert seen["text"] == "|".join(
            each["content"] for each in messages if each["role"] == "assistant" and each.get("content")
        )
        assert seen["calls"] == [call for each in messages for call in each.get("toolCalls", ())]
        results = [[each["toolCallId"], each["content"]] for each in messages if each["role"] == "tool"]
        assert sorted(seen["results"]) == sorted(results), "the client puts them after their calls"
