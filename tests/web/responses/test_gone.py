"""An object that retention deleted returns 410 with its tombstone, never a 404. So does a request that is
repeated after its run was deleted, without the tombstone."""

from typing import Any

import pytest

from runyard.base.ids import first_id_at
from runyard.engine.control.retention import DAY_MS, Retention
from tests.support.in_process.live_server import Serve
from tests.web.responses.test_problems import MEMORY


async def test_a_reader_of_a_dropped_run_gets_410_and_a_snapshot(serve: Serve) -> None:
    server = await serve(retention_days=30)
    process = server.process
    run_id = await server.post("happy")
    await server.ended(run_id)
    await server.http.post("/agents/runs", json={"runId": "my-plan", "plan": "device"})
    await server.whole_stream("/agents/runs/my-plan/stream")
    plan = (await server.http.get("/agents/runs/my-plan")).json()
    waiting = await server.post("asks")
    await server.waiting(waiting)
    assert await Retention(process.store, process.engine.views._clock, 30).sweep() == 0
    clock = process.engine.views._clock

    class Later:
        def now_ms(self) -> int:
            return clock.now_ms() + 31 * DAY_MS

        def monotonic(self) -> float:
            return clock.monotonic()

    assert await Retention(process.store, Later(), 30).sweep() == 2
    for path in ("", "/events", "/log", "/state"):
        answer = await server.http.get(f"/api/runs/{run_id}{path}")
        body = answer.json()
        assert (answer.status_code, body["code"]) == (410, "gone"), path
        assert body["snapshot"]["id"] == run_id
        assert (body["snapshot"]["status"], body["snapshot"]["stop_reason"]) == ("done", "end_turn")
        assert "text" not in answer.text
    for known in (plan["serverRunId"], "my-plan"):
        answer = await server.http.get(f"/agents/runs/{known}/stream")
        assert answer.status_code == 410
    assert (await server.http.get(f"/api/runs/{waiting}")).status_code == 200


@MEMORY
@pytest.mark.parametrize(("days", "status"), [(30, 410), (None, 404)])
async def test_when_even_the_tombstone_is_gone_the_age_of_the_id_says_so(
    serve: Serve, days: int | None, status: int
) -> None:
    server = await serve(retention_days=days)
    old = first_id_at(server.process.engine.views._clock.now_ms() - 100 * DAY_MS)
    answer = await server.http.get(f"/api/runs/{old}")
    assert answer.status_code == status
    young = first_id_at(server.process.engine.views._clock.now_ms() - DAY_MS)
    assert (await server.http.get(f"/api/runs/{young}")).status_code == 404


AG_UI = {"threadId": "talk", "runId": "r1", "messages": [{"id": "m1", "role": "user", "content": "hello"}]}
UI_MESSAGE = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hello"}]}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/threads/{thread}/messages", {"content": "hello", "agent": "happy"}),
        ("/chats/{thread}/interactions", {"user_message": "hello", "agent": "happy"}),
        ("/api/ag-ui/happy", AG_UI),
        ("/api/ai/happy/talk", {"messages": [UI_MESSAGE]}),
    ],
)
async def test_a_repeated_request_shows_nothing_of_a_run_that_was_deleted(
    serve: Serve, path: str, body: dict[str, Any]
) -> None:
    """The events of the run are still in the memory of this process."""
    server = await serve()
    path, key = path.format(thread=await server.thread()), {"Idempotency-Key": "once"}
    first, again = [await server.http.post(path, json=body, headers=key) for _ in range(2)]
    assert (first.is_success, again.is_success) == (True, True), first.text
    [run] = (await server.http.get("/api/runs")).json()["runs"]
    await server.ended(run["run_id"])
    assert (await server.http.delete(f"/api/threads/{run['thread_id']}")).status_code == 204
    repeated = await server.http.post(path, json=body, headers=key)
    assert repeated.status_code in (404, 410), repeated.text
    assert "Ada" not in repeated.text
    assert (await server.http.get("/api/runs")).json()["runs"] == []
