"""The same request with the same key, at once on two pods, is one run; the same key for another request is
refused."""

from __future__ import annotations

import asyncio

from tests.support.flow import Flow

SAY = {"content": '[["tokens", 2]]'}


async def test_the_same_key_at_once_on_two_pods_is_one_run(flow: Flow) -> None:
    pods = [await flow.start("serve"), await flow.start("serve")]
    for n in range(5):
        path = f"/api/threads/{await flow.thread()}/messages"
        headers = {"Idempotency-Key": f"key-{n}"}
        asked = [flow.request("POST", path, pods[k % 2], json=SAY, headers=headers) for k in range(10)]
        answers = await asyncio.gather(*asked)
        assert {answer.status_code for answer in answers} == {201}
        assert len({flow.accepted(answer) for answer in answers}) == 1
        other = await flow.request("POST", path, pods[n % 2], json={"content": "[]"}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert len(await flow.database.rows("select id from runs")) == 5
    assert len(await flow.database.rows("select id from messages where role = 'user'")) == 5


async def test_a_key_outlives_the_pod_that_took_it(any_flow: Flow) -> None:
    """The pod dies after the commit and before its answer: the client asks again and gets the run that exists."""
    flow = any_flow
    dying = await flow.start("serve", fault="after.accept:1")
    thread = await flow.thread()
    posting = asyncio.create_task(flow.post(["tokens", 2], thread=thread))
    await dying.end()
    await flow.start("serve")
    await flow.reached(await posting, "done")
    assert len(await flow.database.rows("select id from runs")) == 1
