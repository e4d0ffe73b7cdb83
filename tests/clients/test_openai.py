"""The library `openai`, for Python and for Node, follows, continues, cancels and resumes runs."""

from typing import Any

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, make_key, ran, resumed_through_kills, running
from tests.support.eventually import eventually
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

PYTHON, NODE = "openai_client.py", "openai_client.mjs"
BOTH = pytest.mark.parametrize("program", [PYTHON, NODE])
HELLO = "Hello, dear guest."


@BOTH
async def test_an_answer_is_retrieved_as_it_was_given(url: str, program: str) -> None:
    found = await ran(program, "answer", url)
    assert (found["status"], found["text"], found["items"]) == ("completed", HELLO, ["reasoning", "message"])


async def test_a_stream_has_the_events_that_the_library_assembles_a_response_from(url: str) -> None:
    found = await ran(PYTHON, "stream", url)
    assert (found["text"], found["tokens"]) == (HELLO, 8)
    assert found["types"][0] == "response.created"
    assert found["types"][-1] == "response.completed"
    assert found["types"].count("response.output_text.delta") == 3


async def test_a_tool_of_the_server_is_an_item_with_its_input_and_output(url: str) -> None:
    found = await ran(PYTHON, "tool", url)
    assert found["call"] == ["look_up", '{"order":"A-1"}', "A-1 is paid", "completed"]
    assert found["text"] == "So: A-1 is paid."
    assert (await ran(NODE, "stream", url))["text"] == found["text"]


async def test_results_of_client_tools_continue_the_same_run_once(url: str, sqlite_flow: Flow) -> None:
    found = await ran(PYTHON, "client_tool", url)
    first, second = found["first"], found["second"]
    assert first["items"] == ["message", "function_call"]
    assert (first["text"], second["text"]) == ("Let me see.", "So: rain in Kyoto.")
    assert second["id"] == f"{first['id']}_2"
    assert second["previous"] == first["id"]
    assert found["again"] == second, "the same results again lead to the same response"
    assert "No tool output found" in found["refused"]
    assert [item["output"] for item in found["items"]] == ["rain in Kyoto"]
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1


async def test_client_tools_work_in_node(url: str) -> None:
    found = await ran(NODE, "client_tool", url)
    assert found["second"]["text"] == "So: rain."


async def test_an_app_that_keeps_the_conversation_itself_needs_no_ids_of_responses(url: str) -> None:
    found = await ran(PYTHON, "stateless", url)
    assert found["text"] == "So: rain."
    system, *said = found["repeated"].split("; ")
    assert system == "system: Be kind.\n\nBe brief."
    assert [each.partition(":")[0] for each in said] == ["user", "assistant", "assistant", "tool", "assistant", "user"]


async def test_responses_continue_from_the_one_that_the_client_names(url: str) -> None:
    found = await ran(PYTHON, "chain", url)
    start = f"system: Be kind.; user: hello; assistant: {HELLO}; user: repeat "
    assert found == {name: start + name for name in ("two", "beside", "four")}


@BOTH
async def test_a_stream_survives_the_heartbeats_while_a_person_decides_elsewhere(
    sqlite_flow: Flow, program: str
) -> None:
    pod = await sqlite_flow.start("serve", app=APP, heartbeat_seconds=0.1)
    async with CuttingProxy(lambda: [pod.url], None) as proxy, running(program, "approval", proxy.url) as client:
        [wait] = (await client.line())["waits"]
        assert (wait["kind"], wait["name"]) == ("tool", "refund")

        async def heartbeats() -> bool:
            return proxy.heartbeats >= 3

        await eventually("the client has got heartbeats", heartbeats)
        decided = await sqlite_flow.request("POST", f"/api/approvals/{wait['id']}", json={"decision": "approve"})
        assert decided.status_code == 200
        found = await client.result()
    assert (found["status"], found["text"]) == ("completed", "So: A-1 is refunded.")


@BOTH
async def test_a_request_without_a_stream_is_not_repeated_at_the_timeout_of_the_library(
    url: str, sqlite_flow: Flow, program: str
) -> None:
    found = await ran(program, "impatient", url)
    assert found["found"] == [["still_running", "in_progress"]] * 2
    assert len(await sqlite_flow.database.rows("select id from runs")) == 2


@BOTH
async def test_a_cancel_ends_the_run_and_the_stream_says_so(url: str, program: str) -> None:
    found = await ran(program, "cancel", url)
    assert (found["last"], found["status"]) == ("response.incomplete", "cancelled")


@BOTH
async def test_images_and_files_reach_the_agent(url: str, program: str) -> None:
    found = await ran(program, "files", url)
    assert found["response"] == "look: image/png 89504e47, application/pdf 25504446"
    assert found["chat"] == "see: image/png 89504e47"
    assert found["made"] == "page.txt"
    assert found["input"] == [["input_text", "look"], ["input_image", None], ["input_file", None]]


async def test_a_response_that_the_client_deletes_is_gone(url: str, sqlite_flow: Flow) -> None:
    assert "There is no response with that id." in (await ran(PYTHON, "delete", url))["gone"]
    assert await sqlite_flow.database.rows("select id from runs") == []
    sqlite_flow.is_checked = True  # the checker would miss the events that were deleted


async def test_errors_are_those_of_the_library(url: str) -> None:
    found = await ran(PYTHON, "error", url)
    assert found == {
        "failed": ["failed", "rate_limit_exceeded"],
        "model": ["NotFoundError", "model_not_found"],
        "image": ["BadRequestError", "bad_request"],
        "tool": ["BadRequestError", "bad_request"],
        "format": ["BadRequestError", "bad_request"],
        "unknown": ["UnprocessableEntityError", "invalid"],
        "previous": ["NotFoundError", "not_found"],
        "chat": ["InternalServerError", "rate_limit_exceeded"],
        "chat stream": ["APIError", "rate_limit_exceeded"],
    }
    same = ("failed", "model", "tool", "previous", "chat")
    assert await ran(NODE, "error", url) == {name: found[name] for name in same}


async def test_the_key_of_the_library_is_a_key_of_the_server(sqlite_flow: Flow) -> None:
    key = await make_key(sqlite_flow)
    pod = await sqlite_flow.start("serve", app=APP, keys="needed")
    found = await ran(PYTHON, "key", pod.url, API_KEY=key)
    assert found == {"code": "key_required", "models": ["airline", "fares", "helper", "printer", "viewer"]}


async def test_chat_completions_get_the_history_and_continue_a_run_with_results(url: str, sqlite_flow: Flow) -> None:
    found = await ran(PYTHON, "chat", url)
    assert (found["text"], found["streamed"], found["tokens"]) == (HELLO, HELLO, 8)
    assert found["id"] == f"chatcmpl-{found['run']}"
    said = "system: Be kind.; system: Be brief.; user: hello; assistant: {}; user: repeat"
    assert found["repeated"] == said.format(HELLO)
    assert found["asked"] == ["tool_calls", "get_weather", '{"city":"Kyoto"}']
    assert found["told"] == ["stop", "So: rain."]
    assert len(await sqlite_flow.database.rows("select id from runs")) == 4, "the results started no run"
    assert await ran(NODE, "chat", url) == {"text": HELLO, "whole": HELLO}


# --- connections that break


def assert_complete(found: dict[str, Any]) -> None:
    """The client has every event once, in order, and the answer."""
    assert [number for number, _ in found["seen"]] == list(range(len(found["seen"])))
    assert (found["status"], found["text"]) == ("completed", "".join(COUNT))


@BOTH
async def test_a_client_whose_connection_breaks_at_every_event_has_the_same_answer(url: str, program: str) -> None:
    undisturbed = await ran(program, "resume", url)
    async with CuttingProxy(lambda: [url]) as proxy:
        found = await ran(program, "resume", proxy.url)
    assert_complete(undisturbed)
    assert_complete(found)
    assert [kind for _, kind in found["seen"]] == [kind for _, kind in undisturbed["seen"]]
    assert found["connections"] == len(found["seen"]) == proxy.cuts
    assert undisturbed["connections"] == 1


@pytest.mark.postgres
@BOTH
async def test_a_client_resumes_at_every_event_while_a_worker_and_a_server_are_killed(flow: Flow, program: str) -> None:
    found, _ = await resumed_through_kills(flow, program, 1)
    assert [number for number, _ in found["seen"]] == list(range(len(found["seen"])))
    assert (found["status"], found["text"]) == ("completed", "".join(COUNT))
    assert found["items"] == ["reasoning", "message"], "what the killed worker wrote is not part of the answer"
    assert found["connections"] >= len(found["seen"])
