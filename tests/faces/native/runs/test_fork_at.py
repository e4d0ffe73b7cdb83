"""A fork in the middle of a run: the new thread continues from that event and repeats no finished call."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from runyard.agents.tools.tool import tool
from runyard.domain.state.conversation import NOT_MADE
from runyard.models.model import Conversation
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server

heard: list[list[dict[str, Any]]] = []
calls: list[str] = []


@tool(effects="once")
async def book(what: str) -> str:
    calls.append(what)
    return f"booked the {what}"


@tool(effects="once", approval="always")
async def pay(amount: int) -> str:
    return f"paid {amount}"


def _think(conversation: Conversation) -> Mapping[str, Any]:
    heard.append([dict(message) for message in conversation])
    spoken = sum(message["role"] == "tool" for message in conversation[_last_question(conversation) :])
    if conversation[-1]["content"] == "and now?":
        return {"text": "Now something else."}
    if spoken == 0:
        return {"text": ["One ", "moment."], "calls": [{"tool": "book", "input": {"what": "train"}}]}
    return {"calls": [{"tool": "pay", "input": {"amount": 3}}]} if spoken == 1 else {"text": "All done."}


def _last_question(conversation: Conversation) -> int:
    return max(place for place, message in enumerate(conversation) if message["role"] == "user")


TRAVEL = App({"travel": Agent("travel", model="scripted", turns=_think, tools=[book, pay])}, {}, "travel")


async def forked(server: Server, thread_id: str, **body: Any) -> httpx2.Response:
    return await server.http.post(f"/api/threads/{thread_id}/fork", json=body)


async def head(server: Server, thread_id: str) -> dict[str, Any]:
    """The run that a thread continues from."""
    threads = (await server.http.get("/api/threads")).json()["threads"]
    [row] = [each for each in threads if each["thread_id"] == thread_id]
    rows = (await server.http.get("/api/runs")).json()["runs"]
    return next(dict(each) for each in rows if each["run_id"] == row["head_run_id"])


def seq_of(log: list[dict[str, Any]], kind: str) -> int:
    return next(int(event["seq"]) for event in log if event["type"] == kind)


def content(event: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(event.get(field) for field in ("seq", "ts", "type", "source", "name", "fn", "data"))


@pytest.mark.req("S1.56")
async def test_steps_that_had_finished_are_on_record_and_are_not_repeated(serve: Serve) -> None:
    server = await serve(TRAVEL)
    calls.clear()
    thread_id = await server.thread()
    run_id = await server.post("travel", "to Rome", thread_id)
    await server.waiting(run_id)
    log = await server.store.read(run_id, 0, 1000)
    at = next(event.seq for event in log if event.type == "approval.requested")

    made = await forked(server, thread_id, run_id=run_id, at_seq=at)
    assert made.status_code == 201, made.text
    fork = made.json()["thread_id"]
    await server.ended(await server.post("travel", "and now?", fork))
    told = heard[-1]
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "assistant", "tool", "user"]
    assert (told[0]["content"], told[2]["content"]) == ("to Rome", "booked the train")
    assert told[4]["content"] == NOT_MADE
    assert calls == ["train"]

    [row] = (await server.http.get("/api/runs?status=waiting")).json()["runs"]
    assert row["run_id"] == run_id, "the run that it was taken from waits as if nothing had happened"
    assert await server.store.read(run_id, 0, 1000) == log
    seen = (await server.http.get(f"/api/threads/{fork}")).json()["messages"]
    assert [message["content"] for message in seen] == ["to Rome", "and now?", "Now something else."]
    [waiting] = (await server.http.get("/api/approvals")).json()["approvals"]
    assert waiting["run_id"] == run_id, "no person is asked twice"


async def test_the_copy_says_what_the_log_said_and_where_it_was_cut(server: Server) -> None:
    run_id = await server.post("everything")
    await server.ended(run_id)
    log = await server.log(run_id)
    thread_id = (await server.run(run_id))["thread_id"]
    at = seq_of(log, "model.token")
    fork = (await forked(server, thread_id, run_id=run_id, at_seq=at)).json()["thread_id"]
    copy = await head(server, fork)
    copied = await server.log(copy["run_id"])
    assert list(map(content, copied[1:at])) == list(map(content, log[1:at]))
    assert copied[0]["data"]["copied"] == {"run_id": run_id, "seq": at}
    assert [(event["type"], event["data"]) for event in copied[at:]] == [
        ("run.canceled", {"reason": "forked"}),
        ("run.finished", {"status": "canceled", "stop_reason": "cancelled"}),
    ]
    assert not {event["id"] for event in copied} & {event["id"] for event in log}
    assert (copy["status"], copy["thread_id"], copy["last_seq"]) == ("canceled", fork, at + 2)
    assert await server.log(run_id) == log


async def test_a_run_that_has_not_ended_can_be_forked_at_what_it_has_said(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    await server.ended(await server.post("happy", "first", thread_id))
    run_id = await server.post("gated", "second", thread_id)
    await gate.until_reached()
    assert (await forked(server, thread_id)).status_code == 409
    made = await forked(server, thread_id, at_seq=1)
    assert made.status_code == 201, made.text
    fork = made.json()["thread_id"]
    chat = (await server.http.get(f"/chats/{fork}")).json()
    assert [each["user_message"] for each in chat["interactions"]] == ["first", "second"]
    assert chat["interactions"][1]["id"] != f"int_{run_id}"
    await server.ended(await server.post("happy", "third", fork))
    assert (await server.http.delete(f"/api/threads/{thread_id}")).status_code == 409, "the run has not ended"
    gate.open.set()
    await server.ended(run_id)
    assert (await server.http.delete(f"/api/threads/{thread_id}")).status_code == 409, "the fork builds on it"
    for each in (fork, thread_id):
        assert (await server.http.delete(f"/api/threads/{each}")).status_code == 204


async def test_at_the_end_it_is_the_run_itself(server: Server) -> None:
    run_id = await server.post("happy")
    await server.ended(run_id)
    thread_id, last = (await server.run(run_id))["thread_id"], len(await server.log(run_id))
    for at in (last, last - 1):  # run.finished, and the answer, which was committed with it
        fork = (await forked(server, thread_id, at_seq=at)).json()["thread_id"]
        assert (await head(server, fork))["run_id"] == run_id


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_seq_that_is_not_there_is_a_422(server: Server) -> None:
    run_id = await server.post("happy")
    await server.ended(run_id)
    thread_id, last = (await server.run(run_id))["thread_id"], len(await server.log(run_id))
    for wrong in (0, -1, last + 1, 2**53, 2**70, "x", 1.5):
        refused = await forked(server, thread_id, run_id=run_id, at_seq=wrong)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid"), wrong
    elsewhere = await server.thread()
    assert (await forked(server, elsewhere, run_id=run_id, at_seq=1)).status_code == 404
    assert len((await server.http.get("/api/threads")).json()["threads"]) == 2


async def test_a_repeated_fork_is_the_same_thread(server: Server) -> None:
    run_id = await server.post("happy")
    await server.ended(run_id)
    thread_id = (await server.run(run_id))["thread_id"]
    path, key = f"/api/threads/{thread_id}/fork", {"Idempotency-Key": "k"}
    made = [(await server.http.post(path, headers=key, json={"at_seq": 2})).json() for _ in range(2)]
    assert made[0] == made[1]
    assert len((await server.http.get("/api/runs")).json()["runs"]) == 2
    assert (await server.http.post(path, headers=key, json={"at_seq": 3})).status_code == 409
