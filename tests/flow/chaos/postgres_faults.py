"""Faults of a chaos run on Postgres: the network between each process and the server, the server, the bus, clocks."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

from tests.flow.chaos.faults import Inject, ProcessFaults, lasting
from tests.flow.chaos.pods import Place
from tests.flow.chaos.report import Report
from tests.flow.chaos.schedule import Fault
from tests.support.eventually import eventually
from tests.support.faults.jumping_clock import CLOCK_DAYS
from tests.support.faults.proxy import Proxy
from tests.support.scenario.pods import PodDied
from tests.support.servers.postgres_server import PrivatePostgres, StopMode
from tests.support.servers.redis_server import PrivateRedis

CLAIM_SECONDS = 15.0  # how long a claim with something in it is waited for
Change = Callable[[Proxy], None]


class PostgresFaults(ProcessFaults):
    def __init__(
        self, places: Sequence[Place], report: Report, server: PrivatePostgres, bus: PrivateRedis | None
    ) -> None:
        super().__init__(places, report)
        self._server = server
        self._bus = bus
        self._server_busy = asyncio.Lock()
        self._bus_busy = asyncio.Lock()

    def kinds(self) -> dict[str, Inject]:
        return super().kinds() | {
            "drop": lambda fault: self._once(fault, Proxy.cut),
            "half-close": lambda fault: self._once(fault, Proxy.half_close),
            "silence": lambda fault: self._once(fault, Proxy.go_silent),
            "hang": lambda fault: self._during(fault, 6, Proxy.hang, Proxy.go_on),
            "away": lambda fault: self._during(fault, 5, Proxy.leave, Proxy.come_back),
            "delay": self._delay,
            "lost-commit-answers": lambda fault: self._lose(fault, only_commits=True),
            "lost-answers": lambda fault: self._lose(fault, only_commits=False),
            "terminate-in-silence": self._terminate_in_silence,
            "terminate-while-claiming": self._terminate_while_claiming,
            "lost-claim-and-log": self._lost_claim_and_log,
            "postgres-restart": lambda _: self._restart("fast"),
            "postgres-crash": lambda _: self._restart("immediate"),
            "bus-killed": self._kill_bus,
            "bus-frozen": self._freeze_bus,
            "clock-jumps": self._clock_jumps,
            "clock-ahead-at-start": self._start_ahead,
        }

    async def heal(self) -> None:
        for place in self.places:
            _proxy(place).heal()

    # --- the network

    def _hit(self, fault: Fault) -> list[Proxy]:
        return [_proxy(place) for n, place in enumerate(self.places) if fault.everywhere or n == fault.pod]

    async def _once(self, fault: Fault, change: Change) -> bool:
        for proxy in self._hit(fault):
            change(proxy)
        return True

    async def _during(self, fault: Fault, most: float, begin: Change, end: Change) -> bool:
        for proxy in self._hit(fault):
            begin(proxy)
        await asyncio.sleep(lasting(fault, 0.2, most))
        for proxy in self._hit(fault):
            end(proxy)
        return True

    async def _delay(self, fault: Fault) -> bool:
        seconds = lasting(fault, 0.02, 0.5)

        def slow(proxy: Proxy) -> None:
            proxy.delay_seconds = seconds

        return await self._during(fault, 5, slow, _not_slow)

    async def _lose(self, fault: Fault, only_commits: bool) -> bool:
        every = round(lasting(fault, 1, 5)) if only_commits else round(lasting(fault, 4, 20))

        def lose(proxy: Proxy) -> None:
            proxy.lose_every, proxy.only_commits = every, only_commits

        return await self._during(fault, 4, lose, _lose_nothing)

    # --- a process and its network together

    def _with_worker(self, fault: Fault) -> Place:
        places = [place for place in self.places if place.kind != "api"]
        return places[fault.pod % len(places)]

    async def _terminate_in_silence(self, fault: Fault) -> bool:
        """SIGTERM while nothing passes of transactions that have begun; their connections break again and again."""
        place = self._with_worker(fault)
        async with place.hit() as pod:
            if pod is None:
                return False
            proxy = _proxy(place)
            proxy.hang_inside()
            ending = asyncio.create_task(place.terminate(pod))
            while not ending.done():  # also those that the process makes meanwhile
                await asyncio.wait({ending}, timeout=lasting(fault, 0.4, 1.5))
                proxy.cut()
            proxy.go_on()
            return True

    async def _terminate_while_claiming(self, fault: Fault) -> bool:
        """SIGTERM while the COMMIT of a claim takes seconds to reach the server."""
        place = self._with_worker(fault)
        async with place.hit() as pod:
            if pod is None:
                return False
            proxy = _proxy(place)
            before = proxy.claims_delayed
            proxy.claim_delay_seconds = lasting(fault, 5, 9)
            with suppress(TimeoutError):
                await eventually("a claim is on its way", lambda: proxy.claims_delayed > before, CLAIM_SECONDS)
            await place.terminate(pod)
            proxy.claim_delay_seconds = 0
            return True

    async def _lost_claim_and_log(self, fault: Fault) -> bool:
        """The answers to claims are lost; then the log's connections hang while heartbeats pass."""
        place = self._with_worker(fault)
        async with place.hit() as pod:
            if pod is None:
                return False
            proxy = _proxy(place)
            before = proxy.claims_lost
            proxy.lose_every, proxy.only_commits, proxy.lose_channel = 1, True, "claims"
            with suppress(TimeoutError):
                await eventually("a claim is lost", lambda: proxy.claims_lost > before, CLAIM_SECONDS)
            proxy.hang("log")
            _lose_nothing(proxy)
            await asyncio.sleep(lasting(fault, 6, 9))
            proxy.go_on("log")
            return True

    # --- the server and the bus

    async def _restart(self, mode: StopMode) -> bool:
        if self._server_busy.locked():
            return False
        async with self._server_busy:
            await asyncio.to_thread(self._server.restart, mode)
        return True

    async def _kill_bus(self, fault: Fault) -> bool:
        if self._bus is None or self._bus_busy.locked():
            return False
        async with self._bus_busy:
            self._bus.kill()
            await asyncio.sleep(lasting(fault, 0.2, 5))
            await asyncio.to_thread(self._bus.start)
        return True

    async def _freeze_bus(self, fault: Fault) -> bool:
        if self._bus is None or self._bus_busy.locked():
            return False
        async with self._bus_busy:
            self._bus.pause()
            await asyncio.sleep(lasting(fault, 0.2, 5))
            self._bus.resume()
        return True

    # --- clocks

    async def _clock_jumps(self, fault: Fault) -> bool:
        """The clock of a running process jumps ahead by 60 days, and back later."""
        pod = self.places[fault.pod].pod
        if pod is None:
            return False
        for seconds in (lasting(fault, 0.5, 5), 0):
            with suppress(AssertionError, ProcessLookupError):  # it has ended meanwhile
                pod.signal(signal.SIGUSR1)
            await asyncio.sleep(seconds)
        return True

    async def _start_ahead(self, fault: Fault) -> bool:
        """A process whose clock is 60 days ahead is refused at its start."""
        place = self.places[fault.pod % 2]  # of the servers, which make ids
        try:
            pod = await place.start_one(self.report.without, **{CLOCK_DAYS: "60"})
        except PodDied:
            return True
        self.report.violations.append(f"{pod.name} started with a clock that is 60 days ahead")
        await asyncio.sleep(lasting(fault, 1, 4))
        await pod.kill()
        return True


def _proxy(place: Place) -> Proxy:
    assert place.proxy is not None
    return place.proxy


def _not_slow(proxy: Proxy) -> None:
    proxy.delay_seconds = 0


def _lose_nothing(proxy: Proxy) -> None:
    proxy.lose_every, proxy.only_commits, proxy.lose_channel = 0, False, ""
