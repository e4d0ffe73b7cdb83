"""The SDKs of LangGraph, for Python and for Node, follow, answer, cancel and resume runs."""

import asyncio
from typing import Any

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, ran, resumed_through_kills, running
from tests.support.eventually import eventually
from tests.support.fakes.push_receiver import PushReceiver
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

PYTHON, NODE = "langgraph_client.py", "langgraph_client.mjs"
HELLO = "Hello, dear guest."
SAID = [["human", "hello"], ["ai", HELLO]]
LOOKED = [["human", "look"], ["ai", ""], ["tool", "A-1 is paid"], ["ai", "So: A-1 is paid."]]


async def test_an_answer_is_the_state_of_its_thread(url: str) -> None:
    found = await ran(PYTHON, "answer", url)
    assert found["texts"] == found["alone"] == SAID
    assert found["status"] == ["success", "idle", []]
    assert found["reasoning"] == {"reasoning_content": "hm, a guest"}
    assert found["assistants"] == ["airline", "fares", "helper", "printer", "viewer"]
    assert await ran(NODE, "answer", url) == {"texts": SAID, "same": True, "status": "success"}


async def test_a_stream_has_the_events_of_its_modes(url: str) -> None:
    plain = await ran(PYTHON, "stream", url, INPUT="hello")
    assert plain["events"] == ["metadata", "values", *["messages"] * 5, "updates", "values", "end"]
    assert plain["text"] == HELLO
    tool = await ran(PYTHON, "stream", url, INPUT="look")
    assert [[each["type"], each["content"]] for each in tool["values"]["messages"]] == LOOKED
    [call] = tool["values"]["messages"][1]["tool_calls"]
    assert (call["name"], call["args"]) == ("look_up", {"order": "A-1"})
    assert tool["values"]["messages"][2]["tool_call_id"] == call["id"]
    node = await ran(NODE, "stream", url)
    assert (node["events"], node["text"], node["same"]) == (tool["events"], tool["text"], True)
    assert [[each["type"], each["content"]] for each in node["values"]["messages"]] == LOOKED


async def test_threads_have_names_metadata_copies_and_a_history(url: str) -> None:
    found = await ran(PYTHON, "threads", url)
    about = {"user": "ann", "topic": "rain", "graph_id": "helper", "assistant_id": "helper"}
    assert found["same"]
    assert {"thread_id": "my-thread", "metadata": about} in found["found"]
    assert found["history"] == [6, 2]
    assert found["copied"] == [*SAID, *LOOKED, ["human", "hello again"], ["ai", HELLO]]
    assert found["left"] == [False, True], "the copy, and the thread"


async def test_an_approval_is_an_interrupt_that_a_command_resumes(url: str, sqlite_flow: Flow) -> None:
    async with running(PYTHON, "approval", url) as program:
        asked = await program.line()
        [action] = asked["interrupt"]["value"]["action_requests"]
        assert (action["name"], action["args"]) == ("refund", {"order": "A-1"})
        assert asked["status"] == ["interrupted", "interrupted"]
        found = await program.result()
    assert found["events"][0][-3:] == ["updates", "values", "end"]
    assert found["events"][1][0] == "metadata"
    [_, _, *rest] = found["texts"]
    assert rest[-1][1].endswith("B-2 is refunded.")
    assert found["runs"] == [["_2", "success"], ["", "interrupted"]]
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1, "both are parts of one run"
    node = await ran(NODE, "approval", url)
    assert node["asked"] == "refund"
    assert "too late" in node["texts"][-1][1]


def kind(asked: Any) -> Any:
    """Return the value of an interrupt without ids."""
    return {name: value for name, value in asked.items() if name != "toolCall"} if isinstance(asked, dict) else asked


async def test_questions_and_tools_of_the_client_are_interrupts(url: str) -> None:
    found = await ran(PYTHON, "questions", url)
    [asked, tool, confirmed] = found["seen"]
    assert asked == ["Which seat?", True]
    assert tool[0]["toolCall"]["name"] == "locate"
    assert confirmed[0]["action_requests"][0]["description"] == "Buy it?"
    assert found["refused"] == 422, "an answer that does not fit"
    assert (found["texts"][-1], found["seat"]) == (["ai", "Bought row 12. From Oslo: 99 EUR."], 12)

    node = await ran(NODE, "questions", url)
    assert [kind(each) for each in node["seen"]] == [kind(each[0]) for each in found["seen"]]
    assert (node["last"], node["seat"]) == (found["texts"][-1], 12)


async def test_files_reach_the_agent_and_come_from_it(url: str) -> None:
    python, node = await asyncio.gather(ran(PYTHON, "files", url), ran(NODE, "files", url))
    for found in (python, node):
        assert found["seen"] == "look: image/png 89504e47, text/plain 68656c6c"
        [file] = found["made"]["files"]
        assert (file["name"], file["media_type"]) == ("page.txt", "text/plain")


async def test_a_cancel_ends_the_run_and_the_stream_says_so(url: str) -> None:
    found = await ran(PYTHON, "cancel", url)
    assert found == {"last": ["error", "UserInterrupt"], "status": "interrupted"}
    assert await ran(NODE, "cancel", url) == {"last": "error", "status": "interrupted"}


async def test_messages_wait_interrupt_or_are_refused_while_a_run_is_under_way(url: str) -> None:
    found = await ran(PYTHON, "several", url)
    assert found["refused"] == {"reject": ["ConflictError", "run_active"]}
    assert found["rolled"] == [*LOOKED, *SAID], "the messages of the run that was rolled back are gone"
    assert found["undone"] == "interrupted"
    assert (found["before"], found["status"], found["last"]) == ("busy", "interrupted", ["ai", HELLO])


async def test_messages_are_added_to_a_thread_without_a_run_of_the_agent(url: str) -> None:
    found = await ran(PYTHON, "updates", url)
    assert found["first"] == [["human", "I am Ann."], ["ai", "Hello, Ann."]]
    assert found["checkpoint"]
    said = "user: I am Ann.; assistant: Hello, Ann.; assistant: How are you?; user: repeat"
    assert found["repeated"] == f"system: Be kind.; {said}", "the model gets them"
    assert found["last"] == [*found["first"], ["human", "Good "], ["human", "bye."]], "later runs are superseded"
    assert found["refused"] == {
        "values": ["UnprocessableEntityError", "unsupported"],
        "empty": ["BadRequestError", "no_messages"],
        "none": ["UnprocessableEntityError", "unsupported"],
        "changed": ["UnprocessableEntityError", "unsupported"],
        "busy": ["ConflictError", "run_active"],
    }


async def test_threads_are_counted_sorted_and_filtered_and_runs_started_and_canceled_in_groups(url: str) -> None:
    found = await ran(PYTHON, "lists", url)
    assert found["counts"] == [3, 1, 1, 0]
    assert (found["newest"], found["history"], found["canceled"]) == (True, [4], "interrupted")
    assert (found["assistants"], found["versions"]) == ([5, 1], [1])
    assert (found["schema"], found["nodes"]) == (["messages"], ["__start__", "helper", "__end__"])
    assert found["subgraphs"] == {}


async def test_a_webhook_gets_every_end_although_the_server_was_killed(any_flow: Flow) -> None:
    """The receiver does not answer while the second run ends: its end is committed and not delivered when the server is
    killed. Another server delivers it."""
    settings: dict[str, Any] = {"app": APP, "push_allow": "127.0.0.1", "push_timeout_seconds": 2}
    server = await any_flow.start("serve", **settings)
    async with PushReceiver() as receiver:
        receiver.is_silent = True
        found = await ran(PYTHON, "webhook", server.url, HOOK=receiver.url)
        await eventually("a delivery is under way", lambda: receiver.waiting)
        await server.kill()
        receiver.is_silent = False
        await any_flow.start("serve", **settings)
        await eventually("it is told of both ends", lambda: len({each.path for each in receiver.received}) == 2)
        first, second = sorted((each for each in receiver.received), key=lambda each: each.path)[:2]
    assert [each.path for each in (first, second)] == ["/hook/first", "/hook/second"]
    assert (first.body["status"], second.body["status"]) == ("interrupted", "success")
    assert first.body["thread_id"] == second.body["thread_id"] == found["thread"]
    assert second.body["run_id"] == f"{first.body['run_id']}_2"
    assert first.body["metadata"] == {"a": 1}
    assert len(first.body["values"]["__interrupt__"]) == 1
    assert second.body["values"]["messages"][-1]["content"] == "So: A-1 is refunded."


async def test_errors_are_those_of_the_library(url: str) -> None:
    assert await ran(PYTHON, "error", url) == {
        "failed": "rate_limited",
        "stream": "rate_limited",
        "assistant": ["NotFoundError", "assistant_not_found"],
        "thread": ["NotFoundError", "not_found"],
        "input": ["BadRequestError", "no_input"],
        "message": ["BadRequestError", "bad_request"],
        "later": ["UnprocessableEntityError", "unsupported"],
        "mode": ["UnprocessableEntityError", "invalid"],
        "webhook": ["UnprocessableEntityError", "invalid"],
        "resume": ["ConflictError", "nothing_to_resume"],
    }
    node = await ran(NODE, "error", url)
    assert (node["failed"].partition(":")[0], node["status"]) == ("rate_limited", 404)


# --- connections that break


def assert_same(found: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    """The client has every event once, in order, and the same answer."""
    assert len(set(found["ids"])) == len(found["ids"])
    assert (found["ids"], found["events"]) == (undisturbed["ids"], undisturbed["events"])
    assert (found["text"], found["events"][-1]) == (undisturbed["text"], "end")
    same = [[each["type"], each["content"]] for each in undisturbed["values"]["messages"]]
    assert [[each["type"], each["content"]] for each in found["values"]["messages"]] == same


async def test_a_client_whose_connection_breaks_at_every_event_has_the_same_answer(url: str) -> None:
    undisturbed = await ran(PYTHON, "resume", url)
    async with CuttingProxy(lambda: [url]) as every, CuttingProxy(lambda: [url], 3) as third:
        # both wait a second or more before they reconnect; the client for Node gives up after five cuts
        python, node = await asyncio.gather(ran(PYTHON, "resume", every.url), ran(NODE, "resume", third.url))
    assert_same(python, undisturbed)
    assert_same(node, undisturbed)
    assert (every.cuts, third.cuts) == (len(undisturbed["events"]), len(undisturbed["events"]) // 3)


@pytest.mark.postgres
async def test_a_client_resumes_on_other_pods_while_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    """The client waits a second before it reconnects, so not every event is a cut."""
    found, proxy = await resumed_through_kills(flow, PYTHON, 12, INPUT="count")
    assert found["events"][-1] == "end"
    assert len(set(found["ids"])) == len(found["ids"]) > 30
    [_, answer] = found["values"]["messages"]
    assert answer["content"] == "".join(COUNT), "what the killed worker wrote is not part of the answer"
    assert proxy.cuts >= 2


@pytest.mark.postgres
async def test_the_client_for_node_resumes_while_a_worker_and_a_server_are_killed(flow: Flow) -> None:
    """It gives up after five cuts, so there are fewer."""
    found, proxy = await resumed_through_kills(flow, NODE, 15, INPUT="slowly")
    assert found["events"][-1] == "end"
    assert len(set(found["ids"])) == len(found["ids"]) > 30
    assert found["values"]["messages"][-1]["content"] == "".join(COUNT)
    assert proxy.cuts >= 2


@pytest.mark.postgres
async def test_a_client_that_waits_asks_the_next_server_when_the_first_is_killed(flow: Flow) -> None:
    first = await flow.start("api", app=APP)
    async with (
        CuttingProxy(lambda: [pod.url for pod in flow.apis], None) as proxy,
        running(PYTHON, "wait", proxy.url) as program,
    ):
        created = await program.line()
        await first.kill()
        await flow.start("api", app=APP)
        await flow.start("worker", app=APP)
        found = await program.result()
    assert found["texts"] == SAID
    assert [row["id"] for row in await flow.database.rows("select id::text from runs")] == [created["run_id"]]
