"""An agent that keeps a session continues with it: its id is stored and given to its next run in the same
conversation."""

from pathlib import Path

import pytest

import runyard
from runyard.agents.declared.loading import App
from tests.faces.channels.agents_on_demand import ChannelServer, done
from tests.faces.channels.conftest import AT_ONCE
from tests.support.fakes.fake_claude_sdk import (
    SESSION,
    FakeAssistantMessage,
    FakeResultMessage,
    FakeText,
    calls,
    install,
)
from tests.support.in_process.live_server import Serve

KEVIN = runyard.claude("kevin", model="claude-x", instructions="You are kevin.")


@pytest.mark.req("S3.14", "S3.15", "S3.16")
async def test_a_session_is_kept_for_the_place_and_resumed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoken = [*calls("m1", ("send_message", {"text": "hi"})), FakeAssistantMessage("m2", FakeText("raw words"))]
    sdk = install(monkeypatch, *spoken, FakeResultMessage(usd=0.5))
    monkeypatch.setattr("runyard.agents.declared.claude.check_installed", lambda: None)
    served = ChannelServer()
    served.server = await serve(App({"kevin": KEVIN}, {}, "kevin"), **AT_ONCE, workspaces=tmp_path)
    channel, stream = await served.channel("kevin"), await served.watch()
    for text in ("one", "two"):
        await served.say(channel, text)
    await done(stream, 2)

    first, second = sdk.options
    assert (first.resume, second.resume) == (None, SESSION)
    assert first.system_prompt.startswith("You are kevin.")
    assert (first.max_turns, first.max_budget_usd) == (5, 0.10)
    assert len(first.allowed_tools) == 6
    assert await served.server.store.session("kevin", channel) == SESSION
    page = (await served.http.get("/api/messages", params={"channelId": channel})).json()["messages"]
    assert [message["text"] for message in page if message["userId"] == "kevin"] == ["hi", "hi"]
    [day] = (await served.http.get("/api/agents/kevin/usage")).json()["days"]
    assert (day["runs"], day["usd"]) == (2, 0.5), "of the second run's 0.5 the first had paid all"
