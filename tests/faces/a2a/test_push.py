"""Push notifications: the requests of a log, their order, and addresses that are refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from runyard.domain.events import Event
from runyard.faces.a2a.push import Notifications
from runyard.faces.a2a.state import CLOSING
from tests.faces.a2a.task_reader import PLACE, now, read, same, translated
from tests.faces.a2a.test_routes import APP, message, refusal, result, rpc
from tests.faces.samples.random_logs import logs
from tests.faces.samples.sample_events import RUN_ID
from tests.support.eventually import eventually
from tests.support.fakes.push_receiver import PushReceiver
from tests.support.in_process.live_server import Serve, Server
from tests.web.access.every_route import bearer
from tests.web.responses.test_problems import MEMORY

TOKEN, CREDENTIALS = "token-of-ann", "credentials-of-ann"
HERE: dict[str, Any] = {"push_allow": "127.0.0.1", "push_timeout_seconds": 5}


@given(logs)
def test_a_receiver_has_the_states_and_the_artifacts_of_the_task(events: list[Event]) -> None:
    made = Notifications(RUN_ID, PLACE)
    shown = [each for event in events for each in made.take(event)]
    states = [each["statusUpdate"]["status"]["state"] for each in shown if "statusUpdate" in each]
    assert all(one != other for one, other in pairwise(states))
    state = translated(events)[0].state
    if not shown:
        assert state.name == "TASK_STATE_SUBMITTED"
        return
    assert states[-1] == state.name
    if state.name in CLOSING:
        task = now(events)
        found = same(read([{"task": {**now(events[:1]), "history": task.get("history", [])}}, *shown]))
        assert {each["artifactId"]: each for each in found["artifacts"]} == {
            each["artifactId"]: each for each in same(task)["artifacts"]
        }
        assert found["status"] == task["status"]


def config(receiver: PushReceiver, **more: Any) -> dict[str, Any]:
    authentication = {"scheme": "Bearer", "credentials": CREDENTIALS}
    return {"url": receiver.url, "token": TOKEN, "authentication": authentication, **more}


def with_config(given: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    return {**given, "configuration": {"taskPushNotificationConfig": made}}


async def delivered(receiver: PushReceiver, *states: str) -> None:
    await eventually(f"the receiver has {states}, not {receiver.states}", lambda: receiver.states == list(states))


async def test_updates_are_sent_in_order_with_token_and_credentials(serve: Serve) -> None:
    server = await serve(APP, **HERE)
    async with PushReceiver() as receiver:
        sent = await result(server, "in_turn", "SendMessage", with_config(message("go"), config(receiver)))
        task = sent["task"]
        await delivered(receiver, "WORKING", "INPUT_REQUIRED")
        later = await server.http.post(f"/a2a/in_turn/tasks/{task['id']}/pushNotificationConfigs", json={
            "id": "late", "url": f"{receiver.url}/late"
        })  # fmt: skip
        assert later.json() == {"taskId": task["id"], "id": "late", "url": f"{receiver.url}/late"}
        for text in ("one", "two"):
            await result(server, "in_turn", "SendMessage", message(text, taskId=task["id"]))
        await eventually("both were told of the end", lambda: len(ends(receiver)) == 2)
    first, late = ([each for each in receiver.received if each.path == path] for path in ("/hook", "/hook/late"))
    kinds = [next(iter(each.body)) for each in first]
    assert kinds == ["statusUpdate"] * 5 + ["artifactUpdate", "statusUpdate"]
    assert {each.headers["x-a2a-notification-token"] for each in first} == {TOKEN}
    assert {each.headers["authorization"] for each in first} == {f"Bearer {CREDENTIALS}"}
    assert {each.headers["content-type"] for each in first} == {"application/json"}
    assert [each.body for each in late] == [each.body for each in first[2:]]
    assert not {"authorization", "x-a2a-notification-token"} & late[0].headers.keys()
    whole = await result(server, "in_turn", "GetTask", {"id": task["id"]})
    assert first[-1].body["statusUpdate"]["status"] == whole["status"]
    assert first[-2].body["artifactUpdate"]["artifact"] == whole["artifacts"][0]
    ids = {"taskId": task["id"], "contextId": whole["contextId"]}
    assert all(ids.items() <= next(iter(each.body.values())).items() for each in receiver.received)


def ends(receiver: PushReceiver) -> list[Any]:
    return [each for each in receiver.received if "COMPLETED" in str(each.body)]


@MEMORY
async def test_configurations_are_set_read_and_deleted_and_keep_their_secrets(serve: Serve) -> None:
    server = await serve(APP, **HERE)
    task = (await result(server, "echo", "SendMessage", message("hello")))["task"]["id"]
    path = f"/a2a/echo/tasks/{task}/pushNotificationConfigs"
    async with PushReceiver() as receiver:
        given = config(receiver, id="c1")
        made = await result(server, "echo", "CreateTaskPushNotificationConfig", {"taskId": task, **given})
        assert made == {"taskId": task, **given}
        shown = {"taskId": task, "id": "c1", "url": receiver.url, "authentication": {"scheme": "Bearer"}}
        assert (await server.http.get(f"{path}/c1")).json() == shown
        assert await result(server, "echo", "GetTaskPushNotificationConfig", {"taskId": task, "id": "c1"}) == shown
        listed = {"configs": [shown], "nextPageToken": ""}
        assert (await server.http.get(path)).json() == listed
        assert await result(server, "echo", "ListTaskPushNotificationConfigs", {"task_id": task}) == listed
        assert (await rpc(server, "in_turn", "ListTaskPushNotificationConfigs", {"taskId": task})).json()["error"]
        named = (await server.http.post(path, json={"url": receiver.url})).json()
        assert named["id"] not in ("", "c1")
        for _ in range(2):
            deleted = await server.http.delete(f"{path}/c1")
            assert (deleted.status_code, deleted.json()) == (200, {})
            assert await result(server, "echo", "DeleteTaskPushNotificationConfig", {"taskId": task, "id": "x"}) == {}
        assert (await server.http.get(f"{path}/c1")).json()["error"]["status"] == "NOT_FOUND"
        many = [(await server.http.post(path, json={"url": receiver.url})).status_code for _ in range(10)]
        assert many == [200] * 9 + [400]
        assert receiver.received == []  # the task had ended


@MEMORY
async def test_private_addresses_are_refused_before_a_task_begins(serve: Serve) -> None:
    server = await serve(APP)
    private = ("http://127.0.0.1:9/x", "http://[::1]/x", "http://169.254.169.254/", "http://10.1.2.3")
    for url in (*private, "ftp://a", "x y"):
        code, said = await refusal(server, "echo", with_config(message("hello"), {"url": url}))
        assert (code, "RUNYARD_PUSH_ALLOW" in said, url in said) == (-32602, True, False)
    assert await server.store.list_runs("local", {}, None, 10) == []
    for bad in ({"token": "a\r\nX: y"}, {"authentication": {"scheme": "B x"}}, {"url": ""}):
        code, _ = await refusal(server, "echo", with_config(message("hello"), {"url": "https://example.com", **bad}))
        assert code == -32602


async def test_a_name_that_resolves_to_a_private_address_is_not_called(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is public when it is checked and private when it is called."""
    server = await serve(APP, push_attempts=1)
    from runyard.agents.tools.outbound import Allowed

    async def passes(self: Allowed, url: str) -> None:
        return None

    monkeypatch.setattr(Allowed, "check", passes)
    async with PushReceiver() as receiver:
        given = with_config(message("hello"), {"url": f"http://localhost:{receiver.port}/hook"})
        task = (await result(server, "echo", "SendMessage", given))["task"]["id"]
        await given_up(server, task)
        assert (receiver.received, receiver.refused, receiver.waiting) == ([], 0, 0)


async def given_up(server: Server, task: str) -> None:
    async def is_over() -> bool:
        [push] = await server.store.list_pushes(task)
        return push.due_at is None and push.failures == 1

    await eventually("the push is given up", is_over)


@MEMORY
async def test_a_receiver_that_is_gone_is_asked_no_more_until_the_client_sets_it_again(serve: Serve) -> None:
    server = await serve(APP, **HERE)
    async with PushReceiver() as receiver:
        receiver.status = 410
        task = (await result(server, "echo", "SendMessage", with_config(message("hello"), config(receiver))))["task"]
        await given_up(server, task["id"])
        assert receiver.refused == 1
        receiver.status = 204
        again = {"taskId": task["id"], **config(receiver, id=task["id"])}
        await result(server, "echo", "CreateTaskPushNotificationConfig", again)
        await delivered(receiver, "WORKING", "COMPLETED")
        assert receiver.texts == ["hello"]


@MEMORY
async def test_setting_a_configuration_needs_the_scope_write(serve: Serve) -> None:
    server = await serve(APP, keys=True, **HERE)
    key = bearer(await server.key("ann", "read"))
    given = {"taskId": RUN_ID, "url": "https://example.com"}
    answer = await rpc(server, "echo", "CreateTaskPushNotificationConfig", given, **key)
    assert answer.status_code == 403


@MEMORY
async def test_tasks_are_listed_by_the_time_of_their_status(serve: Serve) -> None:
    server = await serve(APP)
    ids = []
    for _ in range(4):
        sent = await result(server, "in_turn", "SendMessage", message("go"))
        ids.append(sent["task"]["id"])
    for n, texts in ((2, ("a", "b")), (0, ("a", "b")), (1, ("a",))):
        for text in texts:
            await result(server, "in_turn", "SendMessage", message(text, taskId=ids[n]))
    wanted = [ids[1], ids[0], ids[2], ids[3]]
    found, token = [], ""
    while True:
        page = await result(server, "in_turn", "ListTasks", {"pageSize": 1, "pageToken": token})
        found += [(each["id"], each["status"]["timestamp"]) for each in page["tasks"]]
        assert page["totalSize"] == 4
        if not (token := page["nextPageToken"]):
            break
    assert [each for each, _ in found] == wanted
    times = [time for _, time in found]
    assert times == sorted(times, reverse=True)
    since = await result(server, "in_turn", "ListTasks", {"statusTimestampAfter": times[1]})
    assert [each["id"] for each in since["tasks"]] == wanted[:2]
    ended = await result(server, "in_turn", "ListTasks", {"status": "TASK_STATE_COMPLETED", "pageSize": 1})
    assert ([each["id"] for each in ended["tasks"]], ended["totalSize"]) == ([ids[0]], 2)
    asking = await result(server, "in_turn", "ListTasks", {"status": "TASK_STATE_INPUT_REQUIRED"})
    assert [each["id"] for each in asking["tasks"]] == [ids[1], ids[3]]
