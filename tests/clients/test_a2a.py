"""`a2a-sdk` for Python and `@a2a-js/sdk` follow, answer, cancel and follow again, in both bindings."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runyard.domain.events import Event
from runyard.domain.state.fold import fold
from tests.clients.client_app import COUNT
from tests.clients.conftest import APP, ran, resumed_through_kills, running
from tests.faces.a2a.task_reader import now, sent, translated
from tests.faces.samples.expected import finished
from tests.faces.samples.random_logs import drawn_logs
from tests.support.apps import gated_app
from tests.support.eventually import eventually
from tests.support.fakes.push_receiver import PushReceiver
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

LIMITED = "The model's provider limits the rate of requests. Retry the run later."
GATED_APP = Path(gated_app.__file__)
PYTHON, NODE = "a2a_client.py", "a2a_client.mjs"
HELLO = "Hello, dear guest."
SECRETS = ("token-1", "credentials-1")
REPEATED = f"system: Be kind.; user: hello; assistant: {HELLO}; user: repeat"


async def test_the_python_client_has_the_same_tasks_in_both_bindings(url: str) -> None:
    found = await ran(PYTHON, "everything", url)
    _check_python(found["JSONRPC"])
    assert found["HTTP+JSON"] == found["JSONRPC"]


def _check_python(found: dict[str, Any]) -> None:
    assert found["answer"] == {
        "text": HELLO,
        "states": ["WORKING", "COMPLETED"],
        "first": "task",
        "kept": [HELLO],
        "history": ["hello"],
        "repeated": REPEATED,
        "listed": True,
        "total": 2,
    }
    assert found["tool"] == {
        "text": "So: A-1 is paid.",
        "data": [["toolCall"], ["toolResult"]],
        "call": {"order": "A-1"},
    }
    approval = found["approval"]
    assert approval["asked"] == ["INPUT_REQUIRED", ["Call refund?"]]
    assert (approval["wrong"], approval["mixed"]) == ("InvalidParamsError", "UnsupportedOperationError")
    assert approval["told"] == ["task", "COMPLETED", "So: A-1 is refunded."]
    assert "too dear" in approval["rejected"]
    booking = found["booking"]
    assert booking["asked"] == [["Which seat?"], ["Call locate, and send its result."], ["Buy it?"], []]
    assert booking["wrong"] == ["InvalidParamsError"] * 2
    assert (booking["text"], booking["outputs"]) == ("Bought row 12. From Oslo: 99 EUR.", {"seat": 12})
    assert booking["sources"] == ["https://example.com/fares", "fare_001"]
    assert booking["history"] == ["ROLE_USER"] + ["ROLE_AGENT", "ROLE_USER"] * 3
    assert found["files"] == {"seen": "look: image/png 89504e47", "made": ["page.txt", "text/plain", "printed"]}
    assert found["cancel"] == {
        "state": "CANCELED",
        "canceled": "TASK_STATE_CANCELED",
        "again": "TaskNotCancelableError",
    }
    assert found["error"] == {
        "failed": [
            "FAILED",
            [LIMITED],
            "rate_limited",
        ],
        "card": 404,
        "unknown": "TaskNotFoundError",
        "ended": "UnsupportedOperationError",
        "more": "UnsupportedOperationError",
        "version": "VersionNotSupportedError",
        "address": "InvalidParamsError",
    }


async def test_the_node_client_has_the_same_tasks_in_both_bindings(url: str) -> None:
    found = await ran(NODE, "everything", url)
    one = found["JSONRPC"]
    assert one["answer"] == {
        "text": HELLO,
        "states": ["WORKING", "COMPLETED"],
        "kept": [[HELLO]],
        "repeated": [REPEATED],
        "listed": [False, True],
    }
    assert one["approval"]["asked"] == ["INPUT_REQUIRED", ["Call refund?"]]
    assert one["approval"]["told"] == ["task", "COMPLETED", "So: A-1 is refunded."]
    assert one["tool"] == {"text": "So: A-1 is paid.", "kinds": ["toolCall", "toolResult"]}
    asked = [["Which seat?"], ["Call locate, and send its result."], ["Buy it?"]]
    assert one["booking"] == {"asked": asked, "state": "COMPLETED", "text": "Bought row 12. From Oslo: 99 EUR."}
    assert one["file"] == {"seen": "look: image/png 89504e47"}
    assert one["cancel"] == {"state": "CANCELED", "canceled": "CANCELED"}
    assert one["error"] == {
        "failed": ["FAILED", [LIMITED]],
        "unknown": "TaskNotFoundError",
        "ended": "UnsupportedOperationError",
        "canceled": "TaskNotCancelableError",
    }
    assert found["HTTP+JSON"] == one


async def test_the_same_message_follows_the_same_task_again(url: str, sqlite_flow: Flow) -> None:
    """The connection breaks after one event, then after two, and so on; in the end the client has the answer once."""
    async with (
        CuttingProxy(lambda: [url], 1) as proxy,
        running(PYTHON, "again", proxy.url, BINDING="JSONRPC") as program,
    ):
        while "cut" in (found := await program.line()):
            proxy.events = (proxy.events or 0) + 1
    assert (found["text"], found["states"]) == ("".join(COUNT), ["WORKING", "COMPLETED"])
    assert found["cuts"] == proxy.cuts > len(COUNT)
    assert await sqlite_flow.database.rows("select id from runs") == [{"id": found["task"]}], (
        "no second run was started"
    )


async def test_the_types_of_the_library_read_random_logs_as_the_fold_does(url: str) -> None:
    cases = drawn_logs()
    given_lines = [{"stream": whole_stream(events), "task": now(events)} for events in cases]
    async with running("a2a_laws.py", "laws", url) as program:
        lines = b"".join(json.dumps(each).encode() + b"\n" for each in given_lines)
        found = (await program.result(lines))["found"]
    for events, seen in zip(cases, found, strict=True):
        core, task = fold(events), now(events)
        assert seen["text"] == (core.text if core.output is None else core.output.text)
        results = [each["toolResult"] for each in seen["data"] if "toolResult" in each]
        expected = {call.call_id: (call.tool, call.output, call.error) for call in finished(core)}
        assert {each["id"]: (each["name"], each["output"], each.get("error")) for each in results} == expected
        assert len(results) == len(expected)
        assert f"TASK_STATE_{seen['state']}" == task["status"]["state"]
        assert plain(seen["task"]) == plain(task), "no field is lost or unknown"
        artifacts = {each["artifactId"]: each["parts"] for each in task["artifacts"] if each["artifactId"] != "answer"}
        assert {key: parts for key, parts in seen["artifacts"].items() if key != "answer"} == artifacts
        assert seen["metadata"] == task.get("metadata", {})


def plain(task: dict[str, Any]) -> Any:
    """Return a task without what the library leaves out: milliseconds that are zero, and an empty list of artifacts."""
    found = json.loads(json.dumps(task).replace(".000Z", "Z"))
    return {name: value for name, value in found.items() if value != []}


def whole_stream(events: list[Event]) -> list[dict[str, Any]]:
    """Return the updates for a client that follows all parts of a task. Of the tasks that begin later parts it has the
    status: a log may end there."""
    first, *rest = [sent(events, part) for part in range(1, translated(events)[0].state.part + 1)]
    return first + [update for part in rest for update in (_status_of(part[0]["task"]), *part[1:])]


def _status_of(task: dict[str, Any]) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": task["id"], "contextId": task["contextId"], "status": task["status"]}}


def has_passed(proxy: CuttingProxy, events: int) -> bool:
    return proxy.passed == events


@pytest.mark.parametrize(("program", "binding"), [(PYTHON, "HTTP+JSON"), (NODE, "JSONRPC")])
async def test_a_subscription_goes_on_where_the_connection_broke(sqlite_flow: Flow, program: str, binding: str) -> None:
    """Every connection breaks after two events. The agent writes its next piece, and ends, when the client has
    subscribed again. So each connection has the task and exactly one update: none is lost, and none comes twice. The
    last cut is before the end, and the client reads the task."""
    server = await sqlite_flow.start("serve", app=GATED_APP)
    async with (
        CuttingProxy(lambda: [server.url], 2) as proxy,
        running(program, "resubscribe", proxy.url, BINDING=binding) as client,
    ):
        for n in range(len(COUNT) + 1):
            await eventually("the client has subscribed again", partial(has_passed, proxy, 2 * n + 1))
            sqlite_flow.notes.open_gate(str(n))
        found = await client.result()
    assert (found["text"], found["state"]) == ("".join(COUNT), "COMPLETED")
    kinds = [kind.lower().removesuffix("update").rstrip("_") for kind in found["kinds"]]
    pieces = len(COUNT) - 1  # the first one is in the second task
    closing = ["task"]  # the client reads the ended task
    assert kinds == ["task", "status", *["task", "artifact"] * pieces, "task", "artifact", *closing]
    assert proxy.cuts == len(COUNT) + 1
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1


@pytest.mark.postgres
@pytest.mark.parametrize(("program", "binding"), [(PYTHON, "HTTP+JSON"), (NODE, "JSONRPC")])
async def test_a_subscription_goes_on_while_a_worker_and_a_server_are_killed(
    flow: Flow, program: str, binding: str
) -> None:
    """Every connection breaks after two events: the task, and one update."""
    found, proxy = await resumed_through_kills(flow, program, 2, "resubscribe", BINDING=binding)
    assert (found["text"], found["state"]) == ("".join(COUNT), "COMPLETED")
    assert found["cuts"] >= proxy.cuts > 1
    assert len(await flow.database.rows("select id from runs")) == 1


@pytest.mark.postgres
async def test_a_killed_worker_leaves_no_text_behind(flow: Flow) -> None:
    """The worker dies in the middle of the answer while the client follows, which gets heartbeats until another worker
    continues: an update withdraws its text."""
    api = await flow.start("api", app=APP, heartbeat_seconds=0.05)
    await flow.start("worker", "after.model.token:12", app=APP)
    async with running(PYTHON, "resubscribe", api.url, BINDING="JSONRPC") as program:
        await flow.pods[-1].end()
        await flow.start("worker", app=APP)
        found = await program.result()
    assert (found["text"], found["state"], found["cuts"]) == ("".join(COUNT), "COMPLETED", 0)


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
