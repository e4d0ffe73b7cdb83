"""Channels, DMs, messages and agents over HTTP: created, read, changed and deleted; and 404 for other owners."""

from typing import Any

import pytest

from runyard.base.ids import new_id
from tests.faces.channels.agents_on_demand import ChannelServer, done


async def ask(channel_server: ChannelServer, method: str, path: str, caller: str = "local", **more: Any) -> Any:
    return await channel_server.http.request(method, path, headers={"x-caller": caller}, **more)


@pytest.mark.req("S3.24")
async def test_a_private_channel_is_unknown_to_others_through_every_endpoint(channel_server: ChannelServer) -> None:
    secret = await channel_server.channel("kevin", users=["carol"], kind="private", topic="money")
    watch = await channel_server.watch(0)
    message = await channel_server.say(secret, "psst")
    await done(watch, 1)
    run_id = next(data["runId"] for name, data in watch.wire if name == "agent_typing")
    await watch.close()
    member, place = f"/api/channels/{secret}/members/user/mallory", {"channelId": secret}
    attempts = [
        ("GET", f"/api/channels/{secret}", {}),
        ("PATCH", f"/api/channels/{secret}", {"json": {"topic": "mine"}}),
        ("DELETE", f"/api/channels/{secret}", {}),
        ("PUT", member, {}),
        ("DELETE", f"/api/channels/{secret}/members/agent/kevin", {}),
        ("GET", "/api/messages", {"params": place}),
        ("POST", "/api/messages", {"json": {**place, "text": "hi"}}),
        ("GET", f"/api/messages/{message['id']}", {}),
        ("PATCH", f"/api/messages/{message['id']}", {"json": {"text": "x"}}),
        ("DELETE", f"/api/messages/{message['id']}", {}),
        ("POST", f"/api/messages/{message['id']}/reactions", {"json": {"emoji": "x"}}),
        ("DELETE", f"/api/messages/{message['id']}/reactions/x", {}),
        ("GET", f"/api/channels/{secret}/runs", {}),
        ("PUT", f"/api/channels/{secret}/read", {"json": {"messageId": message["id"]}}),
        ("GET", "/api/agents/kevin/prompt", {"params": place}),
        ("GET", f"/api/threads/{secret}", {}),
        ("DELETE", f"/api/threads/{secret}", {}),
        ("GET", f"/api/runs/{run_id}", {}),
        ("GET", f"/api/agents/kevin/runs/{run_id}", {}),
    ]
    for method, path, more in attempts:
        answer = await ask(channel_server, method, path, "mallory", **more)
        assert answer.status_code == 404, (method, path, answer.text)
        assert b"psst" not in answer.content
        assert b"money" not in answer.content
    assert (await ask(channel_server, "GET", "/api/channels", "mallory")).json()["channels"] == []
    assert (await ask(channel_server, "GET", "/api/agents/kevin/runs", "mallory")).json()["runs"] == []
    assert (await ask(channel_server, "GET", "/api/agents/kevin/usage", "mallory")).json()["days"] == []
    seen = await ask(channel_server, "GET", "/api/messages", "carol", params=place)
    assert [each["text"] for each in seen.json()["messages"]] == ["psst"]
    assert (
        await ask(channel_server, "PATCH", f"/api/channels/{secret}", "carol", json={"topic": "x"})
    ).status_code == 404


async def test_a_channel_is_made_seen_changed_and_deleted(channel_server: ChannelServer) -> None:
    made = (await ask(channel_server, "POST", "/api/channels", json={"name": "general", "agents": ["kevin"]})).json()
    assert (made["name"], made["kind"], made["topic"]) == ("general", "public", None)
    assert made["members"] == [{"id": "kevin", "kind": "agent"}]
    again = await ask(channel_server, "POST", "/api/channels", json={"name": "general"})
    assert again.status_code == 409
    path = f"/api/channels/{made['id']}"
    changed = await ask(channel_server, "PATCH", path, json={"topic": "all of us", "kind": "private"})
    assert (changed.json()["topic"], changed.json()["kind"]) == ("all of us", "private")
    joined = await ask(channel_server, "PUT", f"{path}/members/agent/oscar")
    assert [member["id"] for member in joined.json()["members"]] == ["kevin", "oscar"]
    assert (await ask(channel_server, "PUT", f"{path}/members/agent/nobody")).status_code == 422
    left = await ask(channel_server, "DELETE", f"{path}/members/agent/kevin")
    assert [member["id"] for member in left.json()["members"]] == ["oscar"]
    assert (await ask(channel_server, "GET", path)).json() == left.json()
    assert (await ask(channel_server, "GET", f"/api/dms/{made['id']}")).status_code == 404
    assert (await ask(channel_server, "DELETE", path)).status_code == 204
    assert (await ask(channel_server, "GET", path)).status_code == 404


async def test_a_dm_is_the_same_for_the_same_two(channel_server: ChannelServer) -> None:
    one = await channel_server.dm("kevin")
    assert await channel_server.dm("kevin") == one
    other = await channel_server.dm("kevin", "oscar")
    assert await channel_server.dm("oscar", "kevin") == other
    seen = (await ask(channel_server, "GET", f"/api/dms/{one}")).json()
    assert sorted(each["id"] for each in seen["participants"]) == ["kevin", "local"]
    assert {dm["id"] for dm in (await ask(channel_server, "GET", "/api/dms")).json()["dms"]} == {one, other}
    assert (
        await ask(channel_server, "POST", "/api/dms", json={"agentId": "kevin", "otherAgentId": "kevin"})
    ).status_code == 422
    assert (await ask(channel_server, "POST", "/api/dms", json={"agentId": "nobody"})).status_code == 422
    assert (await ask(channel_server, "GET", f"/api/dms/{one}", "mallory")).status_code == 404
    assert (await ask(channel_server, "DELETE", f"/api/dms/{other}")).status_code == 204


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "no place"}, 400),
        ({"channelId": "a", "dmConversationId": "b", "text": "two places"}, 400),
        ({"channelId": "nonsense", "text": "hi"}, 404),
        ({"channelId": new_id(), "text": "hi"}, 404),
        ({"channelId": new_id()}, 422),
        ({"channelId": new_id(), "text": ""}, 422),
    ],
)
async def test_a_message_that_cannot_be_is_refused(
    channel_server: ChannelServer, body: dict[str, Any], status: int
) -> None:
    answer = await ask(channel_server, "POST", "/api/messages", json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


async def test_no_caller_speaks_for_an_agent_or_for_another_person(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel("pam")
    body = {"channelId": channel, "text": "hi"}
    for caller, user in (("local", "kevin"), ("local", "carol"), ("mallory", "carol"), ("mallory", "local")):
        refused = await ask(channel_server, "POST", "/api/messages", caller, json={**body, "userId": user})
        assert refused.status_code == 422
    own = await ask(channel_server, "POST", "/api/messages", "mallory", json=body)
    assert own.json()["userId"] == "mallory"


async def test_the_same_key_posts_once(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel("kevin")
    body = {"channelId": channel, "text": "hi"}
    answers = [
        await channel_server.http.post("/api/messages", json=body, headers={"idempotency-key": "k1"}) for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    other = await channel_server.http.post(
        "/api/messages", json={**body, "text": "x"}, headers={"idempotency-key": "k1"}
    )
    assert other.status_code == 409


async def test_messages_are_paged_changed_reacted_to_and_deleted(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel()
    said = [await channel_server.say(channel, f"message {n}") for n in range(5)]
    page = (await ask(channel_server, "GET", "/api/messages", params={"channelId": channel, "limit": 2})).json()
    assert [each["text"] for each in page["messages"]] == ["message 3", "message 4"]
    before = {"channelId": channel, "limit": 9, "before": page["next"]}
    earlier = (await ask(channel_server, "GET", "/api/messages", params=before)).json()
    assert [each["text"] for each in earlier["messages"]] == ["message 0", "message 1", "message 2"]
    assert earlier["next"] is None
    path = f"/api/messages/{said[0]['id']}"
    assert (await ask(channel_server, "PATCH", path, json={"text": "changed"})).json()["text"] == "changed"
    assert (await ask(channel_server, "POST", f"{path}/reactions", json={"emoji": "👍"})).json() == {"success": True}
    shown = (await ask(channel_server, "GET", path)).json()
    assert shown["reactions"] == [{"emoji": "👍", "userId": "local", "isAgent": False}]
    assert (await ask(channel_server, "DELETE", f"{path}/reactions/👍")).status_code == 204
    assert (await ask(channel_server, "GET", path)).json()["reactions"] == []
    assert (await ask(channel_server, "DELETE", path)).status_code == 204
    assert (await ask(channel_server, "GET", path)).json()["text"] == "(deleted)"


@pytest.mark.req("S3.27")
async def test_an_agent_is_made_changed_and_retired(channel_server: ChannelServer) -> None:
    body = {"id": "toby", "systemPrompt": "You are Toby.", "modelId": "openai/gpt-5-mini"}
    made = (await ask(channel_server, "POST", "/api/agents", json=body)).json()
    assert (made["displayName"], made["maxTurns"], made["maxBudgetUsd"], made["isActive"]) == ("toby", 5, 0.1, True)
    assert made["isDeclared"] is False
    assert (await ask(channel_server, "POST", "/api/agents", json=body)).status_code == 409
    assert (await ask(channel_server, "POST", "/api/agents", json={**body, "id": "kevin"})).status_code == 409
    assert (
        await ask(channel_server, "POST", "/api/agents", json={**body, "id": "x", "modelId": "scripted"})
    ).status_code == 422
    assert (await ask(channel_server, "POST", "/api/agents", json={**body, "id": "a b"})).status_code == 422
    changed = await ask(channel_server, "PATCH", "/api/agents/toby", json={"title": "HR", "maxTurns": 9})
    assert (changed.json()["title"], changed.json()["maxTurns"]) == ("HR", 9)
    assert (await ask(channel_server, "GET", "/api/agents/toby", "mallory")).status_code == 404
    listed = (await ask(channel_server, "GET", "/api/agents")).json()["agents"]
    assert [each["id"] for each in listed] == ["angela", "kevin", "oscar", "pam", "toby"]
    assert (await ask(channel_server, "DELETE", "/api/agents/toby")).status_code == 204
    assert "toby" not in [each["id"] for each in (await ask(channel_server, "GET", "/api/agents")).json()["agents"]]
    assert (await ask(channel_server, "GET", "/api/agents/toby")).json()["isActive"] is False


async def test_an_agent_of_the_code_is_changed_there(channel_server: ChannelServer) -> None:
    kevin = (await ask(channel_server, "GET", "/api/agents/kevin")).json()
    assert (kevin["isDeclared"], kevin["systemPrompt"]) == (True, "You are kevin.")
    assert (await ask(channel_server, "PATCH", "/api/agents/kevin", json={"systemPrompt": "x"})).status_code == 409
    assert (await ask(channel_server, "PATCH", "/api/agents/kevin", json={"title": "CPA"})).json()["title"] == "CPA"


@pytest.mark.req("S3.2", "S3.3", "S3.4", "S3.6")
async def test_the_prompt_is_what_the_agent_would_get_and_nothing_of_other_places(
    channel_server: ChannelServer,
) -> None:
    here, other = await channel_server.channel(name="here"), await channel_server.channel()
    await channel_server.say(here, "to be read")
    await channel_server.say(other, "elsewhere")
    await ask(channel_server, "PUT", "/api/agents/kevin/memory/personality", json={"content": "Calm."})
    shown = (await ask(channel_server, "GET", "/api/agents/kevin/prompt", params={"channelId": here})).json()
    prompt = shown["systemPrompt"]
    assert shown["persona"] == "You are kevin."
    assert prompt.startswith(
        "You are kevin.\n\n### personality\nCalm.\n\n## Recent messages\nIn #here (conversationId "
    )
    assert "local: to be read" in prompt
    assert "elsewhere" not in prompt
    assert "`do_nothing`" in prompt
    for n in range(25):
        await channel_server.say(here, f"message {n}")
    prompt = (await ask(channel_server, "GET", "/api/agents/kevin/prompt", params={"channelId": here})).json()[
        "systemPrompt"
    ]
    assert [line.split(": ")[1] for line in prompt.splitlines() if "local: " in line] == [
        f"message {n}" for n in range(5, 25)
    ]


@pytest.mark.req("S3.40")
async def test_memory_is_set_shared_searched_and_forgotten(channel_server: ChannelServer) -> None:
    memory = "/api/agents/oscar/memory"
    await ask(channel_server, "PUT", f"{memory}/budget", json={"content": "tight", "isShared": True})
    assert (await ask(channel_server, "PUT", f"{memory}/budget/readers/kevin")).status_code == 204
    blocks = (await ask(channel_server, "GET", "/api/agents/kevin/memory")).json()["blocks"]
    assert [(block["label"], block["ownerId"]) for block in blocks] == [("budget", "oscar")]
    assert (await ask(channel_server, "DELETE", f"{memory}/budget/readers/kevin")).status_code == 204
    assert (await ask(channel_server, "GET", "/api/agents/kevin/memory")).json()["blocks"] == []
    assert (await ask(channel_server, "DELETE", f"{memory}/budget")).status_code == 204
    assert (await ask(channel_server, "DELETE", f"{memory}/budget")).status_code == 404
    passages = "/api/agents/oscar/passages"
    made = await ask(channel_server, "POST", passages, json={"content": "The safe is empty", "tags": ["money"]})
    assert made.status_code == 201
    found = (await ask(channel_server, "GET", passages, params={"query": "safe"})).json()["passages"]
    assert found == [made.json()]
    assert (await ask(channel_server, "GET", "/api/agents/kevin/passages", params={"query": "safe"})).json()[
        "passages"
    ] == []
    assert (await ask(channel_server, "DELETE", f"{passages}/{made.json()['id']}")).status_code == 204
    assert (await ask(channel_server, "GET", passages)).json()["passages"] == []
