"""The same request with the same key, at once on two pods, is one run; the same key for another request is
refused."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from tests.support.eventually import eventually
from tests.support.fakes.push_receiver import PushReceiver
from tests.support.scenario.flow import Flow

SCRIPT = '[["tokens", 2]]'
SAY = {"content": SCRIPT}


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


def with_webhook(url: str) -> tuple[str, dict[str, Any]]:
    """Return a request of LangGraph's SDKs with a webhook."""
    given = {"messages": [{"role": "user", "content": SCRIPT}]}
    return "/langgraph/runs", {"assistant_id": "player", "input": given, "webhook": url}


def with_notifications(url: str) -> tuple[str, dict[str, Any]]:
    """Return a request of A2A with an address for push notifications."""
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": SCRIPT}]}
    configuration = {"returnImmediately": True, "taskPushNotificationConfig": {"url": url}}
    return "/a2a/player/message:send", {"message": message, "configuration": configuration}


@pytest.mark.parametrize("request_with", [with_webhook, with_notifications])
async def test_an_address_for_updates_is_stored_in_the_commit_that_accepts_the_run(
    any_flow: Flow, request_with: Any
) -> None:
    """The pod dies directly after that commit. The next one executes the run, and the address is told of the end."""
    flow, receivers = any_flow, "127.0.0.1"
    dying = await flow.start("serve", fault="after.accept:1", push_allow=receivers)
    async with PushReceiver() as receiver:
        path, body = request_with(receiver.url)
        with pytest.raises(httpx2.TransportError):
            await flow.http.post(dying.url + path, json=body, headers={"A2A-Version": "1.0"})
        await dying.end()
        await flow.start("serve", push_allow=receivers)
        [[run_id]] = [row.values() for row in await flow.database.rows("select id from runs")]
        await flow.reached(str(run_id), "done")
        await eventually("the receiver is told of the end", lambda: receiver.received)
