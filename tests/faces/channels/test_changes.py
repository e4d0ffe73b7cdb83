"""Edits and deletions of messages, read positions, and the runs that messages started."""

import asyncio

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from runyard.engine.channels import activity
from runyard.errors import Unavailable
from tests.faces.channels.agents_on_demand import ChannelServer, done
from tests.faces.channels.conftest import AT_ONCE
from tests.support.in_process.live_server import Serve


async def test_edits_deletions_and_reactions_taken_back_are_told_to_all_readers(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel()
    watch = await channel_server.watch(None, **{"x-caller": "carol"})
    message = await channel_server.say(channel, "hi")
    path = f"/api/messages/{message['id']}"
    await channel_server.http.post(f"{path}/reactions", json={"emoji": "x"})
    await channel_server.http.delete(f"{path}/reactions/x")
    edited = (await channel_server.http.patch(path, json={"text": "hello"})).json()
    assert (edited["text"], edited["editedAt"] is None, edited["deletedAt"]) == ("hello", False, None)
    assert (await channel_server.http.patch(path, json={"text": "x"}, headers={"x-caller": "carol"})).status_code == 404
    for _ in range(2):
        assert (await channel_server.http.delete(path)).status_code == 204
    await watch.frames_to("message_deleted")
    gone = (await channel_server.http.get(path)).json()
    assert (gone["text"], gone["deletedAt"] is None, gone["userId"]) == ("(deleted)", False, "local")
    assert [name for name, _ in watch.wire] == [
        "message_created",
        "reaction_added",
        "reaction_removed",
        "message_updated",
        "message_deleted",
    ]
    assert watch.wire[-1][1] == {name: value for name, value in gone.items() if name != "reactions"}
    assert b"hi" not in watch.wire[-1][1]["text"].encode()
    assert (await channel_server.http.patch(path, json={"text": "back"})).status_code == 404
    await watch.close()


async def test_a_deleted_message_stays_in_the_record_of_the_run_that_read_it_and_in_no_later_prompt(
    serve: Serve,
) -> None:
    clerk = Agent("clerk", model="scripted", turns=[{"calls": [{"tool": "do_nothing"}]}])
    server = await serve(App({"clerk": clerk}, {}, "clerk"), **AT_ONCE)
    http = server.http
    channel = (await http.post("/api/channels", json={"name": "desk", "agents": ["clerk"]})).json()["id"]
    said = (await http.post("/api/messages", json={"channelId": channel, "text": "the first words"})).json()
    [run] = (await http.get("/api/agents/clerk/runs")).json()["runs"]
    await server.ended(run["id"])
    assert (await http.delete(f"/api/messages/{said['id']}")).status_code == 204
    record = await http.get(f"/api/agents/clerk/runs/{run['id']}")
    assert "the first words" in record.text
    prompt = await http.get("/api/agents/clerk/prompt", params={"channelId": channel})
    assert "the first words" not in prompt.text
    assert "deleted" not in prompt.text


async def test_a_position_is_kept_for_each_reader(channel_server: ChannelServer) -> None:
    channel, dm = await channel_server.channel(), await channel_server.dm("kevin")
    said = [await channel_server.say(channel, f"message {n}") for n in range(3)]

    async def unread(who: str) -> dict[str, tuple[str | None, int]]:
        found = (await channel_server.http.get("/api/unread", headers={"x-caller": who})).json()["conversations"]
        return {
            each["channelId"] or each["dmConversationId"]: (each["readMessageId"], each["unread"]) for each in found
        }

    assert await unread("carol") == {channel: (None, 3)}
    assert await unread("local") == {channel: (None, 0), dm: (None, 0)}, "messages of the caller are never unread"
    for n in (1, 0):
        body = {"messageId": said[n]["id"]}
        answer = await channel_server.http.put(
            f"/api/channels/{channel}/read", json=body, headers={"x-caller": "carol"}
        )
        assert answer.status_code == 204
    assert await unread("carol") == {channel: (said[1]["id"], 1)}
    for path in (f"/api/dms/{channel}/read", f"/api/dms/{dm}/read"):
        assert (await channel_server.http.put(path, json={"messageId": said[0]["id"]})).status_code == 404


@pytest.mark.req("S3.21")
async def test_runs_of_a_conversation_tell_what_became_of_them(
    channel_server: ChannelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = asyncio.Event()

    async def fail(ctx: Context) -> None:
        raise Unavailable("secret")

    async def ask(ctx: Context) -> str:
        return str(await ctx.ask("Which one?"))

    async def wait(ctx: Context) -> None:
        await stuck.wait()

    channel_server.deeds |= {"kevin": fail, "oscar": ask, "angela": wait}
    channel, watch = await channel_server.channel("kevin", "oscar", "angela"), await channel_server.watch()
    message = await channel_server.say(channel)
    await watch.until(lambda: ("agent_typing", "angela") in [(n, d.get("agentId")) for n, d in watch.wire])
    path = f"/api/channels/{channel}/runs"
    for who in ("local", "carol"):  # a public channel
        runs = (await channel_server.http.get(path, headers={"x-caller": who})).json()["runs"]
        told = {run["agentId"]: (run["status"], run["errorCode"], run["waitingFor"]) for run in runs}
        [wait_row] = (await channel_server.http.get("/api/waits")).json()["waits"]
        assert told == {
            "kevin": ("failed", "agent_error", None),
            "oscar": ("waiting", None, {"waitId": wait_row["wait_id"], "kind": "question"}),
            "angela": ("running", None, None),
        }
        assert {run["triggerMessageId"] for run in runs} == {message["id"]}
        assert "secret" not in str(runs)
    monkeypatch.setattr(activity, "WAITS", 0)  # as if the owner had more waits than are read at once
    assert (await channel_server.http.get(path)).json()["runs"] == runs
    first = (await channel_server.http.get(path, params={"limit": 1})).json()
    assert (await channel_server.http.get(path, params={"before": first["next"]})).json()["runs"] == runs[1:]
    stuck.set()
    await channel_server.http.post(f"/api/waits/{wait_row['wait_id']}", json={"value": "this"})
    await done(watch, 3)
    await watch.close()
