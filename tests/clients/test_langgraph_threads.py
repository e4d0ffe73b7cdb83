"""The parts of LangGraph's `useStream`, in Node: runs, tools, interrupts, stops and errors over the thread stream,
also if the connection breaks at every event and the server is killed."""

from __future__ import annotations

from itertools import count
from urllib.parse import urlsplit

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, ran, running
from tests.support.eventually import eventually
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.in_process.raw_stream import RawStream
from tests.support.scenario.flow import Flow

NODE = "langgraph_thread_client.mjs"
HELLO = [["human", "hello"], ["ai", "Hello, dear guest."]]
LOOKED = [["human", "look"], ["ai", ""], ["tool", "A-1 is paid"], ["ai", "So: A-1 is paid."]]
REFUND = {"name": "refund", "args": {"order": "A-1"}}


async def test_a_thread_has_the_messages_of_all_its_runs(url: str) -> None:
    found = await ran(NODE, "turns", url, INPUT="hello,look")
    first, second = found["found"]
    assert (first["texts"], first["calls"], first["error"]) == (HELLO, [], None)
    assert (second["texts"], second["calls"]) == ([*HELLO, *LOOKED], [["look_up", "finished", "A-1 is paid"]])
    assert found["later"]["texts"] == [*HELLO, *LOOKED, *HELLO], "a page that was loaded again"
    assert found["values"] == found["later"]["texts"]


async def test_an_interrupt_is_shown_to_every_page_and_answered_by_one(url: str, sqlite_flow: Flow) -> None:
    async with running(NODE, "approval", url) as program:
        asked = (await program.line())["asked"]
        [interrupt] = asked["interrupts"]
        assert interrupt["actionRequests"][0] | REFUND == interrupt["actionRequests"][0]
        found = await program.result()
    assert found["reloaded"]["interrupts"] == asked["interrupts"]
    assert found["last"]["texts"][-1] == found["there"]["texts"][-1] == ["ai", "So: A-1 is refunded."]
    assert (found["last"]["interrupts"], found["last"]["error"]) == ([], None)
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1


async def test_questions_tools_of_the_client_and_files_work_in_a_page(url: str) -> None:
    async with running(NODE, "questions", url) as program:
        asked = [(await program.line())["asked"] for _ in range(3)]
        found = await program.result()
    assert asked[0] == "Which seat?"
    assert asked[1]["toolCall"]["name"] == "locate"
    assert asked[2]["actionRequests"][0]["description"] == "Buy it?"
    assert found["booked"] == ["ai", "Bought row 12. From Oslo: 99 EUR."]
    assert found["seen"] == ["ai", "look: image/png 89504e47"]


async def test_a_stop_cancels_the_run_and_is_no_error(url: str) -> None:
    assert await ran(NODE, "stop", url) == {"status": "interrupted", "loading": False, "error": None}


async def test_errors_of_runs_and_commands_reach_the_page(url: str) -> None:
    found = await ran(NODE, "error", url)
    assert "rate" in found["failed"].lower()
    assert "No assistant found" in found["unknown"]


async def test_a_message_is_edited_from_the_checkpoint_before_it(url: str) -> None:
    found = await ran(NODE, "edit", url)
    assert found["texts"] == [["human", "hello one"], HELLO[1], *LOOKED]


async def test_a_page_whose_connection_breaks_at_every_event_has_the_same_answer(url: str) -> None:
    """A stream asks from its beginning again, so each may have more events than those before it."""
    undisturbed = await ran(NODE, "resume", url, INPUT="look")
    numbers = (n // 2 for n in count(2))
    async with CuttingProxy(lambda: [url], numbers=numbers) as proxy:
        found = await ran(NODE, "resume", proxy.url, INPUT="look")
    assert found == undisturbed
    assert (found["texts"], found["calls"]) == (LOOKED, [["look_up", "finished", "A-1 is paid"]])
    assert proxy.cuts > 20


async def test_a_page_has_the_same_answer_although_the_server_is_killed(any_flow: Flow) -> None:
    """Connections break, and two servers die in the middle of the answer."""
    pod = await any_flow.start("serve", "after.model.token:12", app=APP)
    async with (
        CuttingProxy(lambda: [pod.url for pod in any_flow.apis], numbers=count(1)) as proxy,
        running(NODE, "resume", proxy.url, INPUT="slowly", UNTIL="29 ") as program,
    ):
        await program.line()
        await pod.end()
        second = await any_flow.start("serve", app=APP)
        before = proxy.cuts
        await eventually("more cuts", lambda: proxy.cuts > before + 3)
        await second.kill()
        await any_flow.start("serve", app=APP)
        found = await program.result()
    assert found["texts"] == [["human", "slowly"], ["ai", "".join(COUNT)]]
    assert found["error"] is None


async def test_the_sdk_for_python_speaks_it_too(url: str) -> None:
    found = await ran("langgraph_client.py", "thread_stream", url)
    assert ("".join(found["pieces"]), found["first"]) == (HELLO[1][1], HELLO)
    assert (found["asked"], found["last"]) == ("refund", ["ai", "So: A-1 is refunded."])


@pytest.mark.postgres
async def test_a_stream_on_another_pod_learns_at_once_that_its_thread_has_a_new_run(flow: Flow) -> None:
    """Only a hint can wake it: the next heartbeat is an hour away."""
    there = await flow.start("api", app=APP, heartbeat_seconds=3600)
    here = await flow.start("serve", app=APP)
    made = await flow.http.post(f"{here.url}/langgraph/threads", json={"thread_id": "mine"})
    assert made.status_code == 200
    port = urlsplit(there.url).port or 0
    path = "/langgraph/threads/mine/stream/events"
    stream = await RawStream.open(port, path, {}, body={"channels": ["messages", "lifecycle"]})
    body = {"assistant_id": "helper", "input": "hello"}
    await flow.http.post(f"{here.url}/langgraph/threads/mine/runs", json=body)
    await stream.until(lambda: b'"event":"completed"' in stream.body)
    stream.abort()
