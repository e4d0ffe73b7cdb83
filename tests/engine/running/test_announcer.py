"""The announcer counts ready runs by queue and uses the doorbell; its poll recovers lost wake-ups and messages."""

import asyncio
from collections.abc import Mapping

from runyard.base.clock import SystemClock
from runyard.engine.control.announcer import MOST_RUNS, Announcer
from runyard.errors import Unavailable
from runyard.store import ReadyRun, Store
from runyard.stores.memory import MemoryStore
from tests.store.factories import a_post, a_worker


class Bell:
    def __init__(self) -> None:
        self.rung: list[Mapping[str, int]] = []
        self.heard = asyncio.Event()

    def ring(self, ready: Mapping[str, int]) -> None:
        self.rung.append(dict(ready))
        self.heard.set()

    def close(self) -> None:
        pass


def announcer(store: Store, bell: Bell, poll_seconds: float | None = None) -> Announcer:
    return Announcer(
        store, bell, queue_of=lambda agent: {"painter": "gpu"}.get(agent, "runyard"), poll_seconds=poll_seconds
    )


async def _next_ring(bell: Bell) -> Mapping[str, int]:
    async with asyncio.timeout(30):
        await bell.heard.wait()
    bell.heard.clear()
    return bell.rung[-1]


async def test_ready_runs_are_counted_by_queue() -> None:
    store, bell = MemoryStore(SystemClock()), Bell()
    await announcer(store, bell).round()
    assert bell.rung == [], "no run, no message"
    await store.accept([a_post(agent=agent) for agent in ("painter", "writer", "painter")])
    await announcer(store, bell).round()
    assert bell.rung == [{"gpu": 2, "runyard": 1}]
    await store.claim(await a_worker(store), 5, True)
    await announcer(store, bell).round()
    assert len(bell.rung) == 1


async def test_without_a_poll_only_a_wake_up_rings() -> None:
    store, bell = MemoryStore(SystemClock()), Bell()
    on_demand = announcer(store, bell)
    running = asyncio.create_task(on_demand.run())
    await store.accept([a_post()])
    await asyncio.sleep(0)
    assert bell.rung == []
    on_demand.wake()
    assert await _next_ring(bell) == {"runyard": 1}
    running.cancel()


async def test_a_poll_rings_for_what_was_missed_and_outlives_the_database() -> None:
    class AwayAtFirst(MemoryStore):
        calls = 0

        async def ready_runs(self, limit: int) -> list[ReadyRun]:
            self.calls += 1
            if self.calls == 1:
                raise Unavailable
            return list(await super().ready_runs(limit))

    store, bell = AwayAtFirst(SystemClock()), Bell()
    await store.accept([a_post()])
    running = asyncio.create_task(announcer(store, bell, poll_seconds=0.01).run())
    assert await _next_ring(bell) == {"runyard": 1}
    assert await _next_ring(bell) == {"runyard": 1}, "until a worker takes it"
    running.cancel()


async def test_many_ready_runs_are_announced_without_waiting_for_the_poll() -> None:
    store, bell = MemoryStore(SystemClock()), Bell()
    await store.accept([a_post() for _ in range(MOST_RUNS + 1)])
    waiting = announcer(store, bell, poll_seconds=3600)
    running = asyncio.create_task(waiting.run())
    waiting.wake()
    assert [await _next_ring(bell) for _ in range(3)] == [{"runyard": MOST_RUNS}] * 3
    running.cancel()
