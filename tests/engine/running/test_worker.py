"""The worker of a process holds its lease or stops all its runs, claims one suspect at a time, and drains without
loss."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.kinds import agent
from runyard.app.process import Process
from runyard.domain.runs.run import SUSPECT_ATTEMPTS, Status
from runyard.store import Store
from tests.engine.fakes import NotingStore, StoreThatForgetsWorkers, process_of, until
from tests.store.factories import ANN, a_post, a_suspect, ending, log, post
from tests.support.eventually import PATIENCE


class Gate:
    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.inside: list[str] = []
        self.most = 0
        self.stopped: list[str] = []

    def agent(self) -> Agent:
        @agent(name="default")
        async def default(ctx: Context) -> str:
            self.inside.append(ctx.run_id)
            self.most = max(self.most, len(self.inside))
            try:
                await self.open.wait()
            except asyncio.CancelledError:
                self.stopped.append(ctx.run_id)
                raise
            finally:
                self.inside.remove(ctx.run_id)
            return "done"

        return default


@asynccontextmanager
async def started(store: Store, gate: Gate, **settings: float) -> AsyncIterator[Process]:
    process = process_of(store, gate.agent(), **settings)
    await process.start()
    try:
        yield process
    finally:
        gate.open.set()
        await process.stop()


async def eventually(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await true():  # noqa: ASYNC110 (as `until`)
            await asyncio.sleep(0)


async def reaches(store: Store, run_id: str, status: Status) -> None:
    async def is_there() -> bool:
        return await status_of(store, run_id) is status

    await eventually(is_there)


async def status_of(store: Store, run_id: str) -> Status:
    return (await store.get_run(ANN, run_id)).status


async def test_runs_under_suspicion_are_tried_one_at_a_time_beside_the_others() -> None:
    store, gate = NotingStore(), Gate()
    suspects = [(await a_suspect(store, f"agent:{n}")).id for n in range(3)]
    healthy = [await post(store, a_post()) for _ in range(4)]
    async with started(store, gate):
        await until(lambda: len(gate.inside) == 5)
        for _ in range(200):
            await asyncio.sleep(0)
        assert set(healthy) < set(gate.inside)
        assert len(set(suspects) & set(gate.inside)) == 1
        gate.open.set()
        for run_id in suspects:
            await reaches(store, run_id, Status.DONE)
    assert gate.most == 5
    assert SUSPECT_ATTEMPTS == 2


async def test_no_more_runs_than_slots_are_at_work() -> None:
    store, gate = NotingStore(), Gate()
    runs = [await post(store, a_post()) for _ in range(10)]
    async with started(store, gate, slots=3):
        await until(lambda: len(gate.inside) == 3)
        gate.open.set()
        for run_id in runs:
            await reaches(store, run_id, Status.DONE)
    assert gate.most == 3


async def test_a_worker_that_lost_its_lease_stops_everything_and_comes_back_under_a_new_name() -> None:
    store, gate = StoreThatForgetsWorkers(), Gate()
    runs = [await post(store, a_post()) for _ in range(3)]
    async with started(store, gate, lease_seconds=0.4):
        await until(lambda: len(gate.inside) == 3)
        [before] = [worker.id for worker in await store.list_workers()]
        store.lost = True
        await until(lambda: len(gate.stopped) == 3)
        await eventually(lambda: _has_other_worker(store, before))
        assert sorted(gate.stopped) == sorted(runs)
        for run_id in runs:
            assert "run.finished" not in await log(store, run_id)


async def _has_other_worker(store: Store, before: str) -> bool:
    return any(worker.id != before for worker in await store.list_workers())


async def test_a_drain_puts_back_what_does_not_end_in_time_and_does_not_blame_it() -> None:
    store, gate = NotingStore(), Gate()
    runs = [await post(store, a_post()) for _ in range(3)]
    process = process_of(store, gate.agent())
    await process.start()
    await until(lambda: len(gate.inside) == 3)
    await process.drain(0)
    for run_id in runs:
        run = await store.get_run(ANN, run_id)
        assert (run.status, run.attempts, run.resume_why, run.worker_id) == (Status.QUEUED, 0, "drain", None)
    assert await store.list_workers() == []
    late = await post(store, a_post())
    await process.stop()
    assert await status_of(store, late) is Status.QUEUED


async def test_a_drain_lets_runs_end_that_do_so_in_time() -> None:
    store, gate = NotingStore(), Gate()
    run_id = await post(store, a_post())
    process = process_of(store, gate.agent())
    await process.start()
    await until(lambda: len(gate.inside) == 1)
    draining = asyncio.create_task(process.drain(20))
    await asyncio.sleep(0)
    gate.open.set()
    await draining
    await process.stop()
    assert await status_of(store, run_id) is Status.DONE


async def test_a_quiet_run_hears_of_a_cancel_on_another_pod() -> None:
    store, gate = NotingStore(), Gate()
    run_id = await post(store, a_post())
    async with started(store, gate):
        await until(lambda: len(gate.inside) == 1)
        await store.cancel(ANN, run_id, 60_000, ending)
        await until(lambda: gate.stopped == [run_id])
        await reaches(store, run_id, Status.CANCELED)


@pytest.mark.req("S0.33")
async def test_a_worker_goes_on_with_what_a_drained_one_left() -> None:
    store, gate = NotingStore(), Gate()
    run_id = await post(store, a_post())
    first = process_of(store, gate.agent())
    await first.start()
    await until(lambda: len(gate.inside) == 1)
    await first.stop()
    gate.open.set()
    async with started(store, gate):
        await reaches(store, run_id, Status.DONE)
    assert await log(store, run_id) == ["run.queued", "run.resumed", "run.output", "run.finished"]


async def test_the_memory_of_an_ended_run_is_free_without_the_garbage_collector() -> None:
    @agent(name="default")
    async def default(ctx: Context) -> str:
        return "done"

    store = NotingStore()
    process = process_of(store, default)
    await process.start()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            await reaches(store, await post(store), Status.DONE)
        await process.stop()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {type(thing).__name__ for thing in gc.garbage if type(thing).__module__.startswith("runyard.")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left & {"RunTask", "RunHandle", "RunWriter", "Context", "State"}
