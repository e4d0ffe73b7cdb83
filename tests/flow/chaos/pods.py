"""The processes of a chaos run. Each has a place and is started again whenever it ends, as an orchestrator does it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.flow.chaos.report import Report
from tests.support.faults.jumping_clock import JUMPS
from tests.support.faults.proxy import Proxy
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Kind, Pod, PodDied

# What a shutdown may take: drain, stop, last writes and last duties each have a limit, 33 s in all. Twice that for a
# slow machine.
GRACE_SECONDS = 66.0
PAUSE_SECONDS = 0.3  # before a process is started again
SETTINGS: dict[str, Any] = {
    "lease_seconds": 4,  # longer than a restart of Postgres: runs at work wait for it
    "drain_seconds": 1,
    "stop_seconds": 1,
    "max_attempts": 100_000,  # a run is never given up for the crashes of its workers
    "retention_days": 30,  # a clock that is ahead must not drop anything
    "approval_seconds": 3600,
    "database_answer_seconds": 3,
}


class Place:
    """One process at a time, with a separate proxy before the database."""

    def __init__(self, flow: Flow, kind: Kind, report: Report, proxy: Proxy | None, settings: dict[str, Any]) -> None:
        self._flow = flow
        self._report = report
        self._settings = SETTINGS | settings | ({} if proxy is None else {"database_url": proxy.url})
        self.kind = kind
        self.proxy = proxy
        self.pod: Pod | None = None
        self.busy = asyncio.Lock()  # held by a fault that hits this process
        self._may_end = False
        self._is_closing = False

    async def keep(self) -> None:
        """Start the process, and start it again when it has ended, until `close`."""
        while not self._is_closing:
            self._may_end = False
            try:
                pod = await self.start_one(unsafe=self._report.without)
            except PodDied:
                self._report.failed_starts += 1
            else:
                self.pod = pod
                code = await pod.end(24 * 3600)
                self.pod = None
                if not self._may_end:
                    self._report.violations.append(f"{pod.name} ended by itself with code {code}: {pod.last_words(3)}")
            await asyncio.sleep(PAUSE_SECONDS)

    async def start_one(self, unsafe: str, **variables: str) -> Pod:
        """Start one process with the settings of this place."""
        variables = {JUMPS: "60"} | variables
        pod = await self._flow.start(self.kind, unsafe=unsafe, variables=variables, **self._settings)
        self._report.starts += 1
        return pod

    @asynccontextmanager
    async def hit(self) -> AsyncIterator[Pod | None]:
        """Have the process to oneself; None if there is none now, or if another fault has it."""
        if self.pod is None or self.busy.locked():
            yield None
            return
        async with self.busy:
            yield self.pod

    async def kill(self, pod: Pod) -> None:
        self._may_end = True
        with suppress(AssertionError, ProcessLookupError):
            await pod.kill()

    async def terminate(self, pod: Pod) -> None:
        """SIGTERM, and wait for the end. A process that does not end in time is a violation."""
        self._may_end = True
        began = time.monotonic()
        with suppress(AssertionError, ProcessLookupError):
            pod.terminate()
        try:
            await pod.end(GRACE_SECONDS)
        except TimeoutError:
            self._report.violations.append(
                f"{pod.name} did not end within {GRACE_SECONDS:.0f} s after SIGTERM: {pod.last_words(3)}"
            )
            await self.kill(pod)
        self._report.shutdowns.append(time.monotonic() - began)

    async def close(self) -> None:
        """End for good."""
        self._is_closing = True
        async with self.busy:
            if self.pod is not None:
                await self.terminate(self.pod)
