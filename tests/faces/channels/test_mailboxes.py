"""A mailbox shows one running run, and an agent answers in the conversation that addressed it."""

import asyncio
from typing import Any

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from tests.faces.channels.agents_on_demand import ChannelServer, done
from tests.faces.channels.conftest import AT_ONCE
from tests.faces.channels.test_agents_at_work import DONE, say, thinkers
from tests.support.in_process.live_server import Serve


@pytest.mark.req("S3.26")
async def test_an_answer_to_a_reply_goes_into_its_thread_unless_another_place_is_named(serve: Serve) -> None:
    turns: list[dict[str, Any]] = [say("in the thread"), say("at the top", parentMessageId=""), say("elsewhere"), DONE]
    served = await thinkers(serve, {"kevin": turns})
    channel, other = await served.channel("kevin", name="general"), await served.channel(name="other")
    turns[2]["calls"][0]["input"]["conversationId"] = other
    watch = await served.watch(0)
    first = await served.say(channel, "hello")
    await done(watch, 1)
    page = (await served.http.get("/api/messages", params={"channelId": channel})).json()["messages"]
    assert [message["parentMessageId"] for message in page] == [None, None, None], "this one was in no thread"
    reply = await served.say(channel, "hello you", parentMessageId=page[1]["id"])
    await done(watch, 2)
    await watch.close()
    page = (await served.http.get("/api/messages", params={"channelId": channel})).json()["messages"]
    assert [(message["text"], message["parentMessageId"]) for message in page[4:]] == [
        ("in the thread", page[1]["id"]),
        ("at the top", None),
    ]
    assert (page[0]["id"], page[3]["id"]) == (first["id"], reply["id"])
    elsewhere = (await served.http.get("/api/messages", params={"channelId": other})).json()["messages"]
    assert [message["parentMessageId"] for message in elsewhere] == [None, None]


@pytest.mark.req("S3.10", "S3.12")
async def test_one_run_of_a_mailbox_is_running_also_while_another_waits_for_a_person(serve: Serve) -> None:
    """A run that waits and gave its place away is back in the mailbox, until a person has decided."""
    gate = asyncio.Event()

    async def work(ctx: Context) -> None:
        if ctx.message.text == "ask":
            await ctx.request_approval("May I?")
        else:
            await gate.wait()

    served = ChannelServer()
    app = App({"kevin": agent(name="kevin", while_waiting="yield")(work)}, {}, "kevin")
    served.server = await serve(app, **AT_ONCE)
    dm = await served.dm("kevin")
    watch = await served.watch(0)

    async def statuses() -> list[str]:
        runs = (await served.http.get("/api/agents/kevin/runs")).json()["runs"]
        each = [(await served.http.get(f"/api/agents/kevin/runs/{run['id']}")).json() for run in runs]
        assert [run["status"] for run in each] == [run["status"] for run in runs]
        return [run["status"] for run in reversed(runs)]

    await served.tell(dm, "ask")
    await served.tell(dm, "work")
    await watch.until(lambda: watch.events.count("agent_typing") >= 2)
    assert await statuses() == ["created", "running"]
    [asked] = (await served.http.get("/api/approvals")).json()["approvals"]
    await served.http.post(f"/api/approvals/{asked['approval_id']}", json={"decision": "approve"})
    assert await statuses() == ["created", "running"]
    gate.set()
    await done(watch, 2)
    assert await statuses() == ["completed", "completed"]


@pytest.mark.req("S3.10")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_run_that_waits_and_holds_its_mailbox_is_the_one_that_is_running(serve: Serve) -> None:
    async def work(ctx: Context) -> None:
        await ctx.request_approval("May I?")

    served = ChannelServer()
    served.server = await serve(App({"kevin": agent(name="kevin")(work)}, {}, "kevin"), **AT_ONCE)
    dm = await served.dm("kevin")
    for text in ("one", "two"):
        await served.tell(dm, text)
    run = (await served.server.store.list_runs("local", {"agent": "kevin"}, None, 9))[1]
    await served.server.waiting(run.id)
    runs = (await served.http.get("/api/agents/kevin/runs")).json()["runs"]
    assert [run["status"] for run in reversed(runs)] == ["running", "created"]
