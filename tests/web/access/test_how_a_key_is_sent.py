"""A key comes in one of two headers; nothing else is a key, and no route bypasses the check."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from tests.support.in_process.live_server import Server
from tests.support.in_process.raw_stream import RawStream
from tests.web.access.every_route import app_of, bearer
from tests.web.responses.test_problems import MEMORY, problem


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
    """Sent byte by byte, because a client library would correct or refuse it."""
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
        "k" * 30_000,
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
        assert "two different API keys" in problem(answer, 400, "bad_request")["detail"]


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
