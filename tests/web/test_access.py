"""Nobody gets past the door without a key, with somebody else's key, or with one that is for something else."""

import io
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

import httpx2
import pytest

from runyard.asgi import create_app
from runyard.cli.in_process import InProcess
from runyard.clock import SystemClock
from runyard.domain.api_key import ALL_SCOPES
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from runyard.web import auth
from runyard.web.routing import Shortcut
from tests.faces.agents_for_tests import Gate, agents
from tests.faces.raw_stream import RawStream
from tests.faces.serving import QUICK, Serve, Server, served
from tests.web.test_problems import MEMORY, StoreThatGoesAway, log_lines, problem
from tests.web.visiting import Operation, app_of, move_in, operations, unknown

__all__ = ["log_lines"]

NAMED_BY_CLIENTS = Operation("POST", "/chats/{chat_id}/interactions")
OF_OPERATORS = Operation("DELETE", "/api/keys/{key_id}")
OPEN = {Operation("GET", path) for path in auth.OPEN}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
async def locked(serve: Serve) -> Server:
    """A server whose callers need a key."""
    return await serve(keys=True)


# --- every route ---------------------------------------------------------------------------------------------------


@MEMORY
async def test_without_a_key_every_route_but_health_and_the_page_is_401(locked: Server) -> None:
    tried, [ids, _] = 0, unknown()
    for operation in operations(app_of(locked)):
        answer = await locked.http.request(operation.method, operation.at(ids))
        if operation in OPEN:
            assert answer.status_code == (404 if operation.has_id else 200)
            continue
        assert answer.status_code == 401, operation
        assert answer.headers["www-authenticate"] == "Bearer"
        if operation.method != "HEAD":
            assert "`runyard keys create`" in problem(answer, 401, "key_required")["detail"]
        tried += 1
    assert tried > 30


@MEMORY
async def test_the_short_way_leads_to_no_route_that_was_not_walked(locked: Server) -> None:
    """The guard is the first thing that a request meets, and the short way lies behind it."""
    app = app_of(locked)
    door: Any = app._door._app  # type: ignore[attr-defined]
    assert isinstance(door, auth.Guard)
    shortcut: Any = door._app._app  # type: ignore[attr-defined]
    assert isinstance(shortcut, Shortcut)
    walked = {(method, route.path_regex.pattern) for route in app.routes for method in route.methods}  # type: ignore[attr-defined]
    assert {(method, pattern.pattern) for method, pattern, *_ in shortcut._plain} <= walked
    assert len(shortcut._plain) > 8


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


def test_what_the_table_of_needs_names_is_there() -> None:
    known = set(operations(create_app(Settings(), agents(Gate()))))
    assert {Operation(*named) for named in auth.NEEDS} <= known
    assert known >= OPEN


@pytest.mark.req("S3.24")
async def test_what_is_somebody_elses_looks_like_nothing(locked: Server) -> None:
    """On both databases, over all routes that take an id: the same status, headers and bytes as for an unknown one."""
    ann, bob = await locked.key("ann"), await locked.key("bob")
    anns = await move_in(locked, ann)
    there = [each for each in operations(app_of(locked)) if each.has_id and each not in OPEN]
    tried = 0
    for operation in there:
        if operation in (NAMED_BY_CLIENTS, OF_OPERATORS):
            continue
        ask = _asking(locked, operation, anns.body(operation))
        seen = [await ask(anns.of(operation), bob), *[await ask(ids, bob) for ids in unknown()]]
        for answer in seen:
            assert answer.status_code == 404, (operation, answer.text)
            assert (_told(answer), answer.content) == (_told(seen[0]), seen[0].content), operation
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
        """Of a stream that goes on only the beginning is read."""
        sent = server.http.build_request(operation.method, operation.at(ids), json=body, headers=bearer(key))
        answer = await server.http.send(sent, stream=True)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            await answer.aread()
        await answer.aclose()
        return answer

    return ask


def _told(answer: httpx2.Response) -> dict[str, str]:
    """But for what differs from one answer to the next."""
    return {name: value for name, value in answer.headers.items() if name not in ("date", "x-request-id")}


asked: ContextVar[list[str] | None] = ContextVar("asked", default=None)


class NotingStore(MemoryStore):
    """Notes, for whoever wants it, which operations a request takes."""

    def __getattribute__(self, name: str) -> Any:
        found, noted = super().__getattribute__(name), asked.get()
        if noted is not None and callable(found) and not name.startswith("_"):
            noted.append(name)
        return found


async def test_what_is_somebody_elses_is_asked_of_the_store_as_what_is_unknown(gate: Gate) -> None:
    """So that the time it takes tells nothing either."""
    store = NotingStore(SystemClock())
    async with served(Settings(**QUICK), agents(gate), store, keys=True) as server:
        anns, bob = await move_in(server, await server.key("ann")), await server.key("bob")
        app = app_of(server)
        async with httpx2.AsyncClient(transport=InProcess(app), base_url="http://app") as http:
            for operation in operations(app):
                if not operation.has_id or operation in (NAMED_BY_CLIENTS, OF_OPERATORS, *OPEN):
                    continue
                seen = []
                for ids in (anns.of(operation), next(unknown())):
                    noted: list[str] = []
                    asked.set(noted)
                    body, path = anns.body(operation), operation.at(ids)
                    answer = await http.request(operation.method, path, json=body, headers=bearer(bob))
                    assert answer.status_code == 404
                    seen.append([name for name in noted if name != "get_api_key"])
                asked.set(None)
                # an approval that is asked for by a made-up id of ours is looked for in the same way
                assert seen[0] == seen[1], operation


async def test_what_is_at_work_here_is_nobody_elses_either(locked: Server, gate: Gate) -> None:
    ann, bob = await locked.key("ann"), await locked.key("bob")
    locked.http.headers.update(bearer(ann))
    run_id = await locked.post("gated")
    await gate.until_reached()
    tried = 0
    for operation in operations(app_of(locked)):
        if "{run_id}" in operation.path:
            answer = await _asking(locked, operation, None)({"run_id": run_id, "agent_id": "gated"}, bob)
            assert answer.status_code == 404, operation
            tried += 1
    assert tried > 5
    assert (await locked.run(run_id))["status"] == "running"


async def test_lists_hold_ones_own_and_names_are_free_for_everybody(locked: Server) -> None:
    ann, bob = await locked.key("ann"), await locked.key("bob")
    await move_in(locked, ann)
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
    assert started.status_code == 201  # 200 would be: attached to the run of somebody else
    for key in (ann, bob):
        answer = await locked.http.post("/api/threads", json={}, headers={**bearer(key), "Idempotency-Key": "once"})
        assert answer.status_code == 201
        assert (await _get(locked, f"/api/threads/{answer.json()['thread_id']}", key))["messages"] == []


async def _get(server: Server, path: str, key: str) -> dict[str, Any]:
    answer = await server.http.get(path, headers=bearer(key))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_who_decides_is_on_record(locked: Server) -> None:
    ann = await locked.key("ann")
    anns = await move_in(locked, ann)
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


# --- what is sent --------------------------------------------------------------------------------------------------


@MEMORY
async def test_a_key_is_taken_from_either_header_however_it_is_written(locked: Server) -> None:
    key = await locked.key("ann")
    for headers in (
        {"Authorization": f"Bearer {key}"},
        {"authorization": f"bearer {key}"},
        {"AUTHORIZATION": f"BEARER \t {key}  "},
        {"X-API-Key": key},
        {"x-api-key": f" {key} "},
        {"Authorization": f"Bearer {key}", "X-API-Key": key},
        {"Authorization": "Basic YTpi", "X-API-Key": key},  # that of a proxy
        {"Authorization": f"Bearer {key}", "X-API-Key": ""},
    ):
        assert (await answered(locked, headers)).status == 200, headers


async def answered(server: Server, headers: Mapping[str, str]) -> RawStream:
    """As it was sent, byte by byte: a client library would mend or refuse it."""
    return await server.whole_stream("/api/runs", headers)


@MEMORY
async def test_anything_else_is_no_key(locked: Server) -> None:
    key, other = await locked.key("ann"), await locked.key("ann")
    name, secret = key.split("_")[1:]
    expired = await locked.key("ann", seconds=-1)
    revoked = await locked.key("ann")
    await locked.process.engine.access.revoke(revoked.split("_")[1])
    bodies = set()
    for given in (
        "",
        " ",
        "x",
        "ry_",
        "ry__",
        f"ry_{name}_",
        f"ry_{name}",
        f"ry_{name}_{other.split('_')[2]}",
        f"ry_{name}_{secret[:-1]}",
        f"ry_{name}_{secret}x",
        f"ry_{name.upper()}_{secret}",
        f"ry_aaaaaaaaaaaa_{secret}",
        f"{key} {key}",
        f"{key}, {key}",
        f'"{key}"',
        key * 100,
        "k" * 60_000,
        "ключ".encode().decode("latin-1"),
        "ry_\u00e9\u00e9\u00e9",
        "\xff\xfe",
        expired,
        revoked,
    ):
        for headers in ({"Authorization": f"Bearer {given}"}, {"X-API-Key": given}, {"Authorization": given}):
            answer = await answered(locked, headers)
            assert answer.status == 401, headers
            bodies.add(bytes(answer.body))
    assert len(bodies) == 1
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": key}, {"Authorization": f"Basic {key}"}):
        assert (await answered(locked, headers)).status == 401, headers


@MEMORY
async def test_a_key_in_the_address_or_the_body_is_none(locked: Server) -> None:
    key = await locked.key("ann")
    for name in ("api_key", "key", "token", "access_token", "authorization", "X-API-Key"):
        assert (await locked.http.get("/api/runs", params={name: key})).status_code == 401
        assert (await locked.http.get("/api/runs", headers={"Cookie": f"{name}={key}"})).status_code == 401
    assert (await locked.http.post("/api/threads", json={"api_key": key})).status_code == 401


@MEMORY
async def test_two_keys_that_disagree_are_400(locked: Server) -> None:
    one, two = await locked.key("ann"), await locked.key("bob")
    for headers in (
        [("Authorization", f"Bearer {one}"), ("X-API-Key", two)],
        [("Authorization", f"Bearer {one}"), ("Authorization", f"Bearer {two}")],
        [("X-API-Key", one), ("X-API-Key", "x")],
    ):
        answer = await locked.http.get("/api/runs", headers=headers)
        assert "Two different API keys" in problem(answer, 400, "bad_request")["detail"]


@MEMORY
@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "PROPFIND"])
async def test_no_method_goes_around_the_door(locked: Server, method: str) -> None:
    for path in ("/api/runs", "/metrics", "/nothing", "/assets", "//api/runs", "/api/runs/", "/health/../api/runs"):
        assert (await locked.http.request(method, path)).status_code == 401, path
    answer = await locked.http.request(method, "/nothing", headers=bearer(await locked.key("ann")))
    assert answer.status_code in (404, 405)


@MEMORY
async def test_a_path_that_is_written_oddly_needs_no_less(locked: Server) -> None:
    """The router takes a line break at the end for nothing; the door must not see another path there."""
    reader = bearer(await locked.key("ann", "read"))
    for path in ("/metrics%0A", "/%6Detrics", "/api/keys%0a", "/api/%6beys"):
        answer = await locked.http.get(path, headers=reader)
        assert answer.status_code in (403, 404), path
    writer = bearer(await locked.key("ann", "read", "write"))
    for path in ("/api/approvals/x%0A", "/chats/c/interactions/i/approve%0A", "/api%2Fapprovals/x"):
        answer = await locked.http.post(path, json={"decision": "approve"}, headers=writer)
        assert answer.status_code in (403, 404), path


@MEMORY
async def test_below_another_app_the_same_is_needed(locked: Server) -> None:
    reader = await locked.key("ann", "read")
    for path, status in (("/below/metrics", 403), ("/below/health", 200), ("/below/api/runs", 200)):
        answers: list[Any] = []
        scope = _scope(path, [(b"x-api-key", reader.encode())]) | {"root_path": "/below"}
        await app_of(locked)(scope, _nothing, _into(answers))
        assert answers[0]["status"] == status, path


@MEMORY
async def test_a_websocket_is_closed_before_it_is_open(locked: Server) -> None:
    answers: list[Any] = []
    await app_of(locked)({"type": "websocket", "path": "/api/runs", "headers": []}, _nothing, _into(answers))
    assert answers == [{"type": "websocket.close", "code": 1008}]


def _scope(path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def _into(answers: list[Any]) -> Callable[[Any], Awaitable[None]]:
    async def send(message: Any) -> None:
        answers.append(message)

    return send


# --- what becomes of a key -----------------------------------------------------------------------------------------


@MEMORY
async def test_a_revoked_key_opens_nothing_and_its_streams_are_cut(serve: Serve, gate: Gate) -> None:
    server = await serve(keys=True, heartbeat_seconds=0.05)
    ann, other, operator = await server.key("ann"), await server.key("ann"), await server.key("root", "operate")
    server.http.headers.update(bearer(ann))
    run_id = await server.post("gated")
    await gate.until_reached()
    cut, kept = [await server.stream(f"/api/runs/{run_id}/events", bearer(key)) for key in (ann, other)]
    await kept.pings(1)
    answer = await server.http.delete(f"/api/keys/{ann.split('_')[1]}", headers=bearer(operator))
    assert answer.json()["revoked_at"] is not None
    assert (await server.http.get("/api/runs")).status_code == 401
    await cut.to_end()
    assert cut.was_cut
    gate.open.set()
    await kept.to_end()
    assert kept.ended_cleanly


async def test_keys_are_made_listed_and_revoked_by_operators(locked: Server) -> None:
    root = bearer(await locked.key("root", "operate"))
    wanted = {"owner": "ann", "label": "laptop", "scopes": ["read"], "expires_in": 3600}
    answer = await locked.http.post("/api/keys", json=wanted, headers=root)
    made = answer.json()
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert (made["owner"], made["label"], made["scopes"], made["revoked_at"]) == ("ann", "laptop", ["read"], None)
    assert (await locked.http.get("/api/runs", headers=bearer(made["key"]))).status_code == 200
    page = await locked.http.get("/api/keys", params={"owner": "ann"}, headers=root)
    assert page.json() == {"keys": [{name: value for name, value in made.items() if name != "key"}], "next": None}
    first = (await locked.http.get("/api/keys", params={"limit": 1}, headers=root)).json()
    second = (await locked.http.get("/api/keys", params={"limit": 1, "before": first["next"]}, headers=root)).json()
    assert [row["owner"] for row in first["keys"] + second["keys"]] == ["ann", "root"]
    assert (await locked.http.delete(f"/api/keys/{made['key_id']}", headers=root)).status_code == 200
    problem(await locked.http.get("/api/runs", headers=bearer(made["key"])), 401, "key_required")
    problem(await locked.http.delete("/api/keys/nobody", headers=root), 404, "not_found")


@MEMORY
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"owner": ""},
        {"owner": ".."},
        {"owner": "a b"},
        {"owner": "a/b"},
        {"owner": "ann\n"},
        {"owner": "\u00e4nn"},
        {"owner": "a" * 129},
        {"owner": "ann", "scopes": []},
        {"owner": "ann", "scopes": ["all"]},
        {"owner": "ann", "expires_in": 0},
        {"owner": "ann", "expires_in": 10**18},
        {"owner": "ann", "label": "x" * 201},
    ],
)
async def test_a_key_that_makes_no_sense_is_422(locked: Server, body: dict[str, Any]) -> None:
    root = bearer(await locked.key("root", "operate"))
    problem(await locked.http.post("/api/keys", json=body, headers=root), 422, "invalid")


async def test_while_the_database_is_away_a_key_that_nobody_remembers_is_503(gate: Gate) -> None:
    store = StoreThatGoesAway(SystemClock())
    async with served(Settings(**QUICK), agents(gate), store, worker=False, keys=True) as server:
        known, new = await server.key("root"), await server.key("root")
        assert (await server.http.get("/metrics", headers=bearer(known))).status_code == 200
        store.away = True
        assert (await server.http.get("/metrics", headers=bearer(known))).status_code == 200
        problem(await server.http.get("/metrics", headers=bearer(new)), 503, "unavailable")
        problem(await server.http.get("/metrics"), 401, "key_required")
        store.away = False
        assert (await server.http.get("/metrics", headers=bearer(new))).status_code == 200


async def test_no_key_is_in_any_log_line_or_answer_and_lines_say_whose_request_it_was(
    log_lines: io.StringIO, gate: Gate
) -> None:
    class BrokenStore(MemoryStore):
        async def list_runs(self, *given: object, **more: object) -> Any:
            raise ValueError

    async with served(Settings(**QUICK), agents(gate), BrokenStore(SystemClock()), keys=True) as server:
        good, poor, gone = await server.key("ann"), await server.key("ann", "read"), await server.key("ann")
        await server.process.engine.access.revoke(gone.split("_")[1])
        sent = [good, poor, gone, f"ry_aaaaaaaaaaaa_{'S' * 43}", "xMARKERx"]
        answers = []
        for key in sent:
            for headers in (bearer(key), {"X-API-Key": key}, {"X-API-Key": key, "Authorization": "Bearer xMARKERx"}):
                answers += [await server.http.get(path, headers=headers) for path in ("/api/runs", "/metrics", "/x")]
    assert {answer.status_code for answer in answers} >= {200, 400, 401, 403, 404, 500}
    seen = [log_lines.getvalue(), *(answer.text + str(answer.headers) for answer in answers)]
    for key in sent:
        assert not any(key in text or key.rpartition("_")[2] in text for text in seen)
    lines = log_lines.getvalue()
    name = good.split("_")[1]
    assert f'"error": "ValueError", "owner": "ann", "key": "{name}"' in lines
    for why in ("revoked", "unknown"):
        assert f'"why": "{why}"' in lines
