"""Faults of a chaos run on both databases, and those of processes. Each method of a fault class injects one kind and
returns whether it did: the process may be down already, or have another fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from tests.flow.chaos.pods import Place
from tests.flow.chaos.report import Report
from tests.flow.chaos.schedule import Fault

Inject = Callable[[Fault], Awaitable[bool]]


class ProcessFaults:
    """The faults of one process, on either database."""

    def __init__(self, places: Sequence[Place], report: Report) -> None:
        self.places = places
        self.report = report

    def kinds(self) -> dict[str, Inject]:
        return {"kill": self._kill, "freeze": self._freeze, "terminate": self._terminate}

    async def heal(self) -> None:
        """End faults that last."""

    async def _kill(self, fault: Fault) -> bool:
        place = self.places[fault.pod]
        async with place.hit() as pod:
            if pod is None:
                return False
            await place.kill(pod)
            return True

    async def _freeze(self, fault: Fault) -> bool:
        """SIGSTOP at any moment, also inside a transaction, for up to two leases."""
        async with self.places[fault.pod].hit() as pod:
            if pod is None:
                return False
            with suppress(AssertionError, ProcessLookupError):
                pod.freeze()
                await asyncio.sleep(lasting(fault, 0.3, 8))
                pod.thaw()
            return True

    async def _terminate(self, fault: Fault) -> bool:
        place = self.places[fault.pod]
        async with place.hit() as pod:
            if pod is None:
                return False
            await place.terminate(pod)
            return True


def lasting(fault: Fault, least: float, most: float) -> float:
    return least + (most - least) * fault.strength


async def play(faults: Sequence[Fault], source: ProcessFaults) -> None:
    """Inject the faults at their times, and wait until the last has passed. They overlap."""
    loop = asyncio.get_running_loop()
    began, kinds = loop.time(), source.kinds()
    report = source.report
    tasks: list[asyncio.Task[None]] = []

    async def inject(fault: Fault) -> None:
        done = await kinds[fault.kind](fault)
        (report.faults if done else report.missed)[fault.kind] += 1

    for fault in faults:
        if fault.kind in report.skipped:
            continue
        await asyncio.sleep(max(0.0, began + fault.at - loop.time()))
        tasks.append(asyncio.create_task(inject(fault), name=f"fault {fault.kind}"))
    await asyncio.gather(*tasks)
    await source.heal()
