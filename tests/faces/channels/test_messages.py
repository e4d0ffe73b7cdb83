"""Messages wake agents: 201 first, then one run at a time per agent and one agent after another in a channel."""

import asyncio

import pytest

from runyard.agents.context.context import Context
from runyard.domain.runs.run import Status
from tests.faces.channels.agents_on_demand import ChannelServer, done


@pytest.mark.req("S3.7", "S3.12", "S3.40")
async def test_the_answer_comes_before_any_agent_has_answered(channel_server: ChannelServer) -> None:
    stuck = asyncio.Event()

    async def wait(ctx: Context) -> None:
        await stuck.wait()

    channel_server.deeds["kevin"] = wait
    channel = await channel_server.channel("kevin")
    message = await channel_server.say(channel, "lunch?")
    assert (message["text"], message["userId"], message["channelId"]) == ("lunch?", "local", channel)
    assert (message["dmConversationId"], message["parentMessageId"], message["isAgent"]) == (None, None, False)
    [run] = await channel_server.server.store.list_runs("local", {"agent": "kevin"}, None, 9)  # type: ignore[union-attr]
    assert not run.status.is_terminal
    assert (run.trigger_message_id, run.thread_id, run.face) == (message["id"], channel, "channels")
    watch = await channel_server.watch(0)
    stuck.set()
    await done(watch, 1)
    run = await channel_server.server.store.get_run("local", run.id)  # type: ignore[union-attr]
    assert (run.status, run.stop_reason) == (Status.DONE, "end_turn")
    await watch.close()


@pytest.mark.req("S3.23", "S3.40", "S3.22")
async def test_in_a_channel_agents_work_one_after_another(channel_server: ChannelServer) -> None:
    watch = await channel_server.watch()
    channel = await channel_server.channel("kevin", "oscar", "angela")
    await channel_server.say(channel)
    assert await done(watch, 3) == [
        (event, name) for name in ("kevin", "oscar", "angela") for event in ("agent_typing", "agent_done")
    ]
    assert watch.events[0] == "message_created"
    await watch.close()


@pytest.mark.req("S3.40")
async def test_a_later_agent_of_a_group_sees_the_earlier_answers(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel("kevin", "oscar")

    async def answer(ctx: Context) -> None:
        await channel_server.speak(ctx, channel, "I am first")

    async def look(ctx: Context) -> None:
        page = (await channel_server.http.get("/api/messages", params={"channelId": channel})).json()["messages"]
        seen.extend(message["text"] for message in page)

    seen: list[str] = []
    channel_server.deeds |= {"kevin": answer, "oscar": look}
    watch = await channel_server.watch()
    await channel_server.say(channel, "hello")
    await done(watch, 2)
    assert seen == ["hello", "I am first"]
    await watch.close()


@pytest.mark.req("S3.17", "S3.18")
async def test_the_return_value_of_an_agent_is_not_posted(channel_server: ChannelServer) -> None:
    async def babble(ctx: Context) -> str:
        return "raw text outside of a tool"

    channel_server.deeds["kevin"] = babble
    watch = await channel_server.watch()
    channel = await channel_server.channel("kevin")
    await channel_server.say(channel, "hello")
    await done(watch, 1)
    page = (await channel_server.http.get("/api/messages", params={"channelId": channel})).json()
    assert [message["text"] for message in page["messages"]] == ["hello"]
    [run] = await channel_server.server.store.list_runs("local", {"agent": "kevin"}, None, 9)  # type: ignore[union-attr]
    assert run.status is Status.DONE
    await watch.close()


@pytest.mark.req("S3.8", "S3.9", "S3.10", "S3.41")
async def test_three_quick_messages_to_one_agent_run_in_order(channel_server: ChannelServer) -> None:
    watch = await channel_server.watch()
    dm = await channel_server.dm("kevin")
    for n in range(3):
        await channel_server.tell(dm, f"message {n}")
    assert await done(watch, 3) == [("agent_typing", "kevin"), ("agent_done", "kevin")] * 3
    assert channel_server.begun == [("kevin", f"message {n}") for n in range(3)]
    await watch.close()


@pytest.mark.req("S3.21", "S3.22", "S3.42")
async def test_an_agent_that_throws_is_done_and_the_next_message_is_answered(channel_server: ChannelServer) -> None:
    async def throw(ctx: Context) -> None:
        if ctx.message.text == "bad":
            raise RuntimeError("secret")

    channel_server.deeds["kevin"] = throw
    watch = await channel_server.watch()
    channel = await channel_server.channel("kevin", "oscar")
    await channel_server.say(channel, "bad")
    await channel_server.say(channel, "good")
    await done(watch, 4)
    runs = await channel_server.server.store.list_runs("local", {"agent": "kevin"}, None, 9)  # type: ignore[union-attr]
    assert [(run.status, run.stop_reason) for run in reversed(runs)] == [
        (Status.ERROR, "error"),
        (Status.DONE, "end_turn"),
    ]
    assert sorted(channel_server.begun) == sorted(
        (name, text) for name in ("kevin", "oscar") for text in ("bad", "good")
    )
    await watch.close()


@pytest.mark.req("S3.22")
async def test_an_agent_whose_run_is_canceled_is_done(channel_server: ChannelServer) -> None:
    async def never(ctx: Context) -> None:
        await asyncio.Event().wait()

    channel_server.deeds["kevin"] = never
    watch = await channel_server.watch()
    await channel_server.tell(await channel_server.dm("kevin"))
    await watch.frames_to("agent_typing")
    run_id = watch.frames[-1].json["runId"]
    assert (await channel_server.http.post(f"/api/runs/{run_id}/cancel")).json()["status"] == "canceled"
    assert await done(watch, 1) == [("agent_typing", "kevin"), ("agent_done", "kevin")]
    await watch.close()


@pytest.mark.req("S3.40")
async def test_agents_talk_to_each_other_until_the_chain_is_too_long(channel_server: ChannelServer) -> None:
    between = await channel_server.dm("kevin", "oscar")

    async def answer(ctx: Context) -> None:
        await channel_server.speak(ctx, between, f"{ctx.message.text}!")

    channel_server.deeds |= {"kevin": answer, "oscar": answer}
    watch = await channel_server.watch()
    await channel_server.tell(await channel_server.dm("kevin"), "hi")
    await done(watch, 4)
    assert channel_server.begun == [("kevin", "hi"), ("oscar", "hi!"), ("kevin", "hi!!"), ("oscar", "hi!!!")]
    page = (await channel_server.http.get("/api/messages", params={"dmConversationId": between})).json()["messages"]
    assert [message["text"] for message in page] == ["hi!", "hi!!", "hi!!!", "hi!!!!"], "sent, and no agent is started"
    runs = await channel_server.server.store.list_runs("local", {}, None, 99)  # type: ignore[union-attr]
    assert sorted(run.depth for run in runs) == [0, 1, 2, 3]
    await watch.close()


@pytest.mark.req("S3.40")
async def test_a_call_that_is_repeated_says_it_once(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel("kevin")

    async def twice(ctx: Context) -> None:
        first = await channel_server.speak(ctx, channel, "once", "call_7")
        again = await channel_server.speak(ctx, channel, "once", "call_7")
        assert first.message.id == again.message.id

    channel_server.deeds["kevin"] = twice
    watch = await channel_server.watch()
    await channel_server.say(channel)
    await done(watch, 1)
    assert [data["text"] for name, data in watch.wire if name == "message_created"] == ["hello", "once"]
    await watch.close()


@pytest.mark.req("S3.26")
async def test_a_reply_wakes_who_has_spoken_there(channel_server: ChannelServer) -> None:
    channel = await channel_server.channel("kevin", "oscar")

    async def answer(ctx: Context) -> None:
        if ctx.message.text == "who is there?":
            said.append((await channel_server.speak(ctx, channel, "me")).message.id)

    said: list[str] = []
    channel_server.deeds["oscar"] = answer
    watch = await channel_server.watch()
    await channel_server.say(channel, "who is there?")
    await done(watch, 2)
    reply = await channel_server.say(channel, "hello you", parentMessageId=said[0])
    assert reply["parentMessageId"] == said[0]
    await done(watch, 3)
    assert channel_server.begun[2:] == [("oscar", "hello you")]
    await watch.close()


@pytest.mark.req("S3.40")
@pytest.mark.parametrize("text", [" ", "\n\t", "\u2003"])
async def test_blank_text_is_refused_and_wakes_no_agent(channel_server: ChannelServer, text: str) -> None:
    channel = await channel_server.channel("kevin")
    for place in ({"channelId": channel}, {"dmConversationId": await channel_server.dm("kevin")}):
        answer = await channel_server.http.post("/api/messages", json={**place, "text": text})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    kept = await channel_server.http.post("/api/agents/kevin/passages", json={"content": text})
    assert kept.status_code == 422
    assert (await channel_server.http.get("/api/messages", params={"channelId": channel})).json()["messages"] == []
    assert await channel_server.server.store.list_runs("local", {"agent": "kevin"}, None, 9) == []  # type: ignore[union-attr]
