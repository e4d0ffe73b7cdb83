"""The AI SDK follows, answers, cancels and resumes runs: `ai` with `DefaultChatTransport`, and `@ai-sdk/workflow` with
`WorkflowChatTransport`."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import Any

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, make_key, ran, resumed_through_kills, running
from tests.faces.ai_sdk.message_reader import read
from tests.faces.ai_sdk.test_translate import sent, translated
from tests.faces.samples.random_logs import drawn_logs
from tests.support.eventually import eventually
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

PROGRAM = "ai_sdk_client.mjs"
BOTH = pytest.mark.parametrize("transport", ["default", "workflow"])
HELLO = "Hello, dear guest."
STEP = "step-start"


async def at_once(url: str, transport: str, *cases: str, **variables: str) -> dict[str, dict[str, Any]]:
    """Run several cases side by side, each in a separate chat."""
    found = await asyncio.gather(
        *(ran(PROGRAM, case, url, TRANSPORT=transport, CHAT=f"chat-{case}", **variables) for case in cases)
    )
    return dict(zip(cases, found, strict=True))


@BOTH
async def test_a_message_that_the_client_queues_while_an_approval_is_open_is_sent_after_the_answer(
    url: str, transport: str
) -> None:
    found = await ran(PROGRAM, "queue", url, TRANSPORT=transport)
    said = ["refund", "So: A-1 is refunded.", "look", "So: A-1 is paid."]
    assert found == {"queued": 1, "said": said}


@BOTH
async def test_a_chat_has_answers_tools_edits_and_errors(url: str, transport: str, sqlite_flow: Flow) -> None:
    found = await at_once(url, transport, "answer", "tool", "edit", "error", "cancel", "file")

    answer = found["answer"]
    assert (answer["status"], answer["text"], answer["parts"]) == ("ready", HELLO, [STEP, "reasoning", "text"])
    assert answer["metadata"]["runId"] == answer["id"]
    assert answer["metadata"]["usage"] == {"inputTokens": 5, "outputTokens": 3}
    said = f"system: Be kind.; user: hello; assistant: {HELLO}; user: repeat"
    assert answer["repeated"] == said, "the chat is a thread: the second message has the history"

    tool = found["tool"]
    assert tool["parts"] == [STEP, "tool-look_up", STEP, "text"]
    [call] = tool["tools"]
    assert (call["state"], call["input"], call["output"]) == ("output-available", {"order": "A-1"}, "A-1 is paid")
    assert tool["text"] == "So: A-1 is paid."

    edit = found["edit"]
    assert edit["again"] == "So: A-1 is paid."
    assert (edit["text"], edit["messages"]) == (said, 4), "the edited message replaced the one before it"

    error = found["error"]
    assert (error["status"], error["failed"][-14:]) == ("error", "(rate_limited)")
    assert "declares no agent" in error["unknown"]
    assert "not of the type image/png" in error["file"]
    assert "`tools`" in error["misspelled"]

    assert found["file"]["text"] == "look: image/png 89504e47"
    assert found["file"]["made"] == ["text/plain", "printed"]

    cancel = found["cancel"]
    assert cancel["stopped"] == {"runId": cancel["id"], "status": "canceled"}
    assert (cancel["status"], cancel["metadata"]["status"]) == ("ready", "canceled")
    [canceled] = await sqlite_flow.database.rows("select status from runs where id = '" + cancel["id"] + "'")
    assert canceled["status"] == "canceled"


@BOTH
async def test_a_chat_answers_what_its_agent_waits_for(url: str, transport: str, sqlite_flow: Flow) -> None:
    found = await at_once(url, transport, "approval", "client_tool", "booking")
    rejected = await ran(PROGRAM, "approval", url, TRANSPORT=transport, CHAT="rejected", APPROVED="false")

    approval = found["approval"]
    assert [call["state"] for call in approval["asked"]["tools"]] == ["approval-requested"]
    assert "waits for an answer" in approval["refused"]
    assert [(call["state"], call["output"]) for call in approval["tools"]] == [("output-available", "A-1 is refunded")]
    assert (approval["text"], approval["messages"]) == ("So: A-1 is refunded.", 2)
    assert [call["state"] for call in rejected["tools"]] == ["output-denied"]
    assert "too dear" in rejected["text"]

    tool = found["client_tool"]
    assert (tool["text"], tool["calls"]) == ("Let me see.So: rain in Kyoto.", 1)
    assert [(call["type"], call["output"]) for call in tool["tools"]] == [("tool-get_weather", "rain in Kyoto")]

    booking = found["booking"]
    assert [kind for kind, _ in booking["asked"]] == ["tool-ask", "tool-locate", "tool-confirm"]
    assert booking["asked"][0][1]["question"] == "Which seat?"
    assert booking["asked"][0][1]["schema"]["required"] == ["row"]
    assert booking["asked"][2][1] == {"question": "Buy it?", "price": 99}
    assert booking["text"] == "Bought row 12. From Oslo: 99 EUR."
    assert {"source-url", "source-document"} <= set(booking["parts"])
    data = {each["type"]: each["data"] for each in booking["data"]}
    assert data["data-step"] == {"name": "reserve", "state": "done"}
    assert (data["data-wait"]["kind"], data["data-wait"]["state"]) == ("child", "answered")
    assert data["data-outputs"] == {"seat": 12}
    runs = await sqlite_flow.database.rows("select id from runs where face = 'ai'")
    assert len(runs) == 4, "answers start no run"


async def test_an_approval_needs_a_key_with_its_scope(sqlite_flow: Flow) -> None:
    key = await make_key(sqlite_flow, "read", "write")
    pod = await sqlite_flow.start("serve", app=APP, keys="needed")
    unapproved = await ran(PROGRAM, "approval", pod.url, API_KEY=key, TRANSPORT="default")
    assert "scope `approve`" in unapproved["error"]
    assert [call["state"] for call in unapproved["tools"]] == ["approval-responded"], "the tool was not called"


async def test_a_page_that_is_opened_again_has_the_whole_answer(url: str, sqlite_flow: Flow) -> None:
    """The run is answered over another face meanwhile; the page follows it to its end."""
    async with running(PROGRAM, "reload", url, TRANSPORT="default", CHAT="c1") as program:
        await program.line()
        [wait] = (await sqlite_flow.request("GET", "/api/waits")).json()["waits"]
        await sqlite_flow.request("POST", f"/api/waits/{wait['wait_id']}", json={"value": "Oslo"})

        async def asks() -> bool:
            waits = (await sqlite_flow.request("GET", "/api/waits")).json()["waits"]
            return [each["kind"] for each in waits] == ["confirmation"]

        await eventually("the run asks for a confirmation", asks)
        found = await program.result(b"\n")
    second = found["second"]
    assert second["id"] == found["first"]["id"]
    assert [call["state"] for call in second["tools"]] == ["output-available", "output-available", "approval-requested"]
    assert (second["status"], found["none"]) == ("ready", "ready")
    assert found["tail"] == ["tool-input-available", "tool-approval-request", "finish-step", "finish"]


# --- connections that break


async def test_a_cursor_resumes_although_the_connection_breaks_at_every_event(url: str) -> None:
    undisturbed = await ran(PROGRAM, "resume", url, TRANSPORT="workflow", CHAT="c1")
    async with CuttingProxy(lambda: [url]) as proxy:
        found = await ran(PROGRAM, "resume", proxy.url, TRANSPORT="workflow", CHAT="c2")
    assert (found["text"], found["status"], found["cuts"]) == ("".join(COUNT), "ready", 0)
    assert found["parts"] == undisturbed["parts"]
    assert proxy.cuts > len(COUNT)


async def test_a_client_without_a_cursor_gets_the_answer_from_its_beginning(url: str) -> None:
    async with (
        CuttingProxy(lambda: [url], 5) as proxy,
        running(PROGRAM, "resume", proxy.url, TRANSPORT="default") as program,
    ):
        for _ in range(2):
            assert "cut" in await program.line()
        proxy.events = None
        found = await program.result()
    assert (found["text"], found["status"], found["messages"]) == ("".join(COUNT), "ready", 2)


@pytest.mark.postgres
async def test_a_cursor_resumes_at_every_event_while_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    found, proxy = await resumed_through_kills(flow, PROGRAM, 1, TRANSPORT="workflow", INPUT="slowly")
    assert (found["text"], found["status"]) == ("".join(COUNT), "ready")
    assert found["cuts"] == 0, "the client asked for the whole answer again"
    assert found["parts"] == [STEP, "reasoning", "text"], "what the killed worker wrote is gone"
    assert proxy.cuts > len(COUNT)


@pytest.mark.postgres
async def test_a_client_without_a_cursor_has_the_answer_although_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    """It reads the answer from its beginning again, so each connection may have more events than the one before."""
    found, proxy = await resumed_through_kills(flow, PROGRAM, count(1), TRANSPORT="default", INPUT="slowly")
    assert (found["text"], found["status"], found["messages"]) == ("".join(COUNT), "ready", 2)
    assert found["cuts"] >= proxy.cuts > len(COUNT)


# --- laws, read by the SDK itself


async def test_the_sdk_reads_random_logs_as_the_fold_does(url: str) -> None:
    cases = [(events, sent(events, 1, translated(events)[0].state.part)) for events in drawn_logs()]
    async with running(PROGRAM, "laws", url) as program:
        found = (await program.result(b"".join(json.dumps(chunks).encode() + b"\n" for _, chunks in cases)))["found"]
    assert len(found) == len(cases)
    for (_, chunks), message in zip(cases, found, strict=True):
        expected = read(chunks)
        assert message["text"] == expected.text
        assert message["tools"] == [shown(tool) for tool in expected.tools]
        assert message.get("error") == expected.error
        parts = [part for part in expected.parts if part["type"] == "file" or part["type"].startswith("source-")]
        assert message["attached"] == parts


def shown(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a call as the program prints it."""
    state = "approval-requested" if tool["state"] == "approval-request" else tool["state"]
    found = {"type": tool["type"], "state": state, "input": tool["input"]}
    if state == "output-error":
        found["error"] = tool["said"]
    if state == "output-available":
        found["output"] = tool["output"]
    return found
