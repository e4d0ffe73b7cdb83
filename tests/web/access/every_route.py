"""Every route of the app, and an owner with one object of every kind, for tests of access."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fastapi import FastAPI
from starlette.routing import Route

from runyard.base.ids import new_id, new_name
from runyard.domain.conversations.thread import Share
from runyard.domain.push import Push
from runyard.web.app import App
from tests.support.in_process.declared_statuses import DeclaredStatuses
from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream

NEEDED = {"/api/runs/{run_id}/request": "?at=1"}  # what the query of a route must have


class Operation(NamedTuple):
    method: str
    path: str

    @property
    def has_id(self) -> bool:
        return "{" in self.path

    def at(self, ids: Mapping[str, str]) -> str:
        return re.sub(r"{(\w+)}", lambda found: ids[found[1]], self.path) + NEEDED.get(self.path, "")


def app_of(server: Server) -> App:
    compared = server.uvicorn.config.app
    assert isinstance(compared, DeclaredStatuses)
    return compared.app


def operations(app: FastAPI) -> list[Operation]:
    """Return every route of the app, including those that OpenAPI does not list."""
    found = [
        Operation(method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in sorted(route.methods or ())
    ]
    assert len(app.routes) == sum(isinstance(route, Route) for route in app.routes), "a mount hides routes"
    return sorted(set(found))


ENDLESS = frozenset({"/api/sse", "/api/waits/changes", "/langgraph/threads/{thread_id}/stream/events"})
"""Streams that do not end."""
RECORD = "/api/agents/{agent_id}/runs/{run_id}"
UI_MESSAGES = {"messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hello"}]}]}
AG_UI_MESSAGE = {"id": "m1", "role": "user", "content": "hello"}
A2A_MESSAGE = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
APPROVE = "/chats/{chat_id}/interactions/{interaction_id}/approve"


class OwnedObjects:
    """The ids of one owner's objects by path parameter, and a valid body for each route."""

    def __init__(self, ids: dict[str, str], waiting: dict[str, str], langgraph: dict[str, str]) -> None:
        self.ids = ids
        self.langgraph = langgraph  # a thread and its run
        self._waiting = waiting

    def of(self, operation: Operation) -> dict[str, str]:
        if operation.path == RECORD:
            return {**self.ids, "agent_id": "happy"}
        if operation.path.startswith("/langgraph/"):
            return {**self.ids, **self.langgraph}
        if operation.path.startswith("/api/ag-ui/"):
            return {**self.ids, "thread_id": self.ids["chat_id"]}  # a thread with a run
        return {**self.ids, **self._waiting} if operation.path == APPROVE else self.ids

    def body(self, operation: Operation) -> Any:
        """Return a valid body, so that only the id can be wrong."""
        match operation:
            case ("POST", "/api/threads/{thread_id}/messages"):
                return {"content": "hello"}
            case ("POST", "/api/approvals/{approval_id}"):
                return {"decision": "approve"}
            case ("POST", "/api/waits/{wait_id}"):
                return {"value": "hello"}
            case ("POST", "/a2a/{agent}/tasks/{task_id}/pushNotificationConfigs"):
                return {"url": "https://192.0.2.1"}
            case ("POST", "/api/events"):
                return {"id": "e1", "name": "order.paid"}
            case ("POST", "/chats/{chat_id}/interactions"):
                return {"user_message": "hello"}
            case ("POST", "/chats/{chat_id}/interactions/{interaction_id}/edit"):
                return {"new_user_message": "hello"}
            case ("POST", path) if path == APPROVE:
                return {"approval_id": self._waiting["approval"], "approved": True}
            case ("POST", "/api/keys"):
                return {"owner": "ann"}
            case ("PATCH", "/api/threads/{thread_id}"):
                return {"title": "hello"}
            case ("PUT", "/api/runs/{run_id}/feedback"):
                return {"value": "up"}
            case ("PATCH", "/api/channels/{channel_id}"):
                return {"topic": "news"}
            case ("PATCH", "/api/messages/{message_id}"):
                return {"text": "hello"}
            case ("PUT", "/api/channels/{channel_id}/read"):
                return {"messageId": self.ids["news"]}
            case ("PUT", "/api/dms/{dm_id}/read"):
                return {"messageId": self.ids["message_id"]}
            case ("POST", "/api/messages/{message_id}/reactions"):
                return {"emoji": "ok"}
            case ("PATCH", "/api/agents/{agent_id}"):
                return {"title": "clerk"}
            case ("PUT", "/api/agents/{agent_id}/memory/{label}") | ("POST", "/api/agents/{agent_id}/passages"):
                return {"content": "hello"}
            case ("POST", "/api/ai/{agent}"):
                return {"id": "my-chat", **UI_MESSAGES}
            case ("POST", "/api/ai/{agent}/{chat_id}"):
                return UI_MESSAGES
            case ("POST", "/api/ag-ui/{agent}"):
                return {"threadId": "my-chat", "runId": "r1", "messages": [AG_UI_MESSAGE]}
            case (_, path) if path.startswith("/langgraph/"):
                return _langgraph_body(operation)
            case ("POST", "/a2a/{agent}/message:send" | "/a2a/{agent}/message:stream"):
                return {"message": A2A_MESSAGE}
            case ("POST", "/a2a/{agent}" | "/a2a/{agent}/"):
                return {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": A2A_MESSAGE}}
            case _:
                return None


def _langgraph_body(operation: Operation) -> Any:
    match operation:
        case ("POST", "/langgraph/runs/cancel"):
            return {"status": "pending"}
        case ("POST", path) if "/runs" in path and "{run_id}" not in path:
            return {"assistant_id": "happy", "input": "hello"}
        case ("POST", "/langgraph/assistants"):
            return {"graph_id": "happy"}
        case ("POST", "/langgraph/threads/{thread_id}/state/checkpoint"):
            return {"checkpoint": {"thread_id": None}}
        case ("POST", "/langgraph/threads/{thread_id}/state"):
            return {"values": {}}
        case ("POST", "/langgraph/threads/{thread_id}/stream/events"):
            return {"channels": ["values"]}
        case ("POST", "/langgraph/threads/{thread_id}/commands"):
            return {"id": 1, "method": "state.get", "params": {}}
        case ("PATCH", "/langgraph/threads/{thread_id}" | "/langgraph/threads/{thread_id}/state"):
            return {"metadata": {"topic": "rain"}}
        case _:
            return None


def unknown() -> Iterator[dict[str, str]]:
    """Yield ids of objects that do not exist: in the server's format, and made up by a client."""
    names = (
        "thread_id",
        "run_id",
        "chat_id",
        "approval_id",
        "wait_id",
        "key_id",
        "channel_id",
        "dm_id",
        "message_id",
        "agent_id",
        "member_id",
        "reader_id",
        "passage_id",
        "file_id",
        "name",
        "model",
        "stream_id",
        "task_id",
        "config_id",
        "assistant_id",
        "share_id",
        "checkpoint_id",
    )
    same = {"kind": "agent", "label": "notes", "emoji": "ok", "agent": "happy"}
    yield (
        {name: new_id() for name in names}
        | same
        | {
            "interaction_id": f"int_{new_id()}",
            "response_id": f"resp_{new_id()}",
            "conversation_id": f"conv_{new_id()}",
        }
    )
    yield {name: new_name(9) for name in (*names, "interaction_id", "response_id", "conversation_id")} | same


async def create_objects(server: Server, key: str) -> OwnedObjects:
    """Create one object of every kind as the owner of this key."""
    said = bearer(key)
    server.http.headers.update(said)
    try:
        thread_id, run_id = await server.thread(), await server.post("happy")
        await _ended(server, run_id, said)
        approval_id = await _waiting(server, await server.post("asks"), said)
        plan = await server.http.post("/agents/runs", json={"runId": "my-plan", "plan": "device"})
        assert plan.status_code == 201, plan.text
        done, _ = await _start_interaction(server, "happy", "interaction_complete", said)
        asked, approval = await _start_interaction(server, "asks", "approval_required", said)
        channel_objects = await _create_channel_objects(server)
        response = await server.http.post("/v1/responses", json={"model": "happy", "input": "hello"})
        conversation = await server.http.post("/v1/conversations", json={})
        kind = {"Content-Type": "text/plain"}
        file = await server.http.post("/api/files", params={"name": "a.txt"}, content=b"hello", headers=kind)
        found = await server.http.post("/langgraph/runs/wait", json={"assistant_id": "happy", "input": "hello"})
        _, _, thread, _, run = found.headers["content-location"].split("/")
        push = {"url": "https://192.0.2.1", "contextId": "c", "base": ""}
        await server.store.put_push(Push(run_id=run_id, id="c1", kind="a2a", data=push), 1, at_end=True)
        me = (await server.http.get("/api/me")).json()
        share = Share(id=new_id(), owner=me["owner"], thread_id=thread_id, digest=new_id(), upto=new_id())
        await server.store.create_share(share, 60_000, 9)
    finally:
        del server.http.headers["authorization"]
    ids = {
        "thread_id": thread_id,
        "run_id": run_id,
        "approval_id": approval_id,
        "wait_id": approval_id,
        "chat_id": "my-chat",
        "interaction_id": done,
        "key_id": "none",
        "response_id": response.json()["id"],
        "conversation_id": conversation.json()["id"],
        "model": "happy",
        "file_id": file.json()["file_id"],
        "agent": "happy",
        "stream_id": run_id,
        "task_id": run_id,
        "config_id": "c1",
        "share_id": share.id,
        "assistant_id": "happy",
        **channel_objects,
    }
    langgraph = {"thread_id": thread, "run_id": run, "checkpoint_id": run}
    return OwnedObjects(ids, {"interaction_id": asked, "approval": approval}, langgraph)


async def _create_channel_objects(server: Server) -> dict[str, str]:
    """Create a private channel with an agent, a memory of the agent, and a message to another agent."""

    async def make(path: str, **body: Any) -> str:
        answer = await server.http.post(path, json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    clerk = await make("/api/agents", id="anns-clerk", modelId="fake/model")
    channel = await make("/api/channels", name="accounting", kind="private")
    news = await make("/api/messages", channelId=channel, text="no agent is here yet")
    joined = await server.http.put(f"/api/channels/{channel}/members/agent/{clerk}")
    assert joined.is_success, joined.text
    dm = await make("/api/dms", agentId="happy")
    message = await make("/api/messages", dmConversationId=dm, text="hello")
    passage = await make(f"/api/agents/{clerk}/passages", content="hello")
    block = await server.http.put(f"/api/agents/{clerk}/memory/notes", json={"content": "hello", "isShared": True})
    assert block.is_success, block.text
    ids = {
        "channel_id": channel,
        "news": news,
        "dm_id": dm,
        "message_id": message,
        "agent_id": clerk,
        "passage_id": passage,
    }
    return ids | {"member_id": clerk, "kind": "agent", "reader_id": "happy", "label": "notes", "emoji": "ok"}


async def _ended(server: Server, run_id: str, said: Mapping[str, str]) -> None:
    stream = await server.whole_stream(f"/api/runs/{run_id}/events", said)
    assert stream.ended_cleanly


async def _waiting(server: Server, run_id: str, said: Mapping[str, str]) -> str:
    stream = await server.stream(f"/api/runs/{run_id}/log", said)
    await stream.frames_to("run.waiting")
    await stream.close()
    return str(stream.wire[-1][1]["data"]["waits"][0])


async def _start_interaction(server: Server, agent: str, until: str, said: Mapping[str, str]) -> tuple[str, str]:
    """Start an interaction. Return its id, and the id of the approval that it waits for."""
    body = {"user_message": "hello", "agent": agent}
    stream = await RawStream.open(server.port, "/chats/my-chat/interactions", said, body=body)
    await stream.frames_to(until)
    interaction = str(stream.wire[0][1]["interaction_id"])
    await stream.close()
    if until == "approval_required":
        await _waiting(server, interaction.removeprefix("int_"), said)
    return interaction, str(stream.wire[-1][1].get("approval_id", ""))


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
