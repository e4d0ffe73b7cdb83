"""A link shows one conversation as it was, without a key, until it expires, is revoked, or the thread is deleted."""

from typing import Any

import httpx2
import pytest

from tests.support.in_process.live_server import Serve, Server
from tests.web.access.every_route import bearer


async def _read(server: Server, token: str) -> httpx2.Response:
    return await server.http.get("/api/shared", headers={"X-Share-Token": token})


async def _said(server: Server, text: str, thread: str, key: dict[str, str]) -> str:
    path = f"/api/threads/{thread}/messages"
    answer = await server.http.post(path, json={"content": text, "agent": "happy"}, headers=key)
    run_id = str(answer.json()["run_id"])
    stream = await server.whole_stream(f"/api/runs/{run_id}/log", key)
    assert stream.ended_cleanly
    return run_id


async def test_a_link_shows_the_messages_of_then_to_readers_without_a_key(serve: Serve) -> None:
    server = await serve(keys=True, share_links=True)
    key = bearer(await server.key("ann"))
    thread = (await server.http.post("/api/threads", json={}, headers=key)).json()["thread_id"]
    path = f"/api/threads/{thread}/shares"
    assert (await server.http.post(path, json={}, headers=key)).status_code == 422  # nothing to share
    run_id = await _said(server, "The secret plan", thread, key)
    made = await server.http.post(path, json={}, headers=key)
    assert made.status_code == 201, made.text
    share = made.json()
    assert share["path"] == f"/#/shared/{share['token']}"
    await _said(server, "said later", thread, key)
    answer = await _read(server, share["token"])
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-robots-tag"] == "noindex"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    seen: dict[str, Any] = answer.json()
    assert (seen["title"], [each["role"] for each in seen["messages"]]) == ("The secret plan", ["user", "assistant"])
    for hidden in ("later", run_id, thread, "ann"):
        assert hidden not in answer.text
    # the token is no key, and the key is no token
    assert (await server.http.get("/api/threads", headers=bearer(share["token"]))).status_code == 401
    assert (await _read(server, share["share_id"])).status_code == 404
    # an edit puts what was shared aside
    edited = f"/chats/{thread}/interactions/int_{run_id}/edit"
    await server.http.post(edited, json={"new_user_message": "Another plan"}, headers=key)
    assert (await _read(server, share["token"])).json()["messages"] == []

    for days in (0, 31, "x"):
        assert (await server.http.post(path, json={"days": days}, headers=key)).status_code == 422
    listed = (await server.http.get(path, headers=key)).json()["shares"]
    assert listed == [{name: share[name] for name in ("share_id", "created_at", "expires_at")}]
    assert (await server.http.delete(f"{path}/{share['share_id']}", headers=key)).status_code == 204
    assert (await server.http.get(path, headers=key)).json()["shares"] == []
    gone, unknown = await _read(server, share["token"]), await _read(server, "x" * 43)
    assert gone.status_code == unknown.status_code == 404
    assert gone.content == unknown.content

    other = (await server.http.post(path, json={"days": 30}, headers=key)).json()
    assert (await _read(server, other["token"])).status_code == 200
    assert (await server.http.delete(f"/api/threads/{thread}", headers=key)).status_code == 204
    assert (await _read(server, other["token"])).content == unknown.content


@pytest.mark.parametrize("backend", ["memory"])
async def test_sharing_is_off_where_keys_are_needed_unless_it_is_switched_on(serve: Serve) -> None:
    locked, free, off = await serve(keys=True), await serve(), await serve(share_links=False)
    key = bearer(await locked.key("ann"))
    for server, headers, is_on in ((locked, key, False), (free, {}, True), (off, {}, False)):
        thread = (await server.http.post("/api/threads", json={}, headers=headers)).json()["thread_id"]
        await _said(server, "hello", thread, headers)
        assert (await server.http.get("/api/me", headers=headers)).json()["can_share"] is is_on
        made = await server.http.post(f"/api/threads/{thread}/shares", headers=headers)
        assert made.status_code == (201 if is_on else 409), made.text
        if not is_on:
            assert "RUNYARD_SHARE_LINKS" in made.json()["detail"]
            assert (await _read(server, "x" * 43)).status_code == 404


@pytest.mark.parametrize("backend", ["memory"])
async def test_readers_without_a_key_are_limited_by_address(serve: Serve) -> None:
    server = await serve(keys=True, share_links=True, rate_per_key=1)
    answers = [(await _read(server, "x" * 43)).status_code for _ in range(4)]
    assert answers[0] == 404
    assert answers[-1] == 429
