"""How a server is asked for a run. Runyard, the yardstick and most rivals answer the requests of the threads face."""

from collections.abc import Sequence
from typing import Protocol

from bench.oracle import Verdict, judge
from bench.wire import Piece, Wire


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


DIALECTS: dict[str, Dialect] = {"threads": Threads(), "langgraph": LangGraph()}
