"""Runs over time: an owner's own, and those of all owners for a key that may operate."""

from runyard.engine.queries.statistics import DURATIONS, percentile
from tests.support.in_process.live_server import Serve


async def test_an_owner_sees_own_runs_and_an_operator_those_of_all(serve: Serve) -> None:
    server = await serve(keys=True)
    ann, bob = [{"X-API-Key": await server.key(name, "read", "write")} for name in ("ann", "bob")]
    ops = {"X-API-Key": await server.key("ops", "read", "operate")}
    for who, agents in ((ann, ("happy", "happy", "raises")), (bob, ("happy",))):
        for agent in agents:
            thread = (await server.http.post("/api/threads", json={"agent": agent}, headers=who)).json()["thread_id"]
            posted = await server.http.post(f"/api/threads/{thread}/messages", json={"content": "hi"}, headers=who)
            stream = await server.stream(f"/api/runs/{posted.json()['run_id']}/log", who)
            await stream.to_end()
    own = (await server.http.get("/api/statistics", params={"days": 3}, headers=ann)).json()
    assert [day["runs"] for day in own["days"]] == [0, 0, 3]
    assert {row["agent"]: row["runs"] for row in own["agents"]} == {"happy": 2, "raises": 1}
    [broken] = [row for row in own["agents"] if row["agent"] == "raises"]
    assert broken["errors"] == {"agent_error": 1}
    assert own["days"][-1]["took_p95_ms"] >= own["days"][-1]["took_p50_ms"] >= 0
    [happy] = [row for row in own["agents"] if row["agent"] == "happy"]
    for row in (happy, own["days"][-1]):
        assert row["first_token_p95_ms"] >= row["first_token_p50_ms"] >= 0
    assert own["queue"] == {"runs": 0, "oldest_ms": None}
    one = (await server.http.get("/api/statistics", params={"agent": "raises"}, headers=ann)).json()
    assert (len(one["days"]), one["days"][-1]["runs"]) == (14, 1)
    everyone = (await server.http.get("/api/statistics", params={"all": "true"}, headers=ops)).json()
    assert everyone["days"][-1]["runs"] == 4
    refused = await server.http.get("/api/statistics", params={"all": "true"}, headers=ann)
    assert refused.status_code == 403
    seen = (await server.http.get("/api/me", headers=ops)).json()
    assert seen == {"owner": "ops", "scopes": ["operate", "read"], "can_share": False}


def test_a_percentile_is_near_the_exact_value() -> None:
    assert percentile({}, 0.5) is None
    for exact in (0, 1, 7, 150, 12_345, 86_400_000):
        place = sum(limit <= exact for limit in DURATIONS)
        found = percentile({place: 19, len(DURATIONS): 1}, 0.95)
        assert found is not None
        assert abs(found - exact) <= max(1, 0.1 * exact)
