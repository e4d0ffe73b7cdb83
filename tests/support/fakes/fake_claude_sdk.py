"""A fake of Claude Agent SDK: it plays messages and calls of a test, and records its inputs."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from mcp import Client

from runyard.agents.kinds.claude.messages import PREFIX, SERVER
from runyard.agents.mcp.serving import USE_ID

SESSION = "session-1"


class FakeText:
    def __init__(self, text: str) -> None:
        self.text = text


class FakeThinking:
    def __init__(self, thinking: str) -> None:
        self.thinking, self.signature = thinking, "signed"


class FakeToolUse:
    def __init__(self, id: str, name: str, input: dict[str, Any]) -> None:
        self.id, self.name, self.input = id, PREFIX + name, input


class FakeAssistantMessage:
    def __init__(self, message_id: str, *content: Any) -> None:
        self.message_id, self.content, self.model = message_id, list(content), "claude-x"
        self.usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}


class FakeUserMessage:
    content = "the result of a tool"


class FakeResultMessage:
    def __init__(self, subtype: str = "success", usd: float = 0.5, status: int | None = None, **usage: int) -> None:
        self.subtype, self.session_id, self.total_cost_usd = subtype, SESSION, usd
        self.is_error, self.api_error_status = status is not None or subtype != "success", status
        self.usage = usage or {"input_tokens": 30, "output_tokens": 9}


class Call(SimpleNamespace):
    """A call that the fake SDK makes of our server; it may begin before its message is seen."""

    use_id: str
    tool: str
    given: dict[str, Any]


def calls(message_id: str, *wanted: tuple[str, dict[str, Any]], text: str = "") -> list[Any]:
    """A message with these calls, block by block, as the SDK tells of it, and the calls."""
    ids = [f"toolu_{message_id}_{place}" for place in range(len(wanted))]
    blocks: list[Any] = [FakeText(text)] if text else []
    blocks += [FakeToolUse(one, tool, given) for one, (tool, given) in zip(ids, wanted, strict=True)]
    made = [Call(use_id=one, tool=tool, given=given) for one, (tool, given) in zip(ids, wanted, strict=True)]
    return [*made, *(FakeAssistantMessage(message_id, block) for block in blocks), FakeUserMessage()]


class FakeSdk(ModuleType):
    """Plays messages and calls; keeps the options that it was given, and what its calls returned."""

    class ClaudeSDKError(Exception):
        pass

    def __init__(self, *played: Any) -> None:
        super().__init__("claude_agent_sdk")
        self.played = played
        self.options: list[SimpleNamespace] = []
        self.prompts: list[Any] = []
        self.returned: list[tuple[bool, str]] = []
        self.ClaudeAgentOptions = self._options
        self.HookMatcher = SimpleNamespace

    def _options(self, **given: Any) -> SimpleNamespace:
        self.options.append(SimpleNamespace(**given))
        return self.options[-1]

    async def query(self, prompt: Any, options: Any, transport: Any) -> AsyncIterator[Any]:
        self.prompts.append(prompt)
        if isinstance(self.played[0], Exception):
            raise self.played[0]
        transcript = Path(options.cwd) / "projects" / "here" / f"{SESSION}.jsonl"
        transcript.parent.mkdir(parents=True, exist_ok=True)
        transcript.touch()
        waiting: list[asyncio.Task[None]] = []
        async with Client(options.mcp_servers[SERVER]["instance"]) as client:
            for each in self.played:
                if isinstance(each, Call):
                    waiting.append(asyncio.create_task(self._call(client, each)))
                else:
                    if isinstance(each, FakeUserMessage):
                        await asyncio.gather(*waiting)
                    yield each

    async def _call(self, client: Any, call: Call) -> None:
        meta: Any = {f"claudecode/{USE_ID}": call.use_id}
        result = await client.call_tool(call.tool, call.given, meta=meta)
        self.returned.append((bool(result.is_error), result.content[0].text))


def install(monkeypatch: pytest.MonkeyPatch, *played: Any) -> FakeSdk:
    sdk, transport = FakeSdk(*played), ModuleType("transport")
    transport.SubprocessCLITransport = lambda **_: SimpleNamespace(_process=None)  # type: ignore[attr-defined]
    for name in ("", "._internal", "._internal.transport"):
        monkeypatch.setitem(sys.modules, f"claude_agent_sdk{name}", sdk)
    monkeypatch.setitem(sys.modules, "claude_agent_sdk._internal.transport.subprocess_cli", transport)
    return sdk
