"""Agents that Claude Agent SDK runs, in their mailboxes: the real SDK, against a fake of the provider on loopback."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.agents.declared.loading import App
from tests.faces.channels.agents_on_demand import ChannelServer, done
from tests.faces.channels.conftest import AT_ONCE
from tests.support.fakes.fake_anthropic import FakeAnthropic, fake_anthropic
from tests.support.in_process.live_server import Serve

pytest.importorskip("claude_agent_sdk", reason="needs the extra claude, whose wheel has a program of 350 MB")
pytestmark = pytest.mark.parametrize("backend", ["sqlite"])

NOTHING = {"calls": [{"tool": "mcp__runyard__do_nothing"}]}


def say(words: str, **more: Any) -> dict[str, Any]:
    return {**more, "calls": [{"tool": "mcp__runyard__send_message", "input": {"text": words}}]}


class Clerks(ChannelServer):
    def __init__(self, api: FakeAnthropic, **limits: Any) -> None:
        super().__init__()
        quick = {**api.environment, "CLAUDE_CODE_MAX_RETRIES": "0"}
        self.kevin = runyard.claude(
            "kevin", model="claude-sonnet-4-5", instructions="You are kevin.", environment=quick, **limits
        )

    def app(self) -> App:
        return App({"kevin": self.kevin}, {}, "kevin")

    async def say_and_wait(self, channel: str, *texts: str) -> None:
        stream = await self.watch()
        for text in texts:
            await self.say(channel, text)
        await done(stream, len(texts))

    async def last(self) -> dict[str, Any]:
        run = (await self.http.get("/api/agents/kevin/runs")).json()["runs"][0]
        return dict((await self.http.get(f"/api/agents/kevin/runs/{run['id']}")).json())

    async def said(self, channel: str) -> list[tuple[str, str]]:
        page = (await self.http.get("/api/messages", params={"channelId": channel})).json()["messages"]
        return [(message["userId"], message["text"]) for message in page]


async def clerks(serve: Serve, api: FakeAnthropic, tmp_path: Any, **limits: Any) -> Clerks:
    made = Clerks(api, **limits)
    made.server = await serve(made.app(), **AT_ONCE, workspaces=tmp_path / "workspaces")
    return made


@pytest.mark.req("S3.14", "S3.15", "S3.16", "S3.17", "S3.40")
async def test_a_claude_agent_speaks_by_its_tools_and_goes_on_with_its_session(serve: Serve, tmp_path: Any) -> None:
    with fake_anthropic(say("hi", text="raw words"), NOTHING, say("again"), {"text": "more raw words"}) as api:
        served = await clerks(serve, api, tmp_path)
        channel = await served.channel("kevin")
        await served.say_and_wait(channel, "hello")
        assert await served.said(channel) == [("local", "hello"), ("kevin", "hi")]
        first = await served.last()
        assert (first["status"], first["stopReason"]) == ("completed", "end_turn")
        assert [(s["stepNumber"], s["status"]) for s in first["steps"]] == [(1, "completed"), (2, "completed")]
        assert [(m["messageType"], m["toolName"]) for m in first["messages"]] == [
            ("system_message", None),
            ("user_message", None),
            ("assistant_message", None),
            ("tool_call_message", "send_message"),
            ("tool_return_message", "send_message"),
            ("tool_call_message", "do_nothing"),
            ("tool_return_message", "do_nothing"),
        ]
        assert first["tokenUsage"] == {"input_tokens": 14, "output_tokens": 6}
        assert len(api.asked) == 2, "after do_nothing the model is not asked again"
        assert "You are kevin." in str(api.asked[0]["system"])
        assert "hello" in str(api.asked[0]["messages"][-1])
        names = sorted(tool["name"] for tool in api.asked[0]["tools"])
        assert names == sorted(
            f"mcp__runyard__{name}"
            for name in (
                "send_message",
                "react_to_message",
                "do_nothing",
                "update_memory",
                "search_memory",
                "store_memory",
            )
        )

        await served.say_and_wait(channel, "and now?")
        assert (await served.said(channel))[2:] == [("local", "and now?"), ("kevin", "again")]
        assert "raw words" in str(api.asked[2]["messages"]), "the session of the run before"
        assert "raw words" not in str(await served.said(channel))
        [day] = (await served.http.get("/api/agents/kevin/usage")).json()["days"]
        assert (day["runs"], day["steps"]) == (2, 4)
        four_turns = 4 * (7 * 3 + 3 * 15) / 1e6
        assert day["usd"] == pytest.approx(four_turns, abs=1e-6), "a session that continues is not paid twice"


@pytest.mark.req("S3.13", "S3.19", "S3.21", "S3.42")
async def test_why_it_stopped(serve: Serve, tmp_path: Any) -> None:
    with fake_anthropic({"text": "raw words"}) as api:
        served = await clerks(serve, api, tmp_path, max_turns=2, sessions=False)
        channel = await served.channel("kevin")
        whys = []
        for turn in ({"text": "raw words"}, {"status": 400}, say("on and on")):
            api.turns = [turn]
            await served.say_and_wait(channel, "well?")
            last = await served.last()
            whys.append((last["status"], last["stopReason"]))
        assert whys == [("completed", "no_tool_call"), ("failed", "error"), ("completed", "max_steps")]
        assert not (tmp_path / "workspaces").exists(), "no session is kept"


async def test_a_cancel_ends_the_program_of_the_sdk(serve: Serve, tmp_path: Any) -> None:
    with fake_anthropic({"text": "too late"}) as api:
        api.hold.clear()
        served = await clerks(serve, api, tmp_path)
        channel = await served.channel("kevin")
        stream = await served.watch()
        await served.say(channel, "hello")
        await stream.until(lambda: "agent_typing" in stream.events)
        while not api.asked:  # noqa: ASYNC110 (the fake is in a thread)
            await asyncio.sleep(0.01)  # waits on purpose: until the model is asked
        [run] = (await served.http.get("/api/agents/kevin/runs")).json()["runs"]
        assert (await served.http.post(f"/api/runs/{run['id']}/cancel")).status_code == 200
        await done(stream, 1)
        assert (await served.last())["status"] == "cancelled"
        while _programs():  # noqa: ASYNC110 (it was killed; the kernel takes its time)
            await asyncio.sleep(0.01)  # waits on purpose: until it is gone


def _programs() -> list[str]:
    """Programs of the SDK that this process has started and that still run."""
    mine = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    lines = {}
    for pid in mine:
        with suppress(OSError):
            lines[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
    return [pid for pid, line in lines.items() if b"claude" in line]
