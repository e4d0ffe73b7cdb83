"""Requests without a key, with another owner's key, or with a key of another scope are refused."""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

import httpx2
import pytest

from runyard.app.asgi import create_app
from runyard.base.clock import SystemClock
from runyard.domain.api_key import ALL_SCOPES
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from runyard.web import auth
from runyard.web.routing import FastRoutes
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.asgi_transport import AsgiTransport
from tests.support.in_process.live_server import QUICK, Serve, Server, served
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import Operation, OwnedObjects, app_of, bearer, create_objects, operations, unknown
from tests.web.responses.test_problems import MEMORY, problem

NAMED_BY_CLIENTS = {  # what does not exist is created, or is nothing to follow (204)
    Operation("POST", "/chats/{chat_id}/interactions"),
    Operation("POST", "/api/ai/{agent}"),
    Operation("POST", "/api/ai/{agent}/{chat_id}"),
    Operation("GET", "/api/ai/{agent}/{chat_id}/stream"),
    Operation("GET", "/api/ai/{agent}/{chat_id}/{stream_id}/stream"),
    Operation("POST", "/api/ag-ui/{agent}"),
    *(Operation("POST", f"/a2a/{{agent}}{path}") for path in ("", "/", "/message:send", "/message:stream")),
    Operation("GET", "/a2a/{agent}/tasks"),
    Operation("GET", "/a2a/{agent}/extendedAgentCard"),  # refused
    *(  # agents belong to every owner
        Operation("GET", f"/langgraph/assistants/{{assistant_id}}{path}")
        for path in ("", "/schemas", "/graph", "/subgraphs")
    ),
    Operation("POST", "/langgraph/assistants/{assistant_id}/versions"),
}
OF_EVERY_OWNER = Operation("GET", "/v1/models/{model}")
OF_OPERATORS = Operation("DELETE", "/api/keys/{key_id}")
OPEN = {Operation("GET", path) for path in auth.OPEN}


@MEMORY
async def test_without_a_key_every_route_but_health_and_the_page_is_401(locked: Server) -> None:
    tried, [ids, _] = 0, unknown()
    for operation in operations(app_of(locked)):
        answer = await locked.http.request(operation.method, operation.at(ids))
        if operation in OPEN:
            assert answer.status_code == (404 if "{name}" in operation.path or operation.path == auth.SHARED else 200)
            continue
        assert answer.status_code == 401, operation
        assert answer.headers["www-authenticate"] == "Bearer"
        if operation.method != "HEAD":
            assert "`runyard keys create`" in problem(answer, 401, "key_required")["detail"]
        tried += 1
    assert tried > 30


@MEMORY
async def test_every_fast_route_is_behind_the_guard_and_is_tried_without_a_key(locked: Server) -> None:
    """The guard comes first, then the fast routes. The tests of this file try every route of the app."""
    app = app_of(locked)
    door: Any = app._door._app._app  # type: ignore[attr-defined]
    assert isinstance(door, auth.Guard)
    fast: Any = door._app._app  # type: ignore[attr-defined]
    assert isinstance(fast, FastRoutes)
    tried = {(method, route.path_regex.pattern) for route in app.routes for method in route.methods}  # type: ignore[attr-defined]
    assert {(method, route.path_regex.pattern) for (method, _), found in fast._fast.items() for route in found} <= tried
    assert len(fast._fast) > 8


@MEMORY
async def test_a_key_without_the_scope_is_403_and_is_told_which(locked: Server) -> None:
    tried, [ids, _] = set(), unknown()
    keys = {scope: await locked.key("ann", *(ALL_SCOPES - {scope})) for scope in ALL_SCOPES}
    for operation in set(operations(app_of(locked))) - OPEN:
        needed = auth.need(operation.method, operation.path)
        assert needed is not None
        answer = await locked.http.request(operation.method, operation.at(ids), headers=bearer(keys[needed]))
        assert answer.status_code == 403, operation
        if operation.method != "HEAD":
            assert f"`{needed}`" in problem(answer, 403, "scope_missing")["detail"]
        tried.add(needed)
    assert tried == ALL_SCOPES


def test_every_route_in_the_table_of_scopes_exists() -> None:
    known = set(operations(create_app(Settings(), agents(Gate()))))
    assert {Operation(*named) for named in auth.NEEDS} <= known
    assert known >= OPEN


@pytest.mark.req("S3.24")
async def test_objects_of_another_owner_look_like_missing_ones(locked: Server) -> None:
    """On both databases, over all routes that take an id: the same status, headers and bytes as for an unknown one."""
    ann, bob = await locked.key("ann"), await locked.key("bob")
    anns = await create_objects(locked, ann)
    there = [each for each in operations(app_of(locked)) if each.has_id and each not in OPEN]
    tried = 0
    for operation in there:
        if operation in {*NAMED_BY_CLIENTS, OF_OPERATORS, OF_EVERY_OWNER}:
            continue
        ask = _asking(locked, operation, anns.body(operation))
        seen = [await ask(anns.of(operation), bob), *[await ask(ids, bob) for ids in unknown()]]
        for answer in seen:
            assert answer.status_code == 404, (operation, answer.text)
            assert (_stable_headers(answer), answer.content) == (_stable_headers(seen[0]), seen[0].content), operation
        tried += 1
    assert tried > 15
    for name in ("my-plan", "my-chat"):
        for path in (f"/agents/runs/{name}", f"/agents/runs/{name}/stream", f"/chats/{name}"):
            assert (await locked.http.get(path, headers=bearer(bob))).status_code == 404
    last = sorted(there, key=lambda one: (one.method == "DELETE", -len(one.path)))  # what is inside goes first
    for operation in last:  # and all of it was there all the time
        if operation != OF_OPERATORS:
            answer = await _asking(locked, operation, anns.body(operation))(anns.of(operation), ann)
            assert answer.status_code not in (401, 403, 404), (operation, answer.text)


def _asking(
    server: Server, operation: Operation, body: Any
) -> Callable[[Mapping[str, str], str], Awaitable[httpx2.Response]]:
    async def ask(ids: Mapping[str, str], key: str) -> httpx2.Response:
        """Read only the beginning of a stream that continues."""
        sent = server.http.build_request(operation.method, operation.at(ids), json=body, headers=bearer(key))
        answer = await server.http.send(sent, stream=True)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            await answer.aread()
        await answer.aclose()
        return answer

    return ask


def _stable_headers(answer: httpx2.Response) -> dict[str, str]:
    """Return the headers without those that differ between responses."""
    return {name: value for name, value in answer.headers.items() if name not in ("date", "x-request-id")}


store_calls: ContextVar[list[str] | None] = ContextVar("store_calls", default=None)


class NotingStore(MemoryStore):
    """Records which store operations a request uses."""

    def __getattribute__(self, name: str) -> Any:
        found, noted = super().__getattribute__(name), store_calls.get()
        if noted is not None and callable(found) and not name.startswith("_"):
            noted.append(name)
        return found


async def test_objects_of_another_owner_cost_the_same_store_calls_as_missing_ones(gate: Gate) -> None:
    """So that the time it takes tells nothing either."""
    store = NotingStore(SystemClock())
    async with served(Settings(**QUICK), agents(gate), store, keys=True) as server:
        anns, bob = await create_objects(server, await server.key("ann")), await server.key("bob")
        app = app_of(server)
        version = {"A2A-Version": "1.0"}
        async with httpx2.AsyncClient(transport=AsgiTransport(app), base_url="http://app", headers=version) as http:
            for operation in operations(app):
                if not operation.has_id or operation in {*NAMED_BY_CLIENTS, OF_OPERATORS, OF_EVERY_OWNER, *OPEN}:
                    continue
                seen = []
                for ids in (anns.of(operation), next(unknown())):
                    noted: list[str] = []
                    store_calls.set(noted)
                    body, path = anns.body(operation), operation.at(ids)
                    answer = await http.request(operation.method, path, json=body, headers=bearer(bob))
                    assert answer.status_code == 404
                    seen.append([name for name in noted if name != "get_api_key"])
                store_calls.set(None)
                # an invented approval id is looked up in the same way
                assert seen[0] == seen[1], operation


async def test_runs_at_work_in_this_process_are_hidden_from_other_owners(locked: Server, gate: Gate) -> None:
    ann, bob = await locked.key("ann"), await locked.key("bob")
    locked.http.headers.update(bearer(ann))
    run_id = await locked.post("gated")
    await gate.until_reached()
    tried = 0
    for operation in operations(app_of(locked)):
        if "{run_id}" in operation.path:
            answer = await _asking(locked, operation, OwnedObjects({}, {}, {}).body(operation))(
                {"run_id": run_id, "agent_id": "gated", "thread_id": "none"}, bob
            )
            assert answer.status_code == 404, operation
            tried += 1
    assert tried > 5
    assert (await locked.run(run_id))["status"] == "running"


async def test_lists_hold_ones_own_and_names_are_free_for_everybody(locked: Server) -> None:
    ann, bob = await locked.key("ann"), await locked.key("bob")
    await create_objects(locked, ann)
    for path in ("/api/threads", "/api/runs", "/api/approvals", "/chats"):
        [own] = [rows for rows in (await _get(locked, path, ann)).values() if isinstance(rows, list)]
        [other] = [rows for rows in (await _get(locked, path, bob)).values() if isinstance(rows, list)]
        assert own, path
        assert other == [], path
    body = {"user_message": "hello", "agent": "happy"}
    stream = await RawStream.open(locked.port, "/chats/my-chat/interactions", bearer(bob), body=body)
    await stream.to_end()
    assert stream.ended_cleanly
    assert len((await _get(locked, "/chats/my-chat", bob))["interactions"]) == 1
    assert len((await _get(locked, "/chats/my-chat", ann))["interactions"]) == 2
    started = await locked.http.post("/agents/runs", json={"runId": "my-plan", "plan": "device"}, headers=bearer(bob))
    assert started.status_code == 201  # 200 would mean: attached to another owner's run
    for key in (ann, bob):
        answer = await locked.http.post("/api/threads", json={}, headers={**bearer(key), "Idempotency-Key": "once"})
        assert answer.status_code == 201
        assert (await _get(locked, f"/api/threads/{answer.json()['thread_id']}", key))["messages"] == []


async def _get(server: Server, path: str, key: str) -> dict[str, Any]:
    answer = await server.http.get(path, headers=bearer(key))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_decision_records_its_owner(locked: Server) -> None:
    ann = await locked.key("ann")
    anns = await create_objects(locked, ann)
    answer = await locked.http.post(
        f"/api/approvals/{anns.ids['approval_id']}", json={"decision": "approve"}, headers=bearer(ann)
    )
    stream = await locked.whole_stream(f"/api/runs/{answer.json()['run_id']}/log", bearer(ann))
    [decided] = [data["data"] for name, data in stream.wire if name == "approval.decided"]
    assert decided["by"] == "ann"


@MEMORY
async def test_the_document_says_what_each_operation_needs(serve: Serve) -> None:
    locked, unlocked = await serve(keys=True), await serve()
    document = await _get(locked, "/openapi.json", await locked.key("ann", "read"))
    assert set(document["components"]["securitySchemes"]) == {"bearer", "header"}
    for path, found in document["paths"].items():
        for method, operation in found.items():
            needed = auth.need(method.upper(), path)
            assert operation["security"] == ([] if needed is None else [{"bearer": [needed]}, {"header": [needed]}])
    free = (await unlocked.http.get("/openapi.json")).json()
    assert "securitySchemes" not in free["components"]
