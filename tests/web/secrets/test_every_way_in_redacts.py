"""With redaction on, no route stores sensitive text: every route and every field that takes text is in one table.

`CONTENT` holds what each route is sent; every text in it carries the sensitive one. `IDS` names the fields that are
ids: those are stored and returned unchanged. `ANSWERED` names fields for answers, which test_answers_redact.py sends.
A new route or a new field is in none of them, and fails the first test.
"""

from typing import Any

import pytest

from runyard.app.asgi import create_app
from runyard.settings import Settings
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.live_server import QUICK, Server, served
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import Operation, operations
from tests.web.secrets.stored_text import columns_with
from tests.web.secrets.ways_in import ANSWERED, APPROVE, CONTENT, IDS, LG_BATCH, LG_PATHS, LG_RUN, MAIL, NO_BODY, SAID


def test_every_route_and_field_that_takes_text_is_in_the_table() -> None:
    app = create_app(Settings(), agents(Gate()))
    document = app.openapi()
    writing = {tuple(one) for one in operations(app) if one.method in ("POST", "PUT", "PATCH")}
    assert writing == CONTENT.keys() | IDS.keys() | NO_BODY
    for method, path in writing:
        content, ids = CONTENT.get((method, path), {}), IDS.get((method, path), set())
        given = content.keys() | ids | ANSWERED.get((method, path), set())
        assert _fields(document, method, path) == given, (method, path)


def _fields(document: dict[str, Any], method: str, path: str) -> set[str]:
    body = document["paths"][path][method.lower()].get("requestBody")
    if body is None:
        return set()
    if "application/json" not in body["content"]:
        return set()
    schema = body["content"]["application/json"]["schema"]
    schema = schema.get("items", schema)
    [name] = [each["$ref"] for each in (schema, *schema.get("anyOf", ())) if "$ref" in each]
    return set(document["components"]["schemas"][name.rpartition("/")[2]]["properties"])


@pytest.mark.req("S1.48")
async def test_no_way_in_stores_sensitive_text(database_url: str) -> None:
    settings = Settings(database_url=database_url, redact="email", **QUICK)
    async with served(settings, agents(Gate())) as server:
        visit = Visit(server)
        await visit.everything()
        assert visit.sent == set(CONTENT), "what is in the table was sent"
        listed = (await server.http.get("/api/runs?limit=200")).json()["runs"]
        for run in listed:
            await server.ended(run["run_id"])
        logs = str([await server.log(run["run_id"]) for run in listed])
    assert await columns_with(MAIL, database_url) == set()
    assert MAIL not in logs
    assert "'question': 'ask [email]'" in logs, "a task's inputs stand in run.queued"


@pytest.mark.req("S1.48")
async def test_without_redaction_the_same_visit_leaves_it_everywhere(database_url: str) -> None:
    async with served(Settings(database_url=database_url, **QUICK), agents(Gate())) as server:
        await Visit(server).everything()
    found = await columns_with(MAIL, database_url)
    assert {
        "messages.text",
        "run_events.data",
        "threads.name",
        "threads.topic",
        "threads.title",
        "agents.persona",
    } <= found


class Visit:
    """Sends the table, route by route."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sent: set[tuple[str, str]] = set()

    async def send(self, method: str, path: str, ids: dict[str, str] | None = None, **more: Any) -> Any:
        body = {**CONTENT[method, path], **more}
        answer = await self.server.http.request(method, Operation(method, path).at(ids or {}), json=body)
        assert answer.is_success, (method, path, answer.text)
        self.sent.add((method, path))
        return answer.json() if answer.headers["content-type"] == "application/json" else None

    async def chat(self, path: str, ids: dict[str, str], until: str, **more: Any) -> tuple[str, Any]:
        """The interaction that a stream began with, and its frame of that name."""
        body = {**CONTENT["POST", path], **more}
        stream = await RawStream.open(self.server.port, Operation("POST", path).at(ids), {}, body=body)
        await stream.frames_to(until)
        await stream.close()
        self.sent.add(("POST", path))
        return str(stream.wire[0][1]["interaction_id"]), stream.wire[-1][1]

    async def everything(self) -> None:
        await self._runs()
        await self._chats()
        await self._channels()
        await self._agents()
        await self.send("POST", "/v1/responses", model="happy")
        await self.send("POST", "/v1/chat/completions", model="happy")
        await self.send("POST", "/api/ai/{agent}", {"agent": "happy"}, id="c1")
        await self.send("POST", "/api/ai/{agent}/{chat_id}", {"agent": "happy", "chat_id": "c2"})
        await self.send("POST", "/api/ag-ui/{agent}", {"agent": "happy"}, threadId="t1", runId="r1")
        await self.send("POST", "/mcp", jsonrpc="2.0", id=1)
        for path in ("", "/", "/message:send", "/message:stream"):
            await self.send("POST", f"/a2a/{{agent}}{path}", {"agent": "happy"})
        thread = await self.send("POST", "/langgraph/threads")
        await self.send("PATCH", "/langgraph/threads/{thread_id}", thread)
        await self.send("PATCH", "/langgraph/threads/{thread_id}/state", thread)
        started = await self.send("POST", "/langgraph/threads/{thread_id}/commands", thread, id=1)
        await self.server.ended(started["result"]["run_id"])  # a run under way refuses a new state
        await self.send("POST", "/langgraph/threads/{thread_id}/state", thread)
        for path in LG_PATHS:
            await self.send("POST", path, {"thread_id": thread["thread_id"]}, assistant_id="happy")
        batch = await self.server.http.post(LG_BATCH, json=[{**LG_RUN, "assistant_id": "happy"}])
        assert batch.is_success, batch.text
        self.sent.add(("POST", LG_BATCH))
        for path in ("/agents/run/sync", "/agents/run/stream"):
            self.sent.add(("POST", path))
            asked = {**CONTENT["POST", path], "request_id": "r1", "task_type": "happy"}
            headers = {"Idempotency-Key": "once"}
            for _ in range(2):  # the second time the run is found again, by what was stored of the first
                answer = await self.server.http.post(path, json=asked, headers=headers)
                assert answer.status_code == 200, answer.text

    async def _runs(self) -> None:
        thread = await self.server.thread()
        run = await self.send("POST", "/api/threads/{thread_id}/messages", {"thread_id": thread}, agent="mails")
        approval = await self.server.waiting(run["run_id"])
        await self.send("POST", "/api/approvals/{approval_id}", {"approval_id": approval}, decision="approve")
        await self.server.ended(run["run_id"])
        await self.send("POST", "/api/keys", owner="ann")
        await self.send("PATCH", "/api/threads/{thread_id}", {"thread_id": thread})
        await self.send("PUT", "/api/runs/{run_id}/feedback", run, value="down")
        await self._waits(thread)
        await self._files(thread)

    async def _files(self, thread: str) -> None:
        kind = {"Content-Type": "text/plain"}
        file = await self.server.http.post("/api/files", params={"name": MAIL}, content=b"hello", headers=kind)
        parts = [
            {"type": "text", "text": SAID},
            {"type": "data", "data": {MAIL: [SAID]}},
            {"type": "file", "file_id": file.json()["file_id"]},
        ]
        path = "/api/threads/{thread_id}/messages"
        await self.send("POST", path, {"thread_id": thread}, agent="happy", content=None, parts=parts)

    async def _waits(self, thread: str) -> None:
        run = await self.send("POST", "/api/threads/{thread_id}/messages", {"thread_id": thread}, agent="books")
        path = "/api/waits/{wait_id}"
        await self.send("POST", path, {"wait_id": await self.server.waiting(run["run_id"])}, error=None)
        await self.send("POST", path, {"wait_id": await self.server.waiting(run["run_id"], times=2)})  # a client tool
        await self.send("POST", "/api/events", id="e1", name="order.paid")

    async def _chats(self) -> None:
        ids = {"chat_id": "c1"}
        first, _ = await self.chat("/chats/{chat_id}/interactions", ids, "interaction_complete", agent="happy")
        ids["interaction_id"] = first
        edit = "/chats/{chat_id}/interactions/{interaction_id}/edit"
        second, asked = await self.chat(edit, ids, "approval_required", agent="mails")
        ids["interaction_id"] = second
        await self.server.waiting(second.removeprefix("int_"))
        await self.send("POST", APPROVE, ids, approval_id=asked["approval_id"], approved=True)

    async def _channels(self) -> None:
        channel = await self.send("POST", "/api/channels", agents=["happy"])
        await self.send("PATCH", "/api/channels/{channel_id}", {"channel_id": channel["id"]})
        message = await self.send("POST", "/api/messages", channelId=channel["id"])
        ids = {"message_id": message["id"]}
        await self.send("PATCH", "/api/messages/{message_id}", ids)
        await self.send("POST", "/api/messages/{message_id}/reactions", ids)
        taken = await self.server.http.delete(f"/api/messages/{message['id']}/reactions/{MAIL}")
        assert taken.status_code == 204, "it is found again by the text that was sent"
        await self.send("POST", "/api/messages/{message_id}/reactions", ids)

    async def _agents(self) -> None:
        clerk = await self.send("POST", "/api/agents", id="clerk", modelId="fake/model")
        ids = {"agent_id": clerk["id"], "label": MAIL}
        await self.send("PATCH", "/api/agents/{agent_id}", ids)
        await self.send("PUT", "/api/agents/{agent_id}/memory/{label}", ids)
        await self.send("POST", "/api/agents/{agent_id}/passages", ids)
