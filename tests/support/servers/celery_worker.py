"""Workers of Celery for the flow tests, on a private Redis. The app `RECORDING` also records its tasks."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

PRODUCT = "runyard.executors.celery"
RECORDING = "tests.support.apps.celery_app"
ONE_CHILD = ("-P", "prefork", "-c", "1")
THREADS = ("-P", "threads", "-c", "4")


class CeleryWorkers:
    """The workers of one scenario. Requests go to `flow`, whose servers ring the same broker."""

    def __init__(self, flow: Flow, broker: str) -> None:
        self._flow = flow
        self._numbers = itertools.count(1)  # two workers of one name lock each other out of RabbitMQ
        self.executor = broker.replace("redis://", "celery://") if broker.startswith("redis") else f"celery+{broker}"

    async def serve(self, **settings: Any) -> None:
        """Start a server without a worker that rings Celery."""
        await self._flow.start("api", executor=self.executor, executor_poll_seconds=0.2, **settings)

    async def start(
        self, *options: str, module: str = PRODUCT, variables: Mapping[str, str] = {}, **settings: Any
    ) -> Pod:
        """A worker that takes tasks. `options`: those of `celery worker`."""
        name = f"worker-{next(self._numbers)}@test"
        words = " ".join([*(options or ONE_CHILD), "-n", name, "--without-mingle", "--without-gossip"])
        variables = {"CELERY_APP": module, "CELERY_OPTIONS": words, **variables}
        return await self._flow.start("celery", variables=variables, executor=self.executor, **settings)

    async def close(self) -> None:
        """kill -9 of all workers and their children."""
        for pod in self._flow.pods:
            if pod.kind == "celery":
                await kill(pod)


async def kill(worker: Pod) -> None:
    """kill -9 of a worker and its children, which are a process group."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    await worker.end()
