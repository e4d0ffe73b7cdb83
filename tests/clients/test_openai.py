"""The library `openai`, for Python and for Node, follows, continues, cancels and resumes runs."""

import json
from typing import Any

import pytest

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from runyard.faces.openai.chat_translate import ChunkTranslation
from runyard.faces.openai.follow import EventEncoder
from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, ran, resumed_through_kills, running
from tests.faces.openai.test_laws import shown_results
from tests.faces.openai.test_translate import chunks, streamed, text_of, translated
from tests.faces.samples.expected import results
from tests.faces.samples.random_logs import drawn_logs
from tests.faces.samples.sample_events import RUN_ID
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
    assert found["models"] == ["airline", "fares", "helper", "printer", "viewer"]


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


# --- laws, read by the library itself


ENDS = {
    "done": ("response.completed", "response.incomplete"),
    "error": ("response.failed",),
    "canceled": ("response.incomplete",),
}


async def test_the_library_reads_random_logs_as_the_fold_does(url: str) -> None:
    cases = drawn_logs()
    async with running("openai_laws.py", "laws", url) as program:
        lines = b"".join(json.dumps(sent(events)).encode() + b"\n" for events in cases)
        found = (await program.result(lines))["found"]
    for events, seen in zip(cases, found, strict=True):
        check_responses(events, seen["responses"])
        check_completions(events, seen["completions"])


def sent(events: list[Event]) -> dict[str, Any]:
    """Return the streams of all responses and completions of a log, and the responses as they are retrieved."""
    translation, _ = translated(events)
    parts = range(1, translation.state.part + 1)
    encoders = [(EventEncoder(RUN_ID, part), ChunkTranslation(RUN_ID, part)) for part in parts]
    return {
        "responses": [b"".join(map(events_of.take, events)).decode() for events_of, _ in encoders],
        "completions": [b"".join(map(chunks_of.take, events)).decode() for _, chunks_of in encoders],
        "kept": [response for part in parts if (response := translation.response(part)) is not None],
    }


def check_responses(events: list[Event], parts: list[dict[str, Any]]) -> None:
    (translation, _), core = translated(events), fold(events)
    items = [item for part in parts for item in part["items"]]
    is_reset = any(event.type == "model.reset" for event in events)  # what was streamed is taken back
    assert sorted(shown_results(translation, items)) == sorted(results(events))
    failed = [item for item in items if item["type"] == "mcp_call" and item["status"] == "failed"]
    assert [name for part in parts for name in part["errors"]] == ["McpToolExecutionError"] * len(failed)
    for number, part in enumerate(parts, 1):
        response = translation.response(number)
        if response is not None and part["last"] == "response.completed":
            assert part["output"] == text_of(response)
            assert part["text"] == part["output"] or is_reset
    if core.stop_reason is not None:
        assert parts[-1]["last"] in ENDS[core.status]


def check_completions(events: list[Event], parts: list[dict[str, Any]]) -> None:
    for number, part in enumerate(parts, 1):
        expected, is_done = chunks(events, number)
        if expected and "error" in expected[-1]:
            assert part == {"error": expected[-1]["error"]["code"]}
        elif is_done:
            finish = expected[-1]["choices"][0]["finish_reason"]
            assert part == {"text": streamed(expected), "finish": finish}
