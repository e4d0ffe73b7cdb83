"""Feedback on a run is stored, replaced, deleted, listed and exported."""

from typing import Any

from tests.support.in_process.live_server import Server


async def _said(server: Server, text: str, agent: str = "happy") -> tuple[str, str]:
    thread = await server.thread()
    answer = await server.http.post(f"/api/threads/{thread}/messages", json={"content": text, "agent": agent})
    run_id = str(answer.json()["run_id"])
    await server.ended(run_id)
    return thread, run_id


async def test_feedback_is_replaced_listed_exported_and_taken_back(server: Server) -> None:
    thread, run_id = await _said(server, "Hello there")
    path = f"/api/runs/{run_id}/feedback"

    async def listed() -> Any:
        [row] = (await server.http.get("/api/runs", params={"thread_id": thread})).json()["runs"]
        return row["feedback"]

    assert (await server.http.get(path)).json() == {"feedback": None}
    assert await listed() is None
    given = await server.http.put(path, json={"value": "up"})
    assert (given.status_code, given.json()["feedback"]["comment"]) == (200, None)
    judged = (await server.http.put(path, json={"value": "down", "comment": "  Too short.\nAnd wrong.  "})).json()
    assert judged["feedback"] | {"created_at": ""} == {
        "value": "down",
        "comment": "Too short.\nAnd wrong.",
        "created_at": "",
    }
    assert await listed() == judged["feedback"]
    exported = (await server.http.get(f"/api/threads/{thread}/export")).json()
    assert exported["feedback"] == [{"run_id": run_id, **judged["feedback"]}]
    text = (await server.http.get(f"/api/threads/{thread}/export", params={"format": "markdown"})).text
    assert text.rstrip().endswith("> feedback down: Too short.\n> And wrong.")
    for wrong in ({"value": "sideways"}, {"value": "up", "comment": "x" * 4001}, {}):
        assert (await server.http.put(path, json=wrong)).status_code == 422
    for _ in range(2):
        assert (await server.http.delete(path)).status_code == 204
    assert await listed() is None


async def test_feedback_on_a_run_that_failed_is_exported_too(server: Server) -> None:
    thread, run_id = await _said(server, "Hello", "fails")
    again = (await server.http.post(f"/api/runs/{run_id}/retry")).json()["run_id"]
    await server.ended(again)
    for each in (run_id, again):
        assert (await server.http.put(f"/api/runs/{each}/feedback", json={"value": "down"})).status_code == 200
    exported = (await server.http.get(f"/api/threads/{thread}/export")).json()
    assert [each["run_id"] for each in exported["feedback"]] == [run_id, again]
    text = (await server.http.get(f"/api/threads/{thread}/export", params={"format": "markdown"})).text
    assert text.count("> feedback down") == 2
