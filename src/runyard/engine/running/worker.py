"""The process's worker: slots, the claim loop, the lease, and a drain that loses nothing.

Authority: the store's lease says whether this worker lives. It is renewed from the event loop itself, so a blocked
loop cannot pretend to be alive; a worker that could not renew in time stops all its runs before the lease runs out,
and comes back under a new id. Wake-ups (`wake`, `look_for_cancels`) may be lost: the loops also look by themselves.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import structlog

from runyard.domain.run import SUSPECT_ATTEMPTS, Run
from runyard.engine.background import on_duty
from runyard.engine.running.lease import LEASE_MARGIN, Lease
from runyard.engine.running.run_services import RunServices
from runyard.engine.running.run_task import RunTask, Stop
from runyard.errors import RunyardError
from runyard.ids import new_id
from runyard.store import Claim, Room, Store
from runyard.telemetry.metrics import Metrics

log = structlog.get_logger()

MOST_PER_CLAIM = 50
RELEASE_SECONDS = 5.0  # for the last writes of a drain; what is not written by then, the reaper does


class Worker:
    def __init__(
        self,
        store: Store,
        executor: RunServices,
        *,
        label: str,
        slots: int,
        lease_seconds: float,
        poll_seconds: float,
        wake_other_processes: Callable[[], None],
        seen: Callable[[], None] = lambda: None,
        metrics: Metrics | None = None,
    ) -> None:
        """`seen` is called when an agent begins or ends what it was told in a conversation: others watch it."""
        self._store = store
        self._executor = executor
        self._label = label
        self._slots = slots
        self._lease = lease_seconds
        self._poll = poll_seconds
        self._wake_other_processes = wake_other_processes
        self._seen = seen
        self._metrics = metrics or Metrics()
        self._id = ""
        self._running: dict[str, RunTask] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._bell = asyncio.Event()
        self._cancel_bell = asyncio.Event()
        self._draining = False
        self._kept = 0
        self._unknown: set[str] = set()

    @property
    def active(self) -> int:
        return len(self._running)

    async def start(self) -> None:
        await self._register()
        self._loops = [
            on_duty("claims", self._claim_loop),
            on_duty("lease", self._lease_loop),
            on_duty("cancels", self._cancel_loop),
        ]

    @contextmanager
    def room(self, wanted: int) -> Iterator[Room | None]:
        """Keep up to `wanted` places free for runs that are claimed as they are accepted; `take` follows."""
        places = 0 if self._draining else max(0, min(wanted, self._slots - self.active - self._kept))
        self._kept += places
        try:
            yield Room(self._id, places, self._executor.versions) if places else None
        finally:
            self._kept -= places

    def take(self, claim: Claim) -> None:
        """Run what was claimed for this worker."""
        running = self._running[claim.run.id] = RunTask(self._executor, claim, self._held)
        self._spawn(self._go(running))
        if claim.run.in_mailbox:
            self._seen()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wake(self) -> None:
        """There may be something to claim."""
        self._bell.set()

    def look_for_cancels(self, run_id: str) -> None:
        """Somebody says that this run is to stop; if it is here, the store is asked whether that is so."""
        if run_id in self._running:
            self._cancel_bell.set()

    def stop(self, run_id: str, why: Stop) -> bool:
        """Interrupt a run if it is here."""
        running = self._running.get(run_id)
        if running is not None:
            running.stop(why)
        return running is not None

    def owner_of(self, run_id: str) -> str | None:
        """Whose run it is, if it is running here."""
        running = self._running.get(run_id)
        return None if running is None else running.run.owner

    async def drain(self, grace: float) -> None:
        """Claim no more; give what runs `grace` seconds to end; put the rest back into the queue without blame."""
        self._draining = True
        self.wake()
        if self._tasks:
            log.info("worker.drain_started", runs=self.active, grace=grace)
            await asyncio.wait(self._tasks, timeout=grace)
        for running in list(self._running.values()):
            running.stop("drain")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._executor.stop_seconds + RELEASE_SECONDS)
        for running in list(self._running.values()):
            running.stop("lost")
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._store.retire(self._id)
        except (RunyardError, TimeoutError):
            log.warning("worker.deregister_failed")

    async def _register(self) -> None:
        """A fresh id per life: nothing that an earlier one still has under way can be mistaken for ours."""
        worker_id = new_id()
        held = Lease(self._store, worker_id, self._lease)
        await self._store.register(worker_id, self._label, int(self._lease * 1000))
        self._id, self._held = worker_id, held
        self._renewed = asyncio.get_running_loop().time()
        log.info("worker.registered", worker_id=worker_id)

    # --- claims

    async def _claim_loop(self) -> None:
        loop, looked = asyncio.get_running_loop(), 0.0
        while True:
            self._bell.clear()
            free = 0 if self._draining else min(self._slots - self.active - self._kept, MOST_PER_CLAIM)
            if free > 0:
                suspects = loop.time() - looked >= self._poll
                if suspects:
                    looked = loop.time()
                if await self._claim(free, suspects) == free:
                    continue
            await _rung(self._bell, self._poll)

    async def _claim(self, free: int, suspects: bool) -> int:
        suspects = suspects and not any(r.run.attempts > SUSPECT_ATTEMPTS for r in self._running.values())
        began = time.time()
        try:
            claims = await self._store.claim(self._id, free, suspects, self._executor.versions)
        except RunyardError as error:
            log.warning("worker.claim_failed", code=error.code)
            return 0
        self._executor.dequeued(claims, began)
        for claim in claims:
            self.take(claim)
        return len(claims)

    async def _go(self, running: RunTask) -> None:
        try:
            await running.go()
        finally:
            was_full = self.active >= self._slots
            if running.run.in_mailbox:
                self._seen()
            if self._running.get(running.run.id) is running:
                del self._running[running.run.id]
            if self._draining and running.leaves_work:
                self._wake_other_processes()
            elif was_full or running.leaves_work:
                self.wake()

    # --- lease and cancels

    async def _lease_loop(self) -> None:
        """Renew the lease. A heartbeat without an answer is given up early enough for another over a new connection."""
        loop = asyncio.get_running_loop()
        pause = self._lease / 4
        while True:
            await asyncio.sleep(pause)
            pause = self._lease / 4
            sent = loop.time()
            left = self._renewed + self._lease * LEASE_MARGIN - sent
            alive = False
            try:
                async with asyncio.timeout(max(0.05, min(left, self._lease / 4))):
                    beat = await self._held.renew()
                alive = beat.alive
                self._look_over(beat.holds)
            except (RunyardError, TimeoutError):
                log.warning("worker.heartbeat_failed")
                if loop.time() - self._renewed < self._lease * LEASE_MARGIN:
                    pause = self._lease / 20
                    continue
            if alive:
                self._renewed = sent
            else:
                await self._lose_everything()

    def _look_over(self, holds: Sequence[Run]) -> None:
        """Compare what the store says we hold with what we know of.

        A claim whose answer got lost is ours without our knowing, and nobody else would ever take it. What is unknown
        at two beats in a row (so it is not just being claimed) goes back into the queue."""
        self._cancel([run.id for run in holds if run.cancel_requested_at is not None])
        unknown = {run.id: run for run in holds if run.id not in self._running}
        found = unknown.keys() & self._unknown
        for run_id in found:
            log.warning("worker.orphan_claim_released", run_id=run_id)
            self._spawn(self._executor.give_back(unknown[run_id]))
        self._unknown = unknown.keys() - found

    async def _lose_everything(self) -> None:
        log.error("worker.lease_lost", runs=self.active)
        self._metrics.lease_lost()
        for running in list(self._running.values()):
            running.stop("lost")
        while True:
            try:
                await self._register()
            except RunyardError:
                await asyncio.sleep(self._lease / 4)
            else:
                return

    async def _cancel_loop(self) -> None:
        """Cancels from other pods, for runs that are too quiet to notice by their own writes."""
        while True:
            await _rung(self._cancel_bell, self._poll)
            self._cancel_bell.clear()
            if self._running:
                try:
                    self._cancel(await self._store.runs_to_cancel(self._id))
                except RunyardError:
                    log.warning("worker.cancel_poll_failed")

    def _cancel(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            self.stop(run_id, "cancel")


async def _rung(bell: asyncio.Event, patience: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            await bell.wait()
