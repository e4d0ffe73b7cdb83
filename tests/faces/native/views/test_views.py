"""Reads: states, lists and pages."""

from typing import Any

import msgspec
import pytest

from runyard.base.ids import new_id
from runyard.domain.state.fold import fold
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server


@pytest.mark.req("S0.25")
@pytest.mark.parametrize("agent", ["everything", "fails", "asks"])
async def test_the_state_at_every_seq_is_the_fold_of_the_log(server: Server, agent: str) -> None:
    run_id = await server.post(agent)
    if agent == "asks":
        approval_id = await server.waiting(run_id)
        await server.http.post(f"/api/approvals/{approval_id}", json={"decision": "reject", "reason": "no"})
    await server.ended(run_id)
    events = await server.store.read(run_id, 0, 1000)
    for at in range(1, len(events) + 1):
        state = await server.http.get(f"/api/runs/{run_id}/state", params={"at": at})
        assert state.json() == msgspec.json.decode(msgspec.json.encode(fold(events[:at])))
    assert (await server.http.get(f"/api/runs/{run_id}/state")).json() == state.json()


@pytest.mark.parametrize("backend", ["memory"])
async def test_the_state_before_everything_is_queued_and_a_seq_to_come_is_refused(server: Server) -> None:
    run_id = await server.post("happy")
    last = (await server.ended(run_id)).ids[-1]
    path = f"/api/runs/{run_id}/state"
    zero = (await server.http.get(path, params={"at": 0})).json()
    assert (zero["last_seq"], zero["status"], zero["agent"]) == (0, "queued", "happy")
    for beyond in (last + 1, 2**53):
        assert (await server.http.get(path, params={"at": beyond})).status_code == 422
    for wrong in ("-1", "x", "1.5", str(2**53 + 1), "9" * 30):
        assert (await server.http.get(path, params={"at": wrong})).status_code == 422
    assert (await server.http.get(f"/api/runs/{new_id()}/state")).status_code == 404


async def pages(server: Server, path: str, rows: str, **query: Any) -> list[list[dict[str, Any]]]:
    """All pages of a list."""
    found: list[list[dict[str, Any]]] = []
    before: str | None = None
    while True:
        params = {**query, **({} if before is None else {"before": before})}
        answer = await server.http.get(path, params=params)
        assert answer.status_code == 200
        found.append(answer.json()[rows])
        before = answer.json()["next"]
        if before is None:
            return found


async def test_runs_are_listed_newest_first_in_pages_that_neither_repeat_nor_miss(serve: Serve) -> None:
    server = await serve(worker=False)
    thread_id = await server.thread()
    made = [await server.post("happy", str(n), thread_id) for n in range(7)]
    found = await pages(server, "/api/runs", "runs", limit=3)
    assert [len(page) for page in found] == [3, 3, 1]
    assert [row["run_id"] for page in found for row in page] == made[::-1]
    assert [len(page) for page in await pages(server, "/api/runs", "runs", limit=7)] == [7, 0]


async def test_runs_can_be_filtered_by_status_agent_thread_and_error(server: Server) -> None:
    one, two = await server.thread(), await server.thread()
    done = await server.post("happy", thread_id=one)
    failed = await server.post("fails", thread_id=one)
    other = await server.post("happy", thread_id=two)
    for run_id in (done, failed, other):
        await server.ended(run_id)

    async def listed(**query: str) -> list[str]:
        return [row["run_id"] for page in await pages(server, "/api/runs", "runs", **query) for row in page]

    assert await listed() == [other, failed, done]
    assert await listed(status="error") == [failed]
    assert await listed(status="done", thread_id=one) == [done]
    assert await listed(agent="happy") == [other, done]
    assert await listed(error="broken") == [failed]
    assert await listed(error="broken", agent="happy") == []
    assert await listed(error="broken", status="done") == []
    assert await listed(error="other") == []
    assert await listed(agent="nobody") == []
    assert await listed(thread_id=two) == [other]
    assert await listed(status="waiting") == []
    assert await listed(id_part=failed[-8:]) == [failed]
    assert await listed(id_part=done[:35]) == [done]
    assert await listed(since="2026-01-01T00:00:00Z", agent="happy") == [other, done]
    assert await listed(since="2100-01-01T00:00:00+01:00") == []
    assert await listed(min_usd="0") == [other, failed, done]
    assert await listed(min_usd="0.01") == []
    assert await listed(min_usd="0", since="2100-01-01T00:00:00Z") == []
    for wrong in ({"since": "yesterday"}, {"since": "2026-01-01T00:00:00"}, {"min_usd": "-1"}, {"id_part": "abc"}):
        assert (await server.http.get("/api/runs", params=wrong)).status_code == 422, wrong


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_run_in_a_list_has_its_whole_row(server: Server) -> None:
    run_id = await server.post("fails")
    last = (await server.ended(run_id)).ids[-1]
    [row] = (await server.http.get("/api/runs")).json()["runs"]
    assert row["created_at"] <= row["started_at"] <= row["finished_at"]
    shown = {name: row[name] for name in row if not name.endswith("_at")}
    thread_id = shown.pop("thread_id")
    assert shown == {
        "run_id": run_id,
        "agent": "fails",
        "status": "error",
        "waiting": False,
        "stop_reason": "error",
        "attempts": 1,
        "last_seq": last,
        "error_code": "broken",
        "error": "The script broke.",
        "retry_of": None,
        "superseded_by": None,
        "parent_run_id": None,
        "question": "hello",
        "usage": {"input_tokens": 0, "output_tokens": 0, "usd": 0.0},
        "feedback": None,
    }
    assert (await server.http.get(f"/api/threads/{thread_id}")).status_code == 200


@pytest.mark.parametrize("path", ["/api/runs", "/api/threads", "/api/approvals"])
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_list_refuses_a_limit_that_is_no_page(server: Server, path: str) -> None:
    for limit in ("0", "-1", "201", "x", "9" * 40, "1.5"):
        assert (await server.http.get(path, params={"limit": limit})).status_code == 422
    assert (await server.http.get(path, params={"limit": "200"})).status_code == 200


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_filter_or_a_place_that_cannot_be_is_refused(server: Server) -> None:
    for query in ({"status": "finished"}, {"thread_id": "x"}, {"before": "x"}):
        assert (await server.http.get("/api/runs", params=query)).status_code == 422
    assert (await server.http.get("/api/threads", params={"before": "x"})).status_code == 422


async def test_threads_are_listed_and_can_be_deleted_with_all_that_is_theirs(server: Server) -> None:
    one, two = await server.thread(agent="happy"), await server.thread()
    run_id = await server.post("happy", thread_id=one)
    await server.ended(run_id)
    rows = (await server.http.get("/api/threads")).json()["threads"]
    assert [(row["thread_id"], row["kind"], row["agent"], row["head_run_id"]) for row in rows] == [
        (two, "chat", None, None),
        (one, "chat", "happy", run_id),
    ]
    assert [len(page) for page in await pages(server, "/api/threads", "threads", limit=1)] == [1, 1, 0]
    gone = await server.http.delete(f"/api/threads/{one}")
    assert (gone.status_code, gone.content) == (204, b"")
    for path in (f"/api/threads/{one}", f"/api/runs/{run_id}", f"/api/runs/{run_id}/log", f"/api/runs/{run_id}/events"):
        assert (await server.http.get(path)).status_code == 404
    assert (await server.http.delete(f"/api/threads/{one}")).status_code == 404
    assert await server.store.read(run_id, 0, 10) == []
    assert [row["thread_id"] for row in (await server.http.get("/api/threads")).json()["threads"]] == [two]


async def test_a_thread_is_not_deleted_while_a_run_of_it_is_active(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    run_id = await server.post("gated", thread_id=thread_id)
    await gate.until_reached()
    waiting = await server.post("asks", thread_id=thread_id)
    refused = await server.http.delete(f"/api/threads/{thread_id}")
    assert (refused.status_code, refused.json()["code"]) == (409, "run_active")
    gate.open.set()
    await server.ended(run_id)
    await server.waiting(waiting)
    assert (await server.http.delete(f"/api/threads/{thread_id}")).status_code == 409
    await server.http.post(f"/api/runs/{waiting}/cancel")
    assert (await server.http.delete(f"/api/threads/{thread_id}")).status_code == 204
