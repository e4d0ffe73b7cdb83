"""`a2a-sdk` sets addresses for push notifications; a real receiver gets every state, even if the server or the receiver
dies."""

from __future__ import annotations

from typing import Any

from tests.clients.conftest import APP, running
from tests.support.eventually import eventually
from tests.support.fakes.push_receiver import PushReceiver
from tests.support.scenario.flow import Flow

SECRETS = ("token-1", "credentials-1")


async def test_a_receiver_gets_every_state_although_it_was_away_and_the_server_was_killed(any_flow: Flow) -> None:
    """The receiver is down when the task begins. It returns, and then does not answer while the task ends: the end
    is committed and not delivered when the server is killed. Another server delivers it."""
    binding = "JSONRPC" if any_flow.is_sqlite else "HTTP+JSON"
    settings: dict[str, Any] = {"app": APP, "push_allow": "127.0.0.1", "push_timeout_seconds": 2}
    server, receiver = await any_flow.start("serve", **settings), PushReceiver()
    async with running("a2a_client.py", "push", server.url, BINDING=binding, HOOK=receiver.url) as client:
        found = await client.line()
        assert found["state"] == "INPUT_REQUIRED"
        assert (found["made"], found["kept"], found["card"]) == (["other", True], ["other", True], True)
        assert found["listed"] == [[True, "", ""], [False, "", ""]], "secrets are not shown again"
        assert found["gone"] == "TaskNotFoundError"
        await eventually("an attempt failed", lambda: server.said("push.failed"))
        await receiver.up()
        await eventually("it is told of the question", lambda: receiver.states == ["WORKING", "INPUT_REQUIRED"])

        receiver.is_silent = True
        client.tell("yes")
        assert await client.line() == {"state": "COMPLETED"}
        await eventually("a delivery is under way", lambda: receiver.waiting)
        await server.kill()
        assert receiver.states == ["WORKING", "INPUT_REQUIRED"]
        receiver.is_silent = False
        again = await any_flow.start("serve", **settings)
        states = ["WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED"]
        await eventually("it is told of the end", lambda: receiver.states == states)
    assert receiver.texts[-1] == "So: A-1 is refunded."
    assert {each.path for each in receiver.received} == {"/hook"}, "the deleted address gets nothing"
    for each in receiver.received:
        assert each.headers["x-a2a-notification-token"] == SECRETS[0]
        assert each.headers["authorization"] == f"Bearer {SECRETS[1]}"
    await receiver.down()
    logs = "".join(pod.last_words(10_000) for pod in (server, again))
    assert "push.failed" in logs
    assert not any(secret in logs for secret in (*SECRETS, receiver.url))
