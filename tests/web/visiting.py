"""Everything of one owner, and every route that leads to it: for somebody else it must look like nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from starlette.routing import Route

from runyard.ids import new_id, new_name
from runyard.web.app import App
from tests.faces.raw_stream import RawStream
from tests.faces.serving import Server


class Operation(NamedTuple):
    method: str
    path: str

    @property
    def has_id(self) -> bool:
        return "{" in self.path

    def at(self, ids: Mapping[str, str]) -> str:
        return re.sub(r"{(\w+)}", lambda found: ids[found[1]], self.path)


def app_of(server: Server) -> App:
    app = server.uvicorn.config.app
    assert isinstance(app, App)
    return app


def operations(app: App) -> list[Operation]:
    """Every route, also those that stand in no document."""
    found = [
        Operation(method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in sorted(route.methods or ())
    ]
    assert len(app.routes) == sum(isinstance(route, Route) for route in app.routes), "a mount hides routes"
    return sorted(set(found))


APPROVE = "/chats/{chat_id}/interactions/{interaction_id}/approve"


class Belongings:
    """What Ann has: ids by the names that routes give them, and what a request to a route may say."""

    def __init__(self, ids: dict[str, str], waiting: dict[str, str]) -> None:
        self.ids = ids
        self._waiting = waiting

    def of(self, operation: Operation) -> dict[str, str]:
        return {**self.ids, **self._waiting} if operation.path == APPROVE else self.ids

    def body(self, operation: Operation) -> Any:
        """A body that fits, so that nothing but the id can be wrong."""
        match operation:
            case ("POST", "/api/threads/{thread_id}/messages"):
                return {"content": "hello"}
            case ("POST", "/api/approvals/{approval_id}"):
                return {"decision": "approve"}
            case ("POST", "/chats/{chat_id}/interactions"):
                return {"user_message": "hello"}
            case ("POST", "/chats/{chat_id}/interactions/{interaction_id}/edit"):
                return {"new_user_message": "hello"}
            case ("POST", path) if path == APPROVE:
                return {"approval_id": self._waiting["approval"], "approved": True}
            case ("POST", "/api/keys"):
                return {"owner": "ann"}
            case _:
                return None


def unknown() -> Iterator[dict[str, str]]:
    """Ids of nothing: such as ours are, and such as a client may make up."""
    names = ("thread_id", "run_id", "chat_id", "approval_id", "key_id")
    yield {name: new_id() for name in names} | {"interaction_id": f"int_{new_id()}"}
    yield {name: new_name(9) for name in names} | {"interaction_id": new_name(9)}


async def move_in(server: Server, key: str) -> Belongings:
    """Let the owner of this key use everything once."""
    server.http.headers["authorization"] = f"Bearer {key}"
    said = {"authorization": f"Bearer {key}"}
    try:
        thread_id, run_id = await server.thread(), await server.post("happy")
        await _ended(server, run_id, said)
        approval_id = await _waiting(server, await server.post("asks"), said)
        plan = await server.http.post("/agents/runs", json={"runId": "my-plan", "plan": "device"})
        assert plan.status_code == 201, plan.text
        done, _ = await _said(server, "happy", "interaction_complete", said)
        asked, approval = await _said(server, "asks", "approval_required", said)
    finally:
        del server.http.headers["authorization"]
    ids = {
        "thread_id": thread_id,
        "run_id": run_id,
        "approval_id": approval_id,
        "chat_id": "my-chat",
        "interaction_id": done,
        "key_id": "none",
    }
    return Belongings(ids, {"interaction_id": asked, "approval": approval})


async def _ended(server: Server, run_id: str, said: Mapping[str, str]) -> None:
    stream = await server.whole_stream(f"/api/runs/{run_id}/events", said)
    assert stream.ended_cleanly


async def _waiting(server: Server, run_id: str, said: Mapping[str, str]) -> str:
    stream = await server.stream(f"/api/runs/{run_id}/log", said)
    await stream.frames_to("run.waiting")
    await stream.close()
    return str(stream.wire[-1][1]["data"]["approvals"][0])


async def _said(server: Server, agent: str, until: str, said: Mapping[str, str]) -> tuple[str, str]:
    """An interaction of the chat, and what it waits for."""
    body = {"user_message": "hello", "agent": agent}
    stream = await RawStream.open(server.port, "/chats/my-chat/interactions", said, body=body)
    await stream.frames_to(until)
    interaction = str(stream.wire[0][1]["interaction_id"])
    await stream.close()
    if until == "approval_required":
        await _waiting(server, interaction.removeprefix("int_"), said)
    return interaction, str(stream.wire[-1][1].get("approval_id", ""))
