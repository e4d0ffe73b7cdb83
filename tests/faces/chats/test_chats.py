"""Chats and interactions as objects: creation, content, lists and deletion."""

import re
from itertools import pairwise

import pytest

from runyard.base.ids import new_id
from tests.faces.chats.chats_client import UUID, Chat, answer_of, interaction_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

FIELDS = ["id", "status", "user_message", "agent_events", "final_agent_state", "created_at", "completed_at"]
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.mark.req("S1.3")
async def test_a_chat_begins_with_its_first_message_and_is_unknown_before(chat: Chat) -> None:
    assert (await chat.server.http.get(chat.path)).status_code == 404
    await chat.say()
    await chat.say()
    whole = await chat.whole()
    assert list(whole)[:3] == ["id", "interactions", "created_at"]
    assert whole["id"] == chat.id
    assert ISO.fullmatch(whole["created_at"])
    assert len(whole["interactions"]) == 2


@pytest.mark.req("S1.3")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_message_that_is_refused_makes_no_chat(chat: Chat) -> None:
    for body in ({}, {"user_message": ""}, {"user_message": "hi", "agent": "nobody"}, {"user_message": 1}):
        answer = await chat.server.http.post(f"{chat.path}/interactions", json=body)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
    assert (await chat.server.http.get(chat.path)).status_code == 404


@pytest.mark.req("S1.3")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize("chat_id", [".", "..", "a b", "é", "-a", "x" * 129, "a%2fb", "%2e%2e", "a%00b", "a\\b"])
async def test_an_id_that_could_lead_out_of_a_folder_is_refused(server: Server, chat_id: str) -> None:
    answer = await server.http.post(f"/chats/{chat_id}/interactions", json={"user_message": "hi"})
    assert answer.status_code in (404, 405, 422)


@pytest.mark.req("S1.6", "S1.8", "S1.29", "S1.10")
async def test_an_interaction_has_the_fields_of_the_contract(chat: Chat) -> None:
    stream = await chat.say("What now?")
    [found] = (await chat.whole())["interactions"]
    assert list(found)[:7] == FIELDS
    assert found == await chat.look(interaction_of(stream))
    assert re.fullmatch(f"int_{UUID}", found["id"])
    assert (found["status"], found["user_message"]) == ("COMPLETED", "What now?")
    assert ISO.fullmatch(found["created_at"])
    assert ISO.fullmatch(found["completed_at"])
    kept = [data for event, data in stream.wire if event in ("thinking", "tool_call", "tool_result", "answer")]
    assert found["agent_events"] == kept
    assert found["final_agent_state"] == {
        "messages": [
            {"role": "user", "content": "What now?"},
            {"role": "assistant", "content": "Found: What now?"},
        ]
    }


@pytest.mark.req("S1.4", "S1.7")
async def test_an_interaction_is_stored_as_running_before_its_first_event_is_seen(chat: Chat, gate: Gate) -> None:
    stream = await chat.start("hello", "gated")
    found = await chat.look(interaction_of(stream))
    assert (found["status"], found["final_agent_state"], found["completed_at"]) == ("RUNNING", None, None)
    gate.open.set()
    await stream.to_end()
    found = await chat.look(interaction_of(stream))
    assert found["status"] == "COMPLETED"
    assert found["final_agent_state"] is not None


@pytest.mark.req("S1.34")
async def test_each_interaction_starts_from_the_final_state_of_the_one_before(chat: Chat) -> None:
    await chat.say("one")
    await chat.say("two")
    stream = await chat.say("three", "rememberer")
    assert answer_of(stream) == "one | Found: one | two | Found: two"
    first, second, third = [await chat.look(each["id"]) for each in (await chat.whole())["interactions"]]
    for before, after in ((first, second), (second, third)):
        said = before["final_agent_state"]["messages"]
        assert after["final_agent_state"]["messages"][: len(said)] == said
        assert len(after["final_agent_state"]["messages"]) == len(said) + 2
        assert after["parent_id"] == before["id"]
    assert first["parent_id"] is None


@pytest.mark.req("S1.34")
async def test_a_second_message_in_a_busy_chat_waits_for_the_first(chat: Chat, gate: Gate) -> None:
    first = await chat.start("one", "gated")
    await gate.until_reached()
    second = await chat.start("two", "rememberer")
    assert second.events == ["interaction_started"]
    gate.open.set()
    await first.to_end()
    await second.to_end()
    assert answer_of(second) == "one | Here I am."


@pytest.mark.parametrize("backend", ["memory"])
async def test_chats_are_listed_and_deleted(server: Server) -> None:
    for name in ("a", "b", "c"):
        await Chat(server, name).say()
    page = (await server.http.get("/chats", params={"limit": 2})).json()
    rest = (await server.http.get("/chats", params={"limit": 2, "before": page["next"]})).json()
    assert [row["id"] for row in page["chats"] + rest["chats"]] == ["c", "b", "a"]
    assert rest["next"] is None
    assert (await server.http.delete("/chats/b")).status_code == 204
    assert (await server.http.delete("/chats/b")).status_code == 404
    assert (await server.http.get("/chats/b")).status_code == 404
    await Chat(server, "b").say("a new one")
    assert len((await Chat(server, "b").whole())["interactions"]) == 1


async def test_a_chat_with_something_under_way_is_not_deleted(chat: Chat, gate: Gate) -> None:
    stream = await chat.start("hello", "gated")
    answer = await chat.server.http.delete(chat.path)
    assert (answer.status_code, answer.json()["code"]) == (409, "run_active")
    gate.open.set()
    await stream.to_end()
    assert (await chat.server.http.delete(chat.path)).status_code == 204


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_thread_of_the_threads_face_is_a_chat_by_its_id(server: Server) -> None:
    thread_id = await server.thread()
    await server.ended(await server.post("rememberer", "from there", thread_id))
    chat = Chat(server, thread_id)
    stream = await chat.say("from here", "rememberer")
    assert answer_of(stream) == "from there | nothing"
    assert [each["user_message"] for each in (await chat.whole())["interactions"]] == ["from there", "from here"]
    fresh = Chat(server, new_id())  # an id of the client's own that looks like ours
    await fresh.say()
    assert (await fresh.whole())["id"] == fresh.id


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_repeated_request_attaches_to_what_the_first_one_started(chat: Chat) -> None:
    key = {"Idempotency-Key": "once"}
    streams: list[RawStream] = []
    for _ in range(2):
        stream = await chat.start("hello", headers=key)
        await stream.to_end()
        streams.append(stream)
    assert bytes(streams[0].body) == bytes(streams[1].body)
    assert len((await chat.whole())["interactions"]) == 1
    other = await chat.server.http.post(f"{chat.path}/interactions", json={"user_message": "other"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


@pytest.mark.req("S1.57")
async def test_a_second_client_attaches_by_the_address_of_the_interaction(chat: Chat, gate: Gate) -> None:
    first = await chat.start("hello", "gated")
    where = f"{chat.path}/interactions/{interaction_of(first)}"
    second = await chat.server.stream(where)  # no Accept, as little as `curl -N` says
    third = await chat.server.stream(f"{where}/events", {"Last-Event-ID": "1"})
    await second.first_frame()
    gate.open.set()
    for stream in (first, second, third):
        await stream.to_end()
        assert stream.ended_cleanly
    assert bytes(first.body) == bytes(second.body)
    assert third.ids == first.ids[1:]


@pytest.mark.req("S1.57")
@pytest.mark.parametrize("backend", ["memory"])
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "text/event-stream; charset=utf-8"),
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        ("application/json, text/event-stream", "text/event-stream; charset=utf-8"),
        ("application/json", "application/json"),
        ("application/json;q=0.9, */*;q=0.1", "application/json"),
    ],
)
async def test_the_object_is_for_those_who_ask_for_json_only(chat: Chat, accept: str, kind: str) -> None:
    stream = await chat.say()
    answer = await chat.server.http.get(
        f"{chat.path}/interactions/{interaction_of(stream)}", headers={"accept": accept}
    )
    assert answer.headers["content-type"] == kind


@pytest.mark.parametrize("backend", ["memory"])
async def test_an_interaction_is_found_in_its_own_chat_only(server: Server) -> None:
    interaction = interaction_of(await Chat(server, "a").say())
    await Chat(server, "b").say()
    for path in (
        f"/chats/b/interactions/{interaction}",
        "/chats/a/interactions/int_001",
        f"/chats/x/interactions/{interaction}",
    ):
        for address in (path, f"{path}/events"):
            assert (await server.http.get(address)).status_code == 404
        assert (await server.http.post(f"{path}/cancel")).status_code == 404
        assert (await server.http.post(f"{path}/edit", json={"new_user_message": "x"})).status_code == 404


@pytest.mark.req("S1.40")
@pytest.mark.parametrize("backend", ["memory"])
async def test_there_is_no_websocket(serve: Serve) -> None:
    server = await serve()
    asking = {"upgrade": "websocket", "connection": "upgrade", "sec-websocket-version": "13"}
    stream = await server.stream("/chats/a", {**asking, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="})
    assert stream.status == 404
    await stream.close()


@pytest.mark.req("S1.49", "S1.9")
async def test_reasoning_is_sent_as_soon_as_it_ends_and_the_same_from_every_position(chat: Chat) -> None:
    stream = await chat.say("What is it?", "ponderer")
    interaction = interaction_of(stream)
    log = await chat.server.log(interaction.removeprefix("int_"))
    first_tokens = [
        event["seq"]
        for before, event in pairwise(log)
        if (before["type"], event["type"]) == ("model.thinking", "model.token")
    ]
    thought = [(frame.id, frame.json["content"]) for frame in stream.frames if frame.event == "thinking"]
    assert [content for _, content in thought] == ["I must look.", "Let me look.", "Now I know."]
    assert [int(seq) for seq, content in thought if content != "Let me look."] == first_tokens
    kept = [data for event, data in stream.wire if event in ("thinking", "tool_call", "tool_result", "answer")]
    assert (await chat.look(interaction))["agent_events"] == kept
    for after in range(log[-1]["seq"]):
        path = f"{chat.path}/interactions/{interaction}/events"
        rest = await chat.server.whole_stream(path, {"Last-Event-ID": str(after)})
        expected = [(frame.id, frame.event) for frame in stream.frames if int(frame.id) > after]
        assert [(frame.id, frame.event) for frame in rest.frames] == expected


@pytest.mark.req("S1.13")
@pytest.mark.parametrize(
    ("agent", "reason", "named"),
    [
        ("tireless", "max_steps", "max_turns"),
        ("costly", "max_tokens_exceeded", "max_usd"),
        ("wordy", "max_tokens_exceeded", "max_output_tokens"),
    ],
)
async def test_an_interaction_that_a_limit_stopped_says_which(chat: Chat, agent: str, reason: str, named: str) -> None:
    stream = await chat.say("Go on for ever.", agent)
    end = stream.frames[-1].json
    assert (end["status"], end["stop_reason"]) == ("COMPLETED", reason)
    assert named in end["message"]
    [found] = (await chat.whole())["interactions"]
    assert found == await chat.look(interaction_of(stream))
    assert found["stop_reason"] == reason
    usual = await chat.look(interaction_of(await chat.say("hello")))
    assert usual["stop_reason"] is None
