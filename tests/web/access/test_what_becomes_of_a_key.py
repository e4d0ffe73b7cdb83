"""Operators create, list and revoke keys, and no log line contains a key."""

import io
from typing import Any

import pytest

from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.live_server import QUICK, Serve, Server, served
from tests.web.access.every_route import bearer
from tests.web.responses.test_problems import MEMORY, StoreThatGoesAway, log_lines, problem

__all__ = ["log_lines"]


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


async def test_without_the_database_an_unknown_key_is_503(gate: Gate) -> None:
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
