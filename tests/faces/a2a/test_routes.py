"""The routes of A2A: cards, errors of both bindings, answers that fit or have no effect, lists, and scopes."""

import asyncio
import json
from itertools import count
from typing import Any

import httpx2
import pytest

import runyard
from runyard.agents.declared.loading import App
from runyard.base.sse import Parser
from runyard.domain.runs.run import Run
from runyard.engine.log.snapshots import FoldKind
from runyard.engine.queries.views import Views
from runyard.faces.a2a.start import REUSED
from runyard.faces.a2a.translate import Translation
from tests.faces.a2a.task_reader import read, same, text_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Serve, Server
from tests.web.access.every_route import bearer
from tests.web.responses.test_problems import MEMORY

numbers = count()


@runyard.tool(effects="once", approval="always")
async def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@runyard.agent
async def twice(ctx: runyard.Context) -> str:
    """Ask two questions at once."""
    number, name = await asyncio.gather(ctx.ask("How many?", int), ctx.ask("Who?", {"enum": ["ann", "bob"]}))
    return f"{number} for {name}"


@runyard.agent
async def in_turn(ctx: runyard.Context) -> str:
    return f"{await ctx.ask('First?', str)} {await ctx.ask('Second?', str)}"


@runyard.agent(tools=[pay])
async def payer(ctx: runyard.Context) -> str:
    return str(await ctx.call(pay, amount=5))


@runyard.agent
async def echo(ctx: runyard.Context) -> str:
    return ctx.message.text


APP = App({each.name: each for each in (echo, twice, in_turn, payer)}, {}, "echo")


def message(*parts: Any, **more: Any) -> dict[str, Any]:
    made = [{"text": each} if isinstance(each, str) else each for each in parts]
    return {"message": {"messageId": f"m{next(numbers)}", "role": "ROLE_USER", "parts": made, **more}}


async def rpc(server: Server, agent: str, method: str, params: Any, **headers: str) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": "r1", "method": method, "params": params}
    return await server.http.post(f"/a2a/{agent}", json=body, headers=headers)


async def result(server: Server, agent: str, method: str, params: Any) -> Any:
    answer = (await rpc(server, agent, method, params)).json()
    assert answer["id"] == "r1", answer
    return answer["result"]


async def refusal(server: Server, agent: str, given: Any) -> tuple[int, str]:
    found = (await rpc(server, agent, "SendMessage", given)).json()["error"]
    return found["code"], found["message"]


def waits(task: dict[str, Any]) -> dict[str, str]:
    """The ids of what a task waits for, by the text that asks for it."""
    parts = task["status"]["message"]["parts"]
    return {text["text"]: about["data"]["waitId"] for text, about in zip(parts[::2], parts[1::2], strict=True)}


@MEMORY
async def test_cards_are_public_and_say_what_an_agent_can_do(serve: Serve) -> None:
    server = await serve(APP, keys=True, file_types="image/*")
    answer = await server.http.get("/.well-known/agent-card.json")
    card = answer.json()
    assert card == (await server.http.get("/a2a/echo/.well-known/agent-card.json")).json()
    url = f"http://127.0.0.1:{server.port}/a2a/echo"
    assert card["supportedInterfaces"] == [
        {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
    ]
    assert card["capabilities"] == {"streaming": True, "pushNotifications": True, "extendedAgentCard": False}
    assert card["securityRequirements"] == [{"schemes": {"bearer": {"list": []}}}]
    assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "Bearer"
    assert card["defaultInputModes"] == ["text/plain", "application/json", "image/*"]
    other = (await server.http.get("/a2a/twice/.well-known/agent-card.json")).json()
    assert other["skills"] == [
        {"id": "twice", "name": "twice", "description": "Ask two questions at once.", "tags": ["twice"]}
    ]
    tag = answer.headers["etag"]
    again = await server.http.get("/.well-known/agent-card.json", headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["cache-control"]) == (304, b"", "max-age=60")
    public = await serve(APP, public_url="https://agents.example.com/")
    card = (await public.http.get("/.well-known/agent-card.json")).json()
    assert card["supportedInterfaces"][0]["url"] == "https://agents.example.com/a2a/echo"
    assert "securityRequirements" not in card


@MEMORY
async def test_errors_have_the_shape_of_each_binding(serve: Serve) -> None:
    server = await serve(APP)
    http, url, hello = server.http, "/a2a/echo", message("hello")
    as_json = {"content-type": "application/json"}
    refused: list[tuple[httpx2.Response, int, int, str]] = [
        (await http.post(url, content=b"{", headers=as_json), 200, -32700, "INVALID_REQUEST"),
        (await http.post(url, content=b"x", headers={"content-type": "text/plain"}), 200, -32005, "CONTENT_TYPE"),
        (await http.post(url, json=[hello]), 200, -32600, "INVALID_REQUEST"),
        (await http.post(url, json={"jsonrpc": "1.0", "id": 7, "method": "GetTask"}), 200, -32600, "INVALID_REQUEST"),
        (await rpc(server, "echo", "message/send", hello), 200, -32601, "METHOD_NOT_FOUND"),
        (await rpc(server, "echo", "SendMessage", {}), 200, -32602, "INVALID_PARAMS"),
        (await rpc(server, "echo", "GetTask", {"id": "x"}), 200, -32001, "TASK_NOT_FOUND"),
        (await rpc(server, "none", "GetTask", {"id": "x"}), 404, -32601, "METHOD_NOT_FOUND"),
        (await rpc(server, "echo", "SendMessage", hello, **{"A2A-Version": ""}), 200, -32009, "VERSION"),
        (await rpc(server, "echo", "GetExtendedAgentCard", None), 200, -32004, "UNSUPPORTED_OPERATION"),
        (await rpc(server, "echo", "CreateTaskPushNotificationConfig", {}), 200, -32602, "INVALID_PARAMS"),
        (await rpc(server, "echo", "ListTasks", {"pageSize": 101}), 200, -32602, "INVALID_PARAMS"),
        (await rpc(server, "echo", "ListTasks", {"pageToken": "x"}), 200, -32602, "INVALID_PARAMS"),
        (await http.get(f"{url}/tasks/x"), 404, 404, "TASK_NOT_FOUND"),
        (await http.get(f"{url}/tasks?pageSize=0"), 400, 400, "INVALID_PARAMS"),
        (await http.post(f"{url}/message:send", json={"message": {}}), 400, 400, "INVALID_PARAMS"),
        (await http.post(f"{url}/message:stream", content=b"x"), 400, 400, "CONTENT_TYPE"),
        (await http.get(f"{url}/tasks/x", headers={"A2A-Version": "99.0"}), 400, 400, "VERSION_NOT_SUPPORTED"),
        (await http.delete(f"{url}/tasks/x/pushNotificationConfigs/y"), 404, 404, "TASK_NOT_FOUND"),
        (await http.get("/a2a/none/tasks"), 404, 404, "METHOD_NOT_FOUND"),
    ]
    for answer, status, code, reason in refused:
        body = answer.json()
        found = body["error"]
        assert (answer.status_code, found["code"]) == (status, code), body
        assert found.get("data", found.get("details"))[0]["reason"].startswith(reason), body
    assert [refused[n][0].json()["id"] for n in (0, 2, 3, 4)] == [None, None, 7, "r1"]
    violations = refused[15][0].json()["error"]["details"][1]["fieldViolations"]
    assert {each["field"] for each in violations} == {"message.messageId", "message.role", "message.parts"}
    assert (await http.get(f"{url}/tasks?A2A-Version=1.0", headers={"A2A-Version": ""})).status_code == 200


async def test_an_answer_that_does_not_fit_has_no_effect(serve: Serve) -> None:
    server = await serve(APP)
    task = (await result(server, "twice", "SendMessage", message("go")))["task"]
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    number, name = (waits(task)[text] for text in ("How many?", "Who?"))
    here = {"taskId": task["id"]}
    both = [{"data": {"waitId": number, "value": 3}}, {"data": {"waitId": name, "value": "ann"}}]
    for parts, why in (
        (["3"], "several answers"),
        ([both[0], {"data": {"waitId": name, "value": "eve"}}], "enum"),
        ([both[0], {"data": {"waitId": "unknown", "value": 3}}], "no wait"),
        ([both[0], {"raw": "aGk=", "mediaType": "image/png"}], "text or data parts"),
    ):
        _, said = await refusal(server, "twice", message(*parts, **here))
        assert why in said or why == "enum", said
    code, said = await refusal(server, "twice", message(*both, taskId=task["id"], contextId="another"))
    assert (code, "another context" in said) == (-32602, True)
    assert len((await server.http.get(f"/api/waits?run_id={task['id']}")).json()["waits"]) == 2, "nothing was consumed"
    done = (await result(server, "twice", "SendMessage", message(*both, **here)))["task"]
    assert done["artifacts"][0]["parts"] == [{"text": "3 for ann"}]
    assert [each["role"] for each in done["history"]] == ["ROLE_USER", "ROLE_AGENT", "ROLE_USER", "ROLE_USER"]
    code, said = await refusal(server, "twice", message("more", **here))
    assert (code, "has ended" in said) == (-32004, True)


async def logged(server: Server, run_id: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in await server.log(run_id) if each["type"] == kind]


@MEMORY
async def test_decisions_need_a_scope_and_may_edit_the_input(serve: Serve) -> None:
    server = await serve(APP, keys=True)
    full = bearer(await server.key("ann", "read", "write", "approve"))
    write, reader = bearer(await server.key("ann", "read", "write")), bearer(await server.key("ann", "read"))
    task = (await rpc(server, "payer", "SendMessage", message("go"), **full)).json()["result"]["task"]
    edit = message({"data": {"approved": True, "editedArgs": {"amount": 7}}}, taskId=task["id"])
    wrong = message({"data": {"approved": True, "editedArgs": {"amount": "x"}}}, taskId=task["id"])
    assert (await rpc(server, "payer", "SendMessage", edit, **write)).status_code == 403
    assert (await rpc(server, "payer", "SendMessage", wrong, **full)).json()["error"]["code"] == -32602
    for method, params in (
        ("SendMessage", message("go")),
        ("SendStreamingMessage", message("go")),
        ("CancelTask", task),
    ):
        refused = await rpc(server, "payer", method, params, **reader)
        assert (refused.status_code, "`write`" in refused.text) == (403, True), method
    seen = (await rpc(server, "payer", "GetTask", {"id": task["id"]}, **reader)).json()["result"]
    assert seen["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    done = (await rpc(server, "payer", "SendMessage", edit, **full)).json()["result"]["task"]
    assert done["artifacts"][0]["parts"] == [{"text": "paid 7"}]
    none = await rpc(server, "payer", "GetTask", {"id": task["id"]})
    assert (none.status_code, none.headers["www-authenticate"]) == (401, "Bearer")
    assert none.json()["error"]["code"] == -32600


@MEMORY
async def test_a_subscription_goes_on_where_the_task_is_and_ends_with_it(server: Server, gate: Gate) -> None:
    """The run was started by another client of the same owner."""
    url = f"/a2a/gated/tasks/{await server.post('gated')}"
    await gate.until_reached()

    async def has_text() -> bool:
        return text_of((await server.http.get(url)).json()) == "before "

    await eventually("the text is in the log", has_text)
    parser, shown = Parser(), list[dict[str, Any]]()
    async with server.http.stream("POST", f"{url}:subscribe") as stream:
        async for piece in stream.aiter_bytes():
            shown += [json.loads(frame.data) for frame in parser.feed(piece)]
            if len(shown) == 1:
                gate.open.set()
    found = (await server.http.get(url)).json()
    assert same(read(shown)) == same(found)
    assert shown[0]["task"]["status"]["state"] == "TASK_STATE_WORKING"
    assert text_of(shown[0]["task"]) == "before "
    chunks = [each["artifactUpdate"]["artifact"]["parts"] for each in shown if "artifactUpdate" in each]
    assert chunks == [[{"text": "after"}], [{"text": ""}]], "no event was left out"


async def test_lists_have_filters_and_pages_and_only_tasks_of_the_agent(serve: Serve) -> None:
    server = await serve(APP)
    tasks = [(await result(server, "echo", "SendMessage", message(f"t{n}", contextId="c1")))["task"] for n in range(3)]
    other = (await result(server, "twice", "SendMessage", message("go")))["task"]
    assert (await server.http.get(f"/a2a/echo/tasks/{other['id']}")).status_code == 404
    first = await result(server, "echo", "ListTasks", {"context_id": "c1", "pageSize": 2})  # the name in protobuf
    assert [each["id"] for each in first["tasks"]] == [tasks[2]["id"], tasks[1]["id"]]
    assert (first["totalSize"], first["pageSize"], "artifacts" in first["tasks"][0]) == (3, 2, False)
    token = {"pageToken": first["nextPageToken"], "includeArtifacts": True, "historyLength": 0}
    last = await result(server, "echo", "ListTasks", {"contextId": "c1", "pageSize": 2, **token})
    assert ([each["id"] for each in last["tasks"]], last["nextPageToken"], last["totalSize"]) == (
        [tasks[0]["id"]],
        "",
        3,
    )
    assert last["tasks"][0]["artifacts"][0]["parts"] == [{"text": "t0"}]
    assert "history" not in last["tasks"][0]

    async def ids(agent: str, **query: str) -> list[str]:
        answer = await server.http.get(f"/a2a/{agent}/tasks", params=query)
        assert answer.status_code == 200, answer.text
        return [each["id"] for each in answer.json()["tasks"]]

    assert await ids("twice", status="TASK_STATE_INPUT_REQUIRED") == [other["id"]]
    assert await ids("twice", status="TASK_STATE_WORKING") == []
    assert await ids("echo", status="TASK_STATE_COMPLETED", contextId="unknown") == []
    assert len(await ids("echo", status="TASK_STATE_COMPLETED")) == 3
    assert await ids("echo", statusTimestampAfter="2100-01-01T00:00:00Z") == []
    assert len(await ids("echo", statusTimestampAfter=tasks[0]["status"]["timestamp"])) == 3
    again = await result(server, "echo", "SendMessage", message("now", contextId="c1") | {
        "configuration": {"returnImmediately": True, "historyLength": 1}
    })  # fmt: skip
    assert again["task"]["history"][0]["parts"] == [{"text": "now"}]


@MEMORY
async def test_parts_reach_the_agent_as_they_were_sent(serve: Serve) -> None:
    @runyard.agent
    async def parts(ctx: runyard.Context) -> str:
        return str([type(each).__name__ for each in ctx.message.content])

    server = await serve(App({"parts": parts}, {}, "parts"), file_types="image/png")
    image = {"raw": "iVBORw0KGgo=", "mediaType": "image/png", "filename": "a.png"}
    given = message("one", {"data": {"n": 1}}, image, "two")
    task = (await result(server, "parts", "SendMessage", given))["task"]
    assert task["artifacts"][0]["parts"] == [{"text": "['TextPart', 'DataPart', 'Image', 'TextPart']"}]
    said = task["history"][0]
    assert (said["messageId"], said["parts"][1]["data"]) == (given["message"]["messageId"], {"n": 1})
    assert (await server.http.get(said["parts"][2]["url"])).content.startswith(b"\x89PNG")
    for wrong, code in (
        ({"raw": "JVBERi0=", "mediaType": "application/pdf"}, -32005),
        ({"text": "x", "mediaType": "application/x-odd"}, -32005),
        ({"raw": "!", "mediaType": "image/png"}, -32602),
        ({"text": "x", "data": 1}, -32602),
        ({"url": "https://example.com/a.png"}, -32602),
    ):
        assert (await refusal(server, "parts", message(wrong)))[0] == code, wrong


@MEMORY
async def test_a_message_is_taken_once_in_its_context_or_by_its_key(serve: Serve) -> None:
    server = await serve(APP)
    plain, named = message("a"), message("a", contextId="c1")

    async def task_of(given: Any, **headers: str) -> str:
        return str((await rpc(server, "echo", "SendMessage", given, **headers)).json()["result"]["task"]["id"])

    assert await task_of(plain) != await task_of(plain), "clients without a context reuse ids of messages"
    once = {"Idempotency-Key": "k1"}
    assert await task_of(plain, **once) == await task_of(plain, **once)
    assert await task_of(named) == await task_of(named)
    other = {"message": {**named["message"], "parts": [{"text": "b"}]}}
    assert await refusal(server, "echo", other) == (-32602, REUSED)


async def test_a_task_that_is_deleted_while_it_is_listed_is_left_out(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await serve(APP)
    task = (await result(server, "echo", "SendMessage", message("hello")))["task"]

    async def nothing(views: object, run: Run, kind: FoldKind[Translation]) -> Translation:
        return kind.begin(run)  # the fold of a log without events

    monkeypatch.setattr(Views, "fold", nothing)
    assert (await result(server, "echo", "ListTasks", {}))["tasks"] == []
    assert (await server.http.get(f"/a2a/echo/tasks/{task['id']}")).status_code == 404
