"""The requests that start a run on each server. Runyard, the baseline and most rivals serve the threads face."""

from collections.abc import Sequence
from typing import Any, Protocol
from uuid import uuid4

from bench.client.oracle import Verdict, judge, judge_lines
from bench.client.wire import Piece, Wire


class Dialect(Protocol):
    async def open_thread(self, wire: Wire) -> str: ...

    async def run(self, post: Wire, read: Wire, thread: str, agent: str, tokens: int) -> list[Piece]:
        """Ask for a run on one connection and read its stream to the end on another (or the same)."""

    def judge(self, pieces: Sequence[Piece], tokens: int) -> Verdict: ...


class Threads:
    async def open_thread(self, wire: Wire) -> str:
        return str((await wire.ask("POST", "/api/threads", {}))["thread_id"])

    async def post(self, wire: Wire, thread: str, agent: str, tokens: int) -> str:
        message = {"content": str(tokens), "agent": agent}
        return str((await wire.ask("POST", f"/api/threads/{thread}/messages", message))["run_id"])

    async def run(self, post: Wire, read: Wire, thread: str, agent: str, tokens: int) -> list[Piece]:
        run = await self.post(post, thread, agent, tokens)
        return await read.stream("GET", f"/api/runs/{run}/events")

    def judge(self, pieces: Sequence[Piece], tokens: int) -> Verdict:
        return judge(pieces, tokens)


class LangGraph:
    """One request that starts a run and streams it. Events have no ids, and none says that it is the last."""

    async def open_thread(self, wire: Wire) -> str:
        return str((await wire.ask("POST", "/threads", {}))["thread_id"])

    async def run(self, post: Wire, read: Wire, thread: str, agent: str, tokens: int) -> list[Piece]:
        asked = {"assistant_id": agent, "input": {"tokens": tokens}, "stream_mode": "custom"}
        return await post.stream("POST", f"/threads/{thread}/runs/stream", asked)

    def judge(self, pieces: Sequence[Piece], tokens: int) -> Verdict:
        return judge(pieces, tokens, end=None)


class OneRequest:
    """One request starts a run and streams it. The client names the thread. No event is known to be the last."""

    async def open_thread(self, wire: Wire) -> str:
        return str(uuid4())

    async def run(self, post: Wire, read: Wire, thread: str, agent: str, tokens: int) -> list[Piece]:
        path, asked = self.request(thread, agent, str(tokens))
        return await post.stream("POST", path, asked)

    def judge(self, pieces: Sequence[Piece], tokens: int) -> Verdict:
        return judge(pieces, tokens, end=None)

    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError


class OpenAI(OneRequest):
    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        return "/v1/responses", {"model": agent, "input": text, "stream": True}


class Completions(OneRequest):
    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        messages = [{"role": "user", "content": text}]
        return "/v1/chat/completions", {"model": agent, "messages": messages, "stream": True}


class Mcp(OneRequest):
    """Text comes as notifications of progress, one for 100 characters, and whole in the result."""

    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        called = {"name": agent, "arguments": {"message": text, "thread_id": thread}, "_meta": {"progressToken": "p"}}
        return "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}

    def judge(self, pieces: Sequence[Piece], tokens: int) -> Verdict:
        return judge_lines(pieces, tokens)


class A2a(OneRequest):
    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": text}], "contextId": thread}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
        return f"/a2a/{agent}?A2A-Version=1.0", asked


class AiSdk(OneRequest):
    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        message = {"id": str(uuid4()), "role": "user", "parts": [{"type": "text", "text": text}]}
        return f"/api/ai/{agent}", {"id": thread, "messages": [message], "trigger": "submit-message"}


class AgUi(OneRequest):
    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        message = {"id": str(uuid4()), "role": "user", "content": text}
        nothing: dict[str, Any] = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
        return f"/api/ag-ui/{agent}", {"threadId": thread, "runId": str(uuid4()), "messages": [message], **nothing}


class LangGraphSdk(OneRequest):
    def request(self, thread: str, agent: str, text: str) -> tuple[str, dict[str, Any]]:
        asked = {"assistant_id": agent, "input": text, "stream_mode": "messages-tuple", "if_not_exists": "create"}
        return f"/langgraph/threads/{thread}/runs/stream", asked


DIALECTS: dict[str, Dialect] = {
    "threads": Threads(),
    "langgraph": LangGraph(),
    "openai": OpenAI(),
    "ai": AiSdk(),
    "ag-ui": AgUi(),
    "langgraph-sdk": LangGraphSdk(),
    "completions": Completions(),
    "mcp": Mcp(),
    "a2a": A2a(),
}
