"""Memory stores with one fault each, and shortcuts to claimed runs and processes."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from runyard.app.process import Process
from runyard.base.clock import SystemClock
from runyard.domain.events import Event
from runyard.domain.runs.append import Busy, Outcome, Part
from runyard.domain.runs.run import Run
from runyard.errors import RunyardError, Unavailable
from runyard.settings import Settings
from runyard.store import Accepted, Beat, Post, Room, Store
from runyard.stores.memory import MemoryStore
from tests.store.factories import a_post, claims, post
from tests.support.eventually import PATIENCE

QUICK: dict[str, Any] = {
    "lease_seconds": 5,
    "reap_seconds": 5,
    "poll_seconds": 0.02,
    "drain_seconds": 0,
    "stop_seconds": 0.2,
}


class NoListener:
    """Stands in for the outbox of a tail, and ignores commits."""

    def add_committed(self, run_id: str, events: Sequence[Event]) -> None:
        pass

    def poll_soon(self) -> None:
        pass


NO_LISTENER = NoListener()


class NotingStore(MemoryStore):
    """Records the groups that are appended and accepted. While `gate` is closed, both wait."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.appended: list[list[Part]] = []
        self.accepted: list[list[Post]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()  # by an append
        self.accepting = asyncio.Event()

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        self.appended.append(list(parts))
        self.reached.set()
        await self.gate.wait()
        return await super().append(parts)

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        self.accepted.append(list(posts))
        self.accepting.set()
        await self.gate.wait()
        return await super().accept(posts, room)


class StoreWithFaults(NotingStore):
    """Each append meets the next of `faults`: `lost` (committed, but the answer is lost), `away` (not committed), or
    `busy` (no part with a move is taken)."""

    def __init__(self, *faults: str) -> None:
        super().__init__()
        self.faults = deque(faults)

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        fault = self.faults.popleft() if self.faults else ""
        match fault:
            case "away":
                self.appended.append(list(parts))
                raise Unavailable
            case "lost":
                await super().append(parts)
                raise Unavailable
            case "busy":
                self.appended.append(list(parts))
                still = [part for part in parts if part.move is None]
                outcomes = iter(await MemoryStore.append(self, still))
                return [Busy() if part.move is not None else next(outcomes) for part in parts]
            case _:
                return await super().append(parts)


class StoreThatRefuses(NotingStore):
    """Breaks the whole group if it holds an event with `poison` in it, as a database does that cannot store it."""

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        if any(b"poison" in draft.data for part in parts for draft in part.drafts):
            self.appended.append(list(parts))
            raise ValueError("this cannot be stored")
        return await super().append(parts)


class StoreThatForgetsWorkers(NotingStore):
    """Answers one heartbeat as if the lease had expired."""

    lost = False

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        if self.lost:
            self.lost = False
            return Beat(False)
        return await super().heartbeat(worker_id, ttl_ms)


async def claimed_runs(store: Store, count: int) -> list[Run]:
    for _ in range(count):
        await post(store, a_post())
    runs = await claims(store)
    assert len(runs) == count
    return runs


def process_of(store: Store, *agents: Agent, **settings: Any) -> Process:
    app = App({agent.name: agent for agent in agents}, {}, agents[0].name)
    return Process(Settings(**{**QUICK, **settings}), app, store=store)


async def until(true: Callable[[], bool]) -> None:
    """Let other tasks run until the condition is true."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 (what changes it has no event to wait for)
            await asyncio.sleep(0)
