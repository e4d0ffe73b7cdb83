"""Runs that wait for people are rows and nothing else: every process may be restarted."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow

MANY = 1000
AT_ONCE = 50
LONG = 60  # a worker that is slow with a thousand must not count as dead: what it had begun would be asked about


@pytest.mark.req("S0.33", "S1.53")
async def test_a_thousand_wait_everything_is_restarted_and_each_goes_on(any_flow: Flow) -> None:
    flow = any_flow
    count = 2 if isinstance(flow.database, PostgresDatabase) else 1
    pods = [await flow.start("serve", lease_seconds=LONG) for _ in range(count)]
    limit = asyncio.Semaphore(AT_ONCE)

    async def ask() -> str:
        async with limit:
            return await flow.post(["step", "s"], ["call", "send"], ["tokens", 2])

    runs = await asyncio.gather(*[ask() for _ in range(MANY)])

    async def all_wait() -> bool:
        [row] = await flow.database.rows("select count(*) as n from runs where status = 'waiting'")
        return bool(row["n"] == MANY)

    await eventually("all wait", all_wait)
    await pods[0].kill()
    for pod in pods[1:]:
        pod.terminate()
        await pod.end()
    began = len(flow.notes.read("began"))
    for _ in range(count):
        await flow.start("serve", lease_seconds=LONG)
    asked = await flow.database.rows("select id, run_id from waits where state = 'pending'")
    assert {row["run_id"] for row in asked} == set(runs)
    assert flow.effects("send") == []

    async def decide(n: int, approval_id: str) -> int:
        async with limit:
            answer = await flow.decide(approval_id, "reject" if n % 4 == 0 else "approve", flow.apis[n % count])
            return answer.status_code

    decided = await asyncio.gather(*[decide(n, row["id"]) for n, row in enumerate(asked)])
    assert set(decided) == {200}
    await flow.settled()
    rows = await flow.database.rows("select * from runs")
    others = [row for row in rows if row["status"] != "done"]
    assert not others, (others[:3], [(event["seq"], event["type"]) for event in await flow.log(others[0]["id"])])
    assert len(rows) == MANY
    assert len(flow.effects("send")) == MANY * 3 // 4
    assert len(flow.effects("step")) == MANY, "nothing that was finished is done again"
    assert len(flow.notes.read("began")) == began + MANY, "nothing ran before its decision"


async def test_of_many_decisions_at_once_the_first_wins(flow: Flow) -> None:
    pods = [await flow.start("serve"), await flow.start("api")]
    for _ in range(3):
        run_id = await flow.post(["call", "send"])
        approval = await flow.approval(run_id, "tool")
        decisions = ["approve", "reject"] * 5
        answers = await asyncio.gather(*[flow.decide(approval, d, pods[n % 2]) for n, d in enumerate(decisions)])
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 9
        await flow.reached(run_id, "done")
        [won] = [answer.json()["state"] for answer in answers if answer.status_code == 200]
        assert flow.effects("send").count(f"{run_id}:send#1") == (1 if won == "approved" else 0)
