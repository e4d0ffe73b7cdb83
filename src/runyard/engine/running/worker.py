"""The worker of a process: slots, the claim loop, the lease, and a drain that loses nothing.

Authority: the lease in the store says whether this worker is alive, and the claim in the store which runs it holds.
Races: the answer to a claim may be lost, so heartbeats compare the store's claims with the known ones. Wake-ups
(`wake`, `check_cancels`) may be lost, so the loops also poll. A run may be reaped while it executes; then the fence
refuses its writes.
Guarantees: the lease is renewed from the event loop itself, so a blocked loop does not look alive. A worker that could
not renew in time stops all its runs before the lease expires, and registers again under a new id. A drain puts every
run that does not end in time back into the queue.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from runyard.base.ids import new_id
from runyard.domain.runs.run import SUSPECT_ATTEMPTS, Run
from runyard.engine.background import run_forever
from runyard.engine.running.lease import LEASE_MARGIN, Lease
from runyard.engine.running.run_services import RunServices
from runyard.engine.running.run_task import RunTask, Stop
from runyard.errors import RunyardError, Unavailable
from runyard.store import AgentFilter, Claim, Room, Store
from runyard.telemetry.logger import get_logger
from runyard.telemetry.metrics import Metrics

log = get_logger()

MOST_PER_CLAIM = 50
RELEASE_SECONDS = 5.0  # for the last writes of a drain; the reaper releases the other runs


class Worker:
    def __init__(
        self,
        store: Store,
        services: RunServices,
        *,
        label: str,
        slots: int,
        lease_seconds: float,
        poll_seconds: float,
        wake_other_processes: Callable[[], None],
        on_mailbox_run: Callable[[], None] = lambda: None,
        agents: AgentFilter | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        """`on_mailbox_run` is called when a run in a mailbox begins or ends. `agents`: the agents whose runs it claims.
        Without slots, the worker claims only if `work_one` is called."""
        self._store = store
        self._services = self.services = services
        self._label = label
        self._slots = slots
        self._lease_seconds = lease_seconds
        self._poll = poll_seconds
        self._wake_other_processes = wake_other_processes
        self._on_mailbox_run = on_mailbox_run
        self._agents = agents
        self._metrics = metrics or Metrics()
        self._id = ""
        self._running: dict[str, RunTask] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._wakeup = asyncio.Event()
        self._cancel_wakeup = asyncio.Event()
        self._registering = asyncio.Lock()
        self._draining = False
        self._reserved = 0
        self._unknown: set[str] = set()

    @property
    def active(self) -> int:
        """The number of runs that this worker executes."""
        return len(self._running)

    async def start(self) -> None:
        await self._register()
        self._loops = [
            run_forever("claims", self._claim_loop),
            run_forever("lease", self._lease_loop),
            run_forever("cancels", self._cancel_loop),
        ]

    @contextmanager
    def reserve_slots(self, wanted: int) -> Iterator[Room | None]:
        """Reserve up to `wanted` slots while new runs are stored, so that the same commit can claim them for this
        worker. `start_run` follows for each."""
        slots = 0 if self._draining else max(0, min(wanted, self._slots - self.active - self._reserved))
        self._reserved += slots
        try:
            yield Room(self._id, slots, self._services.versions, self._agents) if slots else None
        finally:
            self._reserved -= slots

    def start_run(self, claim: Claim) -> None:
        """Execute a run that was claimed for this worker."""
        self._start(claim)

    def _start(self, claim: Claim) -> "tuple[RunTask, asyncio.Task[None]]":
        running = self._running[claim.run.id] = RunTask(self._services, claim, self._lease)
        task = self._spawn(self._execute(running))
        if claim.run.in_mailbox:
            self._on_mailbox_run()
        return running, task

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def work_one(self, max_seconds: float | None, agents: AgentFilter | None) -> RunTask | None:
        """Claim one run and execute it to the end of the claim. After `max_seconds` it goes back into the queue.

        Return None if no run is ready. Raise Unavailable if the database does not answer."""
        if self._draining:
            return None
        await self._ensure_lease()
        claims = await self._store.claim(self._id, 1, self._may_take_suspects, self._services.versions, agents)
        if not claims:
            return None
        running, task = self._start(claims[0])
        await asyncio.wait({task}, timeout=max_seconds)
        if not task.done():
            running.stop("drain")
        await task
        return running

    async def _ensure_lease(self) -> None:
        """Register again if the lease has expired, as after a suspension of the process. Raises Unavailable."""
        if self._lease.is_valid:
            return
        try:
            async with asyncio.timeout(self._lease_seconds):
                await self._lose_lease(self._lease)
        except TimeoutError:
            raise Unavailable from None

    @property
    def _may_take_suspects(self) -> bool:
        return not any(running.run.attempts > SUSPECT_ATTEMPTS for running in self._running.values())

    def wake(self) -> None:
        """Try to claim now, because a run may be ready."""
        self._wakeup.set()

    def check_cancels(self, run_id: str) -> None:
        """Ask the store for cancel requests now, if this worker executes the run."""
        if run_id in self._running:
            self._cancel_wakeup.set()

    def stop(self, run_id: str, why: Stop) -> bool:
        """Interrupt a run. Return False if this worker does not execute it."""
        running = self._running.get(run_id)
        if running is not None:
            running.stop(why)
        return running is not None

    def expect_message(self, run_id: str) -> None:
        """Note that a message came for a run, if this worker executes it."""
        if (running := self._running.get(run_id)) is not None:
            running.expect_message()

    def owner_of(self, run_id: str) -> str | None:
        """Return the owner of a run that this worker executes, or None."""
        running = self._running.get(run_id)
        return None if running is None else running.run.owner

    async def drain(self, grace: float) -> None:
        """Claim no more runs, wait `grace` seconds for the current ones, and put the rest back into the queue. Their
        attempt is not counted."""
        self._draining = True
        self.wake()
        if self._tasks:
            log.info("worker.drain_started", runs=self.active, grace=grace)
            await asyncio.wait(self._tasks, timeout=grace)
        for running in list(self._running.values()):
            running.stop("drain")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._services.stop_seconds + RELEASE_SECONDS)
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
        """Register under a new id, so that late writes of an earlier registration are recognised."""
        worker_id = new_id()
        lease = Lease(self._store, worker_id, self._lease_seconds)
        await self._store.register(worker_id, self._label, int(self._lease_seconds * 1000))
        self._id, self._lease = worker_id, lease
        self._renewed = asyncio.get_running_loop().time()
        log.info("worker.registered", worker_id=worker_id)

    # --- claims

    async def _claim_loop(self) -> None:
        loop, suspects_at = asyncio.get_running_loop(), 0.0
        while True:
            self._wakeup.clear()
            free = 0 if self._draining else min(self._slots - self.active - self._reserved, MOST_PER_CLAIM)
            if free > 0:
                suspects = loop.time() - suspects_at >= self._poll
                if suspects:
                    suspects_at = loop.time()
                if await self._claim(free, suspects) == free:
                    continue
            await _wait_for(self._wakeup, self._poll)

    async def _claim(self, free: int, suspects: bool) -> int:
        suspects = suspects and self._may_take_suspects
        began = time.time()
        try:
            claims = await self._store.claim(self._id, free, suspects, self._services.versions, self._agents)
        except RunyardError as error:
            log.warning("worker.claim_failed", code=error.code)
            return 0
        self._services.trace_dequeue(claims, began)
        for claim in claims:
            self.start_run(claim)
        return len(claims)

    async def _execute(self, running: RunTask) -> None:
        try:
            await running.execute()
        finally:
            was_full = self.active >= self._slots
            if running.run.in_mailbox:
                self._on_mailbox_run()
            if self._running.get(running.run.id) is running:
                del self._running[running.run.id]
            if (self._draining or not self._slots) and running.lane_is_ready:
                self._wake_other_processes()
            elif was_full or running.lane_is_ready:
                self.wake()

    # --- lease and cancels

    async def _lease_loop(self) -> None:
        """Renew the lease. A heartbeat times out early enough for another attempt over a new connection."""
        loop = asyncio.get_running_loop()
        pause = self._lease_seconds / 4
        while True:
            await asyncio.sleep(pause)
            pause = self._lease_seconds / 4
            sent, lease = loop.time(), self._lease
            left = self._renewed + self._lease_seconds * LEASE_MARGIN - sent
            alive = False
            try:
                async with asyncio.timeout(max(0.05, min(left, self._lease_seconds / 4))):
                    beat = await lease.renew()
                alive = beat.alive
                self._compare_claims(beat.holds)
            except (RunyardError, TimeoutError):
                log.warning("worker.heartbeat_failed")
                if loop.time() - self._renewed < self._lease_seconds * LEASE_MARGIN:
                    pause = self._lease_seconds / 20
                    continue
            if alive:
                self._renewed = sent
            else:
                await self._lose_lease(lease)

    def _compare_claims(self, holds: Sequence[Run]) -> None:
        """Compare the claims in the store with the runs that this worker executes.

        A claim whose answer was lost belongs to this worker, so no other worker takes it. A run that is unknown at two
        heartbeats in a row, and so is not just being claimed, is put back into the queue."""
        self._cancel([run.id for run in holds if run.cancel_requested_at is not None])
        unknown = {run.id: run for run in holds if run.id not in self._running}
        found = unknown.keys() & self._unknown
        for run_id in found:
            log.warning("worker.orphan_claim_released", run_id=run_id)
            self._spawn(self._services.release(unknown[run_id]))
        self._unknown = unknown.keys() - found

    async def _lose_lease(self, lost: Lease) -> None:
        """Stop all runs and register again, unless that has been done for this lease."""
        async with self._registering:
            if self._lease is not lost:
                return
            log.error("worker.lease_lost", runs=self.active)
            self._metrics.lease_lost()
            for running in list(self._running.values()):
                running.stop("lost")
            while True:
                try:
                    await self._register()
                except RunyardError:
                    await asyncio.sleep(self._lease_seconds / 4)
                else:
                    return

    async def _cancel_loop(self) -> None:
        """Poll for cancel requests from other processes. A run that writes nothing does not learn of them otherwise."""
        while True:
            await _wait_for(self._cancel_wakeup, self._poll)
            self._cancel_wakeup.clear()
            if self._running:
                try:
                    self._cancel(await self._store.runs_to_cancel(self._id))
                except RunyardError:
                    log.warning("worker.cancel_poll_failed")

    def _cancel(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            self.stop(run_id, "cancel")


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
