"""A client of a flow scenario that follows one run over breaking connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import httpx2

from runyard.base.sse import Parser
from tests.support.checker.invariants import Seen
from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.pods import Pod

if TYPE_CHECKING:
    from tests.support.scenario.flow import Flow

STREAMS = {"native": "/api/runs/{}/log", "threads": "/api/runs/{}/events", "plans": "/agents/runs/{}/stream"}


class Reader:
    """A client that follows one run and comes back where it was whenever its connection ends too early: with
    Last-Event-ID, and on the plans face with fromSeq.

    `pods` are asked in turn: each new connection goes to the next one (none given: to any that answers). `drop_after`
    cuts the connection itself after so many events, every time."""

    def __init__(
        self, flow: Flow, run_id: str, pods: Sequence[Pod], face: str = "native", drop_after: int | None = None
    ) -> None:
        self._flow = flow
        self._pods = list(pods)
        self._path = STREAMS[face].format(run_id)
        self._drop_after = drop_after
        self.seen = Seen(run_id, face)
        self.data: list[Any] = []
        self.connections = 0
        self.is_stopped = False
        flow.evidence.seen.append(self.seen)
        self._task = asyncio.create_task(self._follow(), name=f"reader {run_id}")

    @property
    def pods(self) -> list[Pod]:
        return self._pods or self._flow.apis

    @property
    def types(self) -> list[str]:
        return [kind for _, kind, _ in self.seen.events]

    @property
    def text(self) -> str:
        """The answer as a client would show it: all tokens since the last reset of what was open."""
        kept, open_text = "", ""
        for kind, data in zip(self.types, self.data, strict=True):
            if kind == "model.token":
                open_text += data["text"]
            elif kind == "model.reset":
                open_text = ""
            elif kind in ("step.finished", "tool.finished", "model.message", "approval.decided"):
                kept, open_text = kept + open_text, ""
        return kept + open_text

    def count(self, kind: str) -> int:
        return self.types.count(kind)

    async def until(self, what: str, condition: Callable[[Reader], Any]) -> None:
        await eventually(f"a reader sees {what} (it saw {self.types[-5:]})", lambda: condition(self) or self._failed())

    async def tokens(self, count: int) -> None:
        await self.until(f"{count} tokens", lambda reader: reader.count("model.token") >= count)

    async def end(self, seconds: float = PATIENCE) -> Reader:
        """Wait for the last event."""
        await asyncio.wait_for(asyncio.shield(self._task), seconds)
        return self

    async def stop(self) -> None:
        self.is_stopped = True
        self._task.cancel()
        await asyncio.wait({self._task})

    def _failed(self) -> bool:
        if self._task.done() and not self._task.cancelled() and self._task.exception() is not None:
            self._task.result()
        return False

    async def _follow(self) -> None:
        while not self.seen.complete:
            pods = self.pods
            if not pods:
                await asyncio.sleep(0.02)
                continue
            pod = pods[self.connections % len(pods)]
            self.connections += 1
            try:
                await self._connect(pod)
            except (httpx2.TransportError, httpx2.StreamError):
                await asyncio.sleep(0.02)

    async def _connect(self, pod: Pod) -> None:
        last = self.seen.events[-1][0] if self.seen.events else 0
        by_query = self.seen.face == "plans"
        headers = {"Last-Event-ID": str(last)} if last and not by_query else {}
        params = {"fromSeq": last} if by_query else {}
        got = 0
        parser = Parser()
        async with self._flow.http.stream("GET", pod.url + self._path, headers=headers, params=params) as response:
            if response.status_code >= 400:
                self._flow.note_failure(response, await response.aread())
                await asyncio.sleep(0.02)
                return
            async for chunk in response.aiter_raw():
                for frame in parser.feed(chunk):
                    self._take(int(frame.id), frame.event, json.loads(frame.data))
                    got += 1
                    if self._drop_after is not None and got >= self._drop_after and not self._at_end():
                        return
        # the response ended cleanly: the server says that this was all
        self.seen.complete = True
        assert self._at_end(), f"a stream ended cleanly after {self.types[-3:]}"

    def _take(self, seq: int, kind: str, data: Any) -> None:
        event_id = ""
        if self.seen.face == "native":
            event_id, data = data["id"], data["data"]
        elif self.seen.face == "plans":
            kind = data["type"]
        self.seen.events.append((seq, kind, event_id))
        self.data.append(data)

    def _at_end(self) -> bool:
        return bool(self.seen.events) and self.seen.events[-1][1] in ("run.finished", "state", "RunFinished")
