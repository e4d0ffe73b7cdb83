"""Chats with real processes: another client approves, pods are restarted, clients disconnect and reconnect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from runyard.base.sse import Parser
from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

CHAT = "chat_123"


class Client:
    """One client of a chat, on one pod: it starts an interaction (or attaches to one) and reads until it closes."""

    def __init__(self, flow: Flow, pod: Pod | None, method: str, path: str, body: Any = None) -> None:
        self._flow = flow
        self._url = (pod or flow.api).url + f"/chats/{CHAT}/interactions{path}"
        self._method = method
        self._body = body
        self.events: list[tuple[str, Any]] = []
        self.was_cut = False
        self._task = asyncio.create_task(self._read())

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    async def _read(self) -> None:
        parser = Parser()
        with suppress(httpx2.TransportError):
            async with self._flow.http.stream(self._method, self._url, json=self._body) as response:
                assert response.status_code == 200, await response.aread()
                async for chunk in response.aiter_raw():
                    self.events += [(frame.event, json.loads(frame.data)) for frame in parser.feed(chunk)]
        self.was_cut = self.names[-1:] != ["interaction_complete"]

    async def until(self, name: str) -> Any:
        """The data of the first event of that name."""

        def found() -> bool:
            if self._task.done():
                self._task.result()
            return name in self.names

        await eventually(f"a client sees {name} (it saw {self.names})", found)
        return next(data for event, data in self.events if event == name)

    async def interaction(self) -> str:
        return str((await self.until("interaction_started"))["interaction_id"])

    async def end(self) -> list[str]:
        await asyncio.wait_for(self._task, PATIENCE)
        return self.names

    async def leave(self) -> None:
        """Close the connection in the middle."""
        self._task.cancel()
        await asyncio.wait({self._task})


async def say(flow: Flow, *program: Sequence[Any], pod: Pod | None = None) -> tuple[Client, str]:
    client = Client(flow, pod, "POST", "", {"user_message": json.dumps(program), "agent": "player"})
    interaction = await client.interaction()
    flow.evidence.accepted.append(interaction.removeprefix("int_"))
    return client, interaction


def attach(flow: Flow, interaction: str, pod: Pod | None = None) -> Client:
    return Client(flow, pod, "GET", f"/{interaction}")


async def post(flow: Flow, interaction: str, what: str, body: Any = None, pod: Pod | None = None) -> httpx2.Response:
    return await flow.request("POST", f"/chats/{CHAT}/interactions/{interaction}/{what}", pod, json=body)


async def row(flow: Flow, interaction: str) -> Any:
    return await flow.run(interaction.removeprefix("int_"))


@pytest.mark.req("S1.57", "S1.20", "S1.53")
async def test_a_person_approves_from_another_terminal_and_another_pod(any_flow: Flow) -> None:
    flow = any_flow
    await flow.first()
    client, interaction = await say(flow, ["call", "send"], ["tokens", 2])
    asked = await client.until("approval_required")
    answer = await post(flow, interaction, "approve", {"approval_id": asked["approval_id"], "approved": True})
    assert answer.json() == {"status": "processed", "approval_id": asked["approval_id"], "approved": True}
    names = await client.end()
    assert names[2:] == ["approved", "tool_call", "tool_result", "answer", "interaction_complete"]
    assert len(flow.effects("send")) == 1
    again = await post(flow, interaction, "approve", {"approval_id": asked["approval_id"], "approved": True})
    assert again.status_code == 400


@pytest.mark.req("S1.17", "S1.52", "S1.53")
@pytest.mark.parametrize("how", ["kill", "terminate"])
async def test_everything_is_restarted_between_the_question_and_the_answer(any_flow: Flow, how: str) -> None:
    flow = any_flow
    pod = await flow.start("serve", chats_grace_seconds=0)
    client, interaction = await say(flow, ["step", "s"], ["call", "send"], ["tokens", 2])
    asked = await client.until("approval_required")
    await flow.reached(interaction.removeprefix("int_"), "waiting")
    if how == "kill":
        await pod.kill()
    else:
        pod.terminate()
        await pod.end()
    await client.end()
    assert client.was_cut
    await flow.start("serve", chats_grace_seconds=0)
    back = attach(flow, interaction)
    await back.until("approval_required")
    await post(flow, interaction, "approve", {"approval_id": asked["approval_id"], "approved": True})
    names = await back.end()
    assert names[: len(client.names)] == client.names
    assert names[-1] == "interaction_complete"
    assert names.count("interaction_complete") == 1
    assert len(flow.effects("send")) == 1
    assert len(flow.effects("step")) == 1


@pytest.mark.req("S1.27")
async def test_a_run_waits_for_a_client_that_left_and_is_then_canceled(any_flow: Flow) -> None:
    flow = any_flow
    await flow.first(chats_grace_seconds=1)
    client, interaction = await say(flow, ["tokens", 1], ["wait", "gate"])
    await flow.at_gate("gate")
    await client.leave()
    await flow.reached(interaction.removeprefix("int_"), "canceled")
    run = await row(flow, interaction)
    assert run["cancel_requested_at"] >= run["detach_deadline"], "not before the grace was over"
    log = await flow.log(interaction.removeprefix("int_"))
    assert [event["type"] for event in log][-2:] == ["run.canceled", "run.finished"]
    names = await attach(flow, interaction).end()
    assert names[-2:] == ["cancelled", "interaction_complete"]

    async def saved() -> bool:
        rows = await flow.database.rows("select run_id, data from checkpoints")
        return any(json.loads(row["data"])["status"] == "CANCELLED" for row in rows)

    await eventually("its checkpoint is written", saved)


@pytest.mark.req("S1.27", "S1.53")
async def test_a_client_that_reconnects_to_any_pod_saves_the_run(flow: Flow) -> None:
    one = await flow.start("serve", chats_grace_seconds=1)
    two = await flow.start("api", chats_grace_seconds=1)
    client, interaction = await say(flow, ["tokens", 1], ["wait", "gate"], pod=one)
    await flow.at_gate("gate")
    await client.leave()

    async def is_left(expected: bool) -> bool:
        return ((await row(flow, interaction))["detach_deadline"] is not None) == expected

    await eventually("it is noted", lambda: is_left(True))
    back = attach(flow, interaction, two)
    await back.until("interaction_started")
    await eventually("it is saved", lambda: is_left(False))
    await asyncio.sleep(1.5)  # waits on purpose: longer than the grace
    flow.notes.open_gate("gate")
    assert (await back.end())[-1] == "interaction_complete"
    assert (await row(flow, interaction))["status"] == "done"


@pytest.mark.req("S1.27")
@pytest.mark.parametrize("how", ["kill", "terminate"])
async def test_a_pod_that_goes_away_starts_no_grace(flow: Flow, how: str) -> None:
    leaving = await flow.start("serve", chats_grace_seconds=0, drain_seconds=0.1)
    client, interaction = await say(flow, ["tokens", 1], ["wait", "gate"])
    await flow.at_gate("gate")
    if how == "kill":
        await leaving.kill()
    else:
        leaving.terminate()
        await leaving.end()
    await client.end()
    assert client.was_cut
    assert (await row(flow, interaction))["detach_deadline"] is None
    staying = await flow.start("serve", chats_grace_seconds=0)
    await flow.at_gate("gate", staying)
    assert (await row(flow, interaction))["detach_deadline"] is None
    flow.notes.open_gate("gate")
    await flow.reached(interaction.removeprefix("int_"), "done")


@pytest.mark.req("S1.32")
async def test_nothing_is_edited_on_any_pod_while_it_runs(flow: Flow) -> None:
    one, two = await flow.start("serve"), await flow.start("api")
    client, interaction = await say(flow, ["tokens", 1], ["wait", "gate"], pod=one)
    await flow.at_gate("gate")
    new = {"new_user_message": json.dumps([["tokens", 1]])}
    for pod in (one, two):
        refused = await post(flow, interaction, "edit", new, pod)
        assert (refused.status_code, refused.json()["code"]) == (409, "run_active")
    flow.notes.open_gate("gate")
    await client.end()
    edits = await asyncio.gather(*[post(flow, interaction, "edit", new, pod) for pod in (one, two) * 3])
    assert sorted(answer.status_code for answer in edits) == [200] + [409] * 5
    [won] = [answer for answer in edits if answer.status_code == 200]
    assert won.text.count("event: interaction_complete") == 1
    chat = (await flow.request("GET", f"/chats/{CHAT}", two)).json()
    assert len(chat["interactions"]) == 1
    assert chat["interactions"][0]["id"] != interaction


@pytest.mark.req("S1.26", "S1.57")
async def test_a_cancel_from_another_pod_is_obeyed_and_told(flow: Flow) -> None:
    one, two = await flow.start("serve"), await flow.start("api")
    client, interaction = await say(flow, ["tokens", 1], ["wait", "gate"], pod=one)
    await flow.at_gate("gate")
    answer = await post(flow, interaction, "cancel", pod=two)
    assert answer.json()["status"] == "cancelling"
    assert (await client.end())[-2:] == ["cancelled", "interaction_complete"]
    assert client.events[-1][1]["status"] == "CANCELLED"
    assert (await post(flow, interaction, "cancel", pod=two)).status_code == 409


@pytest.mark.req("S1.28")
async def test_a_checkpoint_that_a_dead_pod_did_not_write_is_written_by_the_next(sqlite_flow: Flow) -> None:
    flow = sqlite_flow
    pod = await flow.start("serve", poll_seconds=600)  # it looks for ended runs once, before there is one
    client, _ = await say(flow, ["tokens", 1])
    await client.end()
    assert await flow.database.rows("select run_id from checkpoints") == []
    await pod.kill()
    await flow.start("serve")

    async def saved() -> bool:
        return bool(await flow.database.rows("select run_id from checkpoints"))

    await eventually("the checkpoint is written", saved)
