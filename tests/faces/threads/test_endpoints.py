"""The five endpoints of S0: requests, responses and stored rows."""

import asyncio
import re

import pytest

from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Message
from runyard.faces.threads.routes import MESSAGES
from runyard.stores.memory import MemoryStore
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.mark.req("S0.1")
async def test_a_thread_is_created_and_its_id_is_the_whole_answer(server: Server) -> None:
    answer = await server.http.post("/api/threads", json={"user_id": 7})
    assert answer.status_code == 201
    assert list(answer.json()) == ["thread_id"]
    thread_id = answer.json()["thread_id"]
    assert UUID.fullmatch(thread_id)
    seen = (await server.http.get(f"/api/threads/{thread_id}")).json()
    assert seen == {"thread_id": thread_id, "user_id": 7, "messages": [], "next": None}


@pytest.mark.req("S0.1")
async def test_the_user_of_a_thread_is_given_back_as_it_came(server: Server) -> None:
    for user_id in (None, "ann", 7, 0, -1, 2**53, 10**30, "Grüße 🦜", "\u0000", ""):
        thread_id = (await server.http.post("/api/threads", json={"user_id": user_id})).json()["thread_id"]
        assert (await server.http.get(f"/api/threads/{thread_id}")).json()["user_id"] == user_id


@pytest.mark.req("S0.1")
async def test_a_thread_can_be_created_without_a_body(server: Server) -> None:
    assert (await server.http.post("/api/threads")).status_code == 201


@pytest.mark.req("S0.1", "S0.9")
async def test_a_thread_persists_over_a_restart_and_outlives_its_runs(serve: Serve, backend: str) -> None:
    first = await serve()
    thread_id = await first.thread(user_id="ann")
    run_id = await first.post("happy", "who knows Rust?", thread_id)
    await first.ended(run_id)
    await first.process.stop()
    second = await serve()
    seen = (await second.http.get(f"/api/threads/{thread_id}")).json()
    assert [(m["role"], m["content"]) for m in seen["messages"]] == [
        ("user", "who knows Rust?"),
        ("assistant", "Ada knows Rüst \u2028 🦀\n"),
    ]
    assert (await second.run(run_id))["status"] == "done"
    again = await second.post("happy", "and who else?", thread_id)
    await second.ended(again)
    assert len((await second.http.get(f"/api/threads/{thread_id}")).json()["messages"]) == 4


@pytest.mark.req("S0.9")
async def test_a_run_adds_nothing_to_its_thread_but_its_answer(server: Server) -> None:
    """Agent code has no way to the thread; an answer becomes a message when the run is done, and only then."""
    thread_id = await server.thread(user_id="ann")
    for agent in ("fails", "raises"):
        await server.ended(await server.post(agent, "hello", thread_id))
    seen = (await server.http.get(f"/api/threads/{thread_id}")).json()
    assert [message["role"] for message in seen["messages"]] == ["user", "user"]
    assert seen["user_id"] == "ann"


@pytest.mark.req("S0.2")
async def test_a_message_is_stored_and_starts_exactly_one_run(serve: Serve) -> None:
    server = await serve(worker=False)
    thread_id = await server.thread()
    answer = await server.http.post(f"/api/threads/{thread_id}/messages", json={"content": "hello"})
    assert answer.status_code == 201
    assert list(answer.json()) == ["run_id"]
    [run] = (await server.http.get("/api/runs", params={"thread_id": thread_id})).json()["runs"]
    assert run["run_id"] == answer.json()["run_id"]
    [message] = (await server.http.get(f"/api/threads/{thread_id}")).json()["messages"]
    assert UUID.fullmatch(message.pop("id"))
    assert TIME.fullmatch(message.pop("created_at"))
    assert message == {"role": "user", "content": "hello"}


@pytest.mark.req("S0.2")
async def test_the_answer_to_a_message_does_not_wait_for_the_run(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    assert (await server.run(run_id))["status"] in ("queued", "running")
    await gate.until_reached()
    gate.open.set()
    await server.ended(run_id)


@pytest.mark.req("S0.3")
async def test_a_message_to_an_unknown_thread_leaves_nothing_behind(server: Server) -> None:
    for unknown in (new_id(), "not-an-id"):
        answer = await server.http.post(f"/api/threads/{unknown}/messages", json={"content": "hello"})
        assert answer.status_code == 404
        assert (await server.http.get(f"/api/threads/{unknown}")).status_code == 404
    assert (await server.http.get("/api/runs")).json() == {"runs": [], "next": None}
    assert (await server.http.get("/api/threads")).json() == {"threads": [], "next": None}


@pytest.mark.req("S0.3")
async def test_of_messages_sent_together_only_those_to_unknown_threads_fail(server: Server) -> None:
    """They share one commit."""
    thread_id = await server.thread()
    threads = [thread_id, new_id(), thread_id, new_id()]
    answers = await asyncio.gather(
        *(server.http.post(f"/api/threads/{thread}/messages", json={"content": "hello"}) for thread in threads)
    )
    assert [answer.status_code for answer in answers] == [201, 404, 201, 404]
    assert len((await server.http.get("/api/runs")).json()["runs"]) == 2


@pytest.mark.req("S0.4")
async def test_a_run_shows_its_status_and_times(server: Server) -> None:
    thread_id = await server.thread()
    run_id = await server.post("happy", thread_id=thread_id)
    await server.ended(run_id)
    run = await server.run(run_id)
    assert list(run) == ["run_id", "thread_id", "status", "created_at", "started_at", "finished_at", "error"]
    assert (run["run_id"], run["thread_id"], run["status"], run["error"]) == (run_id, thread_id, "done", None)
    times = [run["created_at"], run["started_at"], run["finished_at"]]
    assert all(TIME.fullmatch(time) for time in times)
    assert times == sorted(times)


@pytest.mark.req("S0.4", "S0.5", "S0.6")
async def test_an_unknown_run_is_404_everywhere(server: Server) -> None:
    for unknown in ("01890000-0000-7000-8000-000000000000", "nope", "%00", "a" * 300):
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel")):
            answer = await server.http.request(method, f"/api/runs/{unknown}{path}")
            assert answer.status_code == 404, path
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.req("S0.7")
async def test_a_new_run_is_queued(serve: Serve) -> None:
    server = await serve(worker=False)
    run = await server.run(await server.post("happy"))
    assert (run["status"], run["started_at"], run["finished_at"]) == ("queued", None, None)


@pytest.mark.req("S0.8")
async def test_a_run_is_running_from_the_moment_its_agent_works(server: Server, gate: Gate) -> None:
    run_id = await server.post("gated")
    await gate.until_reached()
    run = await server.run(run_id)
    assert (run["status"], run["finished_at"]) == ("running", None)
    assert TIME.fullmatch(run["started_at"])
    gate.open.set()
    await server.ended(run_id)
    done = await server.run(run_id)
    assert (done["status"], done["started_at"]) == ("done", run["started_at"])
    assert TIME.fullmatch(done["finished_at"])


@pytest.mark.req("S0.8")
@pytest.mark.parametrize(("agent", "status"), [("happy", "done"), ("fails", "error")])
async def test_nothing_changes_a_run_that_has_ended(server: Server, agent: str, status: str) -> None:
    run_id = await server.post(agent)
    stream = await server.ended(run_id)
    before = await server.run(run_id)
    assert before["status"] == status
    answer = await server.http.post(f"/api/runs/{run_id}/cancel")
    assert answer.json() == {"ok": True, "status": status}
    assert await server.run(run_id) == before
    assert (await server.ended(run_id)).body == stream.body


@pytest.mark.req("S0.10")
async def test_an_agent_works_only_in_a_run_that_is_running(server: Server, gate: Gate) -> None:
    thread_id = await server.thread(agent="gated")
    await server.http.get(f"/api/threads/{thread_id}")
    assert gate.calls["gated"] == 0
    run_id = await server.post("gated", thread_id=thread_id)
    await gate.until_reached()
    assert gate.runs == [run_id]
    assert (await server.run(run_id))["status"] == "running"
    gate.open.set()
    await server.ended(run_id)
    assert gate.runs == [run_id]


@pytest.mark.req("S0.41")
async def test_smoke_the_five_endpoints_end_to_end(server: Server, gate: Gate) -> None:
    thread_id = (await server.http.post("/api/threads", json={"user_id": 1})).json()["thread_id"]
    said = await server.http.post(f"/api/threads/{thread_id}/messages", json={"content": "who knows Rust?"})
    run_id = said.json()["run_id"]
    stream = await server.whole_stream(f"/api/runs/{run_id}/events")
    assert stream.events == ["tool_start", "tool_end", "token", "token", "token", "final", "state"]
    assert (await server.http.get(f"/api/runs/{run_id}")).json()["status"] == "done"
    other = await server.post("gated", thread_id=thread_id)
    await gate.until_reached()
    assert (await server.http.post(f"/api/runs/{other}/cancel")).json() == {"ok": True, "status": "canceled"}
    assert (await server.ended(other)).events == ["token", "canceled", "state"]
    assert (await server.http.get(f"/api/runs/{other}")).json()["status"] == "canceled"


@pytest.mark.parametrize("backend", ["memory"])
async def test_the_agent_of_a_thread_answers_unless_a_message_names_another(server: Server) -> None:
    thread_id = await server.thread(agent="everything")
    for body, agent in (({"content": "x"}, "everything"), ({"content": "x", "agent": "happy"}, "happy")):
        run_id = (await server.http.post(f"/api/threads/{thread_id}/messages", json=body)).json()["run_id"]
        assert (await server.log(run_id))[0]["data"]["agent"] == agent
    assert (await server.http.post("/api/threads", json={"agent": "nobody"})).status_code == 422
    refused = await server.http.post(f"/api/threads/{thread_id}/messages", json={"content": "x", "agent": "nobody"})
    assert refused.status_code == 422


async def test_runs_of_one_thread_go_one_after_the_other_in_order(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    first, second = [await server.post("gated", str(n), thread_id) for n in range(2)]
    await gate.until_reached()
    assert [(await server.run(run))["status"] for run in (first, second)] == ["running", "queued"]
    gate.open.set()
    await server.ended(second)
    assert gate.runs == [first, second]


async def test_a_long_thread_is_read_page_by_page_from_the_newest_back(server: Server, gate: Gate) -> None:
    gate.open.set()
    thread_id = await server.thread()
    for n in range(5):
        await server.ended(await server.post("steps", f"question {n}", thread_id))
    whole = (await server.http.get(f"/api/threads/{thread_id}")).json()
    assert (len(whole["messages"]), whole["next"]) == (10, None)
    pages, before = [], None
    for _ in range(4):
        params = {"limit": 4} | ({} if before is None else {"before": before})
        page = (await server.http.get(f"/api/threads/{thread_id}", params=params)).json()
        pages.append(page["messages"])
        before = page["next"]
        if before is None:
            break
    assert [len(page) for page in pages] == [4, 4, 2]
    assert [message for page in reversed(pages) for message in page] == whole["messages"]


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_thread_answers_with_a_bounded_number_of_messages(server: Server) -> None:
    thread_id = await server.thread()
    messages = [
        Message(id=new_id(), thread_id=thread_id, role="user", text=str(n), created_at=n) for n in range(MESSAGES + 5)
    ]
    assert isinstance(server.store, MemoryStore)
    server.store._messages |= {message.id: message for message in messages}
    seen = (await server.http.get(f"/api/threads/{thread_id}")).json()
    assert [message["id"] for message in seen["messages"]] == [message.id for message in messages[5:]]
    assert seen["next"] == messages[5].id
    assert (await server.http.get(f"/api/threads/{thread_id}", params={"limit": 501})).status_code == 422
