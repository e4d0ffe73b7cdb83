"""Two owners talk to the same declared agents, and neither gets anything of the other: memory, prompts, sessions, the
mailbox, and the agents' names."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.domain.api_key import DEFAULT_SCOPES
from tests.faces.channels.conftest import AT_ONCE
from tests.support.eventually import PATIENCE
from tests.support.fakes.fake_claude_sdk import (
    SESSION,
    FakeAssistantMessage,
    FakeResultMessage,
    FakeText,
    calls,
    install,
)
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

MARKER = "heliotrope"


class Owner:
    """One owner with a key of the default scopes."""

    def __init__(self, server: Server, key: str) -> None:
        self._server = server
        self.header = {"Authorization": f"Bearer {key}"}

    async def ask(self, method: str, path: str, status: int = 200, **more: Any) -> Any:
        answer = await self._server.http.request(method, path, headers=self.header, **more)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def dm(self, agent: str = "kevin") -> str:
        return str((await self.ask("POST", "/api/dms", 201, json={"agentId": agent}))["id"])

    async def channel(self, *agents: str, **more: Any) -> str:
        body = {"name": "general", "agents": list(agents), **more}
        return str((await self.ask("POST", "/api/channels", 201, json=body))["id"])

    async def tell(self, dm: str, text: str) -> dict[str, Any]:
        body = {"dmConversationId": dm, "text": text}
        return dict(await self.ask("POST", "/api/messages", 201, json=body))

    async def watch(self) -> RawStream:
        return await self._server.stream("/api/sse", {**self.header, "last-event-id": "0"})

    async def until_done(self, count: int = 1) -> None:
        stream = await self.watch()
        await stream.until(lambda: stream.events.count("agent_done") >= count)
        await stream.close()


class ChannelStore:
    """Kevin has a scripted model that does what the last message says, and records its input."""

    def __init__(self, shared: bool = False) -> None:
        self.asked: list[Sequence[Mapping[str, Any]]] = []
        self.kevin = Agent("kevin", model="scripted", turns=self._think, instructions="You are kevin.", shared=shared)

    def _think(self, conversation: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        self.asked.append(list(conversation))
        if any(message["role"] == "assistant" for message in conversation):
            return {"text": "done"}
        text = str(conversation[-1]["content"])
        if text.startswith("remember"):
            calls = [
                {"tool": "update_memory", "input": {"label": "notes", "content": text}},
                {"tool": "store_memory", "input": {"content": text}},
            ]
        else:
            calls = [{"tool": "search_memory", "input": {"query": MARKER}}]
        return {"calls": calls}

    @property
    def app(self) -> App:
        return App({"kevin": self.kevin, "oscar": agent(name="oscar")(_idle)}, {}, "kevin")


async def _idle(ctx: Context) -> None: ...


async def two(serve: Serve, app: App, **more: Any) -> tuple[Owner, Owner]:
    server = await serve(app, keys=True, **AT_ONCE, **more)
    ann, bob = [Owner(server, await server.key(name, *DEFAULT_SCOPES)) for name in ("ann", "bob")]
    return ann, bob


async def test_a_search_finds_channels_and_dms_and_says_where(serve: Serve) -> None:
    ann, bob = await two(serve, ChannelStore().app)
    direct, secret = await ann.dm(), await ann.channel("oscar", name="vault", kind="private")
    public = await bob.channel("oscar", name="square")
    await ann.tell(direct, f"remember {MARKER}")
    await ann.ask("POST", "/api/messages", 201, json={"channelId": secret, "text": f"the {MARKER} is here"})
    await bob.ask("POST", "/api/messages", 201, json={"channelId": public, "text": f"a {MARKER} for everybody"})

    async def found(who: Owner) -> list[tuple[str, str, str]]:
        hits = (await who.ask("GET", "/api/search", params={"query": MARKER}))["messages"]
        return [(hit["kind"], hit["thread_id"], hit["title"]) for hit in hits if hit["role"] == "user"]

    assert await found(ann) == [("channel", public, "#square"), ("channel", secret, "#vault"), ("dm", direct, "kevin")]
    assert await found(bob) == [("channel", public, "#square")]


@pytest.mark.req("S3.4")
async def test_words_of_one_owner_are_in_no_memory_or_prompt_of_another(serve: Serve) -> None:
    served = ChannelStore()
    ann, bob = await two(serve, served.app)
    await ann.tell(await ann.dm(), f"remember {MARKER}")
    await ann.until_done()
    assert MARKER in str(await ann.ask("GET", "/api/agents/kevin/memory"))
    [passage] = (await ann.ask("GET", "/api/agents/kevin/passages"))["passages"]

    served.asked.clear()
    await bob.tell(await bob.dm(), "what do you know?")
    await bob.until_done()
    assert len(served.asked) == 2, "asked, and told what the search of his memory found"
    assert MARKER not in str([m for said in served.asked for m in said if m["role"] != "assistant"])
    for path in ("memory", "passages", f"passages?query={MARKER}", "prompt"):
        assert MARKER not in str(await bob.ask("GET", f"/api/agents/kevin/{path}"))
    await bob.ask("DELETE", "/api/agents/kevin/memory/notes", 404)
    await bob.ask("DELETE", f"/api/agents/kevin/passages/{passage['id']}", 404)
    await bob.ask("PUT", "/api/agents/kevin/memory/notes", json={"content": "bob was here"})
    assert [b["content"] for b in (await ann.ask("GET", "/api/agents/kevin/memory"))["blocks"]] == [
        f"remember {MARKER}"
    ]
    assert "bob was here" not in (await ann.ask("GET", "/api/agents/kevin/prompt"))["systemPrompt"]


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_shared_agent_remembers_for_every_owner(serve: Serve) -> None:
    served = ChannelStore(shared=True)
    ann, bob = await two(serve, served.app)
    await ann.tell(await ann.dm(), f"remember {MARKER}")
    await ann.until_done()
    assert MARKER in (await bob.ask("GET", "/api/agents/kevin/prompt"))["systemPrompt"]
    assert len((await bob.ask("GET", f"/api/agents/kevin/passages?query={MARKER}"))["passages"]) == 1
    await bob.ask("PUT", "/api/agents/kevin/memory/rules", json={"content": "be kind", "isShared": True})
    await ann.ask("PUT", "/api/agents/oscar/memory/own", json={"content": "ann's", "isShared": True})
    await ann.ask("PUT", "/api/agents/oscar/memory/own/readers/kevin", 422)
    await bob.ask("PUT", "/api/agents/kevin/memory/rules/readers/oscar", 204)
    assert "be kind" in (await bob.ask("GET", "/api/agents/oscar/prompt"))["systemPrompt"]
    assert "be kind" not in (await ann.ask("GET", "/api/agents/oscar/prompt"))["systemPrompt"]


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_guest_in_a_public_channel_reads_what_is_said_there_and_no_memory(serve: Serve) -> None:
    ann, bob = await two(serve, ChannelStore().app)
    await ann.ask("PUT", "/api/agents/kevin/memory/notes", json={"content": MARKER})
    place = {"channelId": await ann.channel("kevin")}
    assert MARKER in (await ann.ask("GET", "/api/agents/kevin/prompt", params=place))["systemPrompt"]
    await bob.ask("GET", "/api/agents/kevin/prompt", 404, params=place)
    said = await bob.ask("POST", "/api/messages", 201, json={**place, "text": "hello", "userId": "bob"})
    assert said["userId"] == "bob"
    await ann.ask("PATCH", f"/api/messages/{said['id']}", 404, json={"text": "words in bob's mouth"})
    await bob.ask("PATCH", f"/api/messages/{said['id']}", json={"text": "hello again"})
    await ann.ask("DELETE", f"/api/messages/{said['id']}", 204)


@pytest.mark.req("S3.10", "S3.41")
async def test_a_run_of_one_owner_holds_up_no_run_of_another(serve: Serve) -> None:
    """And a shared agent has one mailbox for all of them."""
    gate, began = asyncio.Event(), asyncio.Queue[str]()

    async def work(ctx: Context) -> None:
        began.put_nowait(ctx.message.text)
        await gate.wait()

    agents = [agent(name="kevin")(work), agent(name="pam", shared=True)(work)]
    ann, bob = await two(serve, App({each.name: each for each in agents}, {}, "kevin"))
    for owner, name in ((ann, "ann"), (bob, "bob")):
        await owner.tell(await owner.dm("pam"), f"pam for {name}")
        await owner.tell(await owner.dm("kevin"), f"kevin for {name}")
        await owner.tell(await owner.dm("kevin"), f"kevin for {name} again")
    async with asyncio.timeout(PATIENCE):
        first = [await began.get() for _ in range(3)]
        assert sorted(first) == ["kevin for ann", "kevin for bob", "pam for ann"]
        assert began.empty()
        gate.set()
        rest = [await began.get() for _ in range(3)]
        assert sorted(rest) == ["kevin for ann again", "kevin for bob again", "pam for bob"]


@pytest.mark.req("S3.4", "S3.16")
async def test_a_session_is_resumed_in_its_own_place_only(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoken = [*calls("m1", ("do_nothing", {})), FakeAssistantMessage("m2", FakeText("raw words"))]
    sdk = install(monkeypatch, *spoken, FakeResultMessage(usd=0.5))
    monkeypatch.setattr("runyard.agents.declared.claude.check_installed", lambda: None)
    clerk = runyard.claude("kevin", model="claude-x", shared=True)  # sessions of a shared agent are apart too
    ann, bob = await two(serve, App({"kevin": clerk}, {}, "kevin"), workspaces=tmp_path)
    anns, bobs = await ann.dm(), await bob.dm()
    await ann.tell(anns, MARKER)
    await ann.until_done(1)
    await bob.tell(bobs, "hello")
    await bob.until_done(1)
    channel = await ann.channel("kevin", kind="private")
    await ann.ask("POST", "/api/messages", 201, json={"channelId": channel, "text": "hello"})
    await ann.until_done(2)
    await ann.tell(anns, "again")
    await ann.until_done(3)
    resumed: dict[Path, list[str | None]] = {}
    for options in sdk.options:
        resumed.setdefault(Path(options.cwd), []).append(options.resume)
    assert [each[0] for each in resumed.values()] == [None, None, None], "three places, and each starts again"
    assert resumed[Path(sdk.options[0].cwd)][-1] == SESSION


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_only_an_operator_renames_or_retires_a_declared_agent(serve: Serve) -> None:
    server = await serve(ChannelStore().app, keys=True, **AT_ONCE)
    ann = Owner(server, await server.key("ann", *DEFAULT_SCOPES))
    before = await ann.ask("GET", "/api/agents/kevin")
    for change in ({"displayName": "Mallory"}, {"title": "x"}, {"avatarColor": "red"}, {"isActive": False}):
        refused = await ann.ask("PATCH", "/api/agents/kevin", 403, json=change)
        assert "`operate`" in refused["detail"]
    await ann.ask("DELETE", "/api/agents/kevin", 403)
    assert await ann.ask("GET", "/api/agents/kevin") == before
    operator = Owner(server, await server.key("op", *DEFAULT_SCOPES, "operate"))
    assert (await operator.ask("PATCH", "/api/agents/kevin", json={"displayName": "Kev"}))["displayName"] == "Kev"
    await operator.ask("DELETE", "/api/agents/kevin", 204)
    assert not (await ann.ask("GET", "/api/agents/kevin"))["isActive"]


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_sender_is_the_owner_of_the_key(serve: Serve) -> None:
    ann, bob = await two(serve, ChannelStore().app)
    anns = await ann.dm()
    for user in ("ann", "kevin", "", "carol"):
        refused = await bob.ask("POST", "/api/dms", 422, json={"agentId": "kevin", "userId": user})
        assert MARKER not in str(refused)
    assert (await bob.ask("GET", "/api/dms"))["dms"] == []
    mine = await bob.ask("POST", "/api/dms", 201, json={"agentId": "kevin", "userId": "bob"})
    assert mine["id"] != anns
    assert sorted(each["id"] for each in mine["participants"]) == ["bob", "kevin"]
    channel = await bob.channel("oscar", users=["ann"])
    place = {"channelId": channel, "text": "hello"}
    for user in ("ann", "oscar", "carol"):
        await bob.ask("POST", "/api/messages", 422, json={**place, "userId": user})
    assert (await bob.ask("GET", "/api/messages", params={"channelId": channel}))["messages"] == []
    said = await bob.ask("POST", "/api/messages", 201, json={**place, "userId": "bob"})
    reactions = f"/api/messages/{said['id']}/reactions"
    await bob.ask("POST", reactions, 422, json={"emoji": "ok", "userId": "ann"})
    await ann.ask("POST", reactions, 201, json={"emoji": "ok"})
    await bob.ask("DELETE", f"{reactions}/ok", 204)  # bob has none to take back
    shown = await ann.ask("GET", f"/api/messages/{said['id']}")
    assert [(each["userId"], each["emoji"]) for each in shown["reactions"]] == [("ann", "ok")]
