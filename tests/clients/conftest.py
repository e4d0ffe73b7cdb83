"""Third-party clients, unmodified and pinned, against real server processes.

A client's program runs as a separate process, with the packages of `.venv-clients` (`requirements/clients.txt`, and
`node/package.json` for Node), because they need versions of libraries that Runyard's own do not allow. `make test` sets
that environment up; `make clients-for-tests` does only that.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.flow.conftest import (
    any_flow,
    empty_file,
    flow,
    nursery,
    postgres_database,
    pytest_runtest_makereport,
    sqlite_flow,
    template,
)
from tests.support.eventually import PATIENCE
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

__all__ = [
    "any_flow",
    "empty_file",
    "flow",
    "nursery",
    "postgres_database",
    "pytest_runtest_makereport",
    "sqlite_flow",
    "template",
]

HERE = Path(__file__).parent
APP = HERE / "client_app.py"
ENVIRONMENT = HERE.parents[1] / ".venv-clients"
RETRY_MS = 20
MISSING = "The third-party clients are not installed. Run `make clients-for-tests`."


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("flow")


class Program:
    """A running program of a client. It prints JSON objects, one per line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> dict[str, Any]:
        """Return the next object that the program prints."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            said = await self._process.stdout.readline()
        if not said:
            await self._fail()
        found: dict[str, Any] = json.loads(said)
        return found

    def tell(self, line: str) -> None:
        """Write a line to the program's input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def result(self, given: bytes | None = None) -> dict[str, Any]:
        """Return the last object that the program prints. Fails if the program does. `given` is its input."""
        async with asyncio.timeout(PATIENCE):
            said, errors = await self._process.communicate(given)
        assert self._process.returncode == 0, errors.decode()[-4000:]
        found: dict[str, Any] = json.loads(said.splitlines()[-1])
        return found

    async def _fail(self) -> None:
        _, errors = await self._process.communicate()
        pytest.fail(errors.decode()[-4000:])


@asynccontextmanager
async def running(program: str, case: str, url: str, **variables: str) -> AsyncIterator[Program]:
    """Start a program of `programs/`: a Python one, or one for Node."""
    script = HERE / "programs" / program
    assert (ENVIRONMENT / ".installed").exists(), MISSING
    command = "node" if script.suffix == ".mjs" else str(ENVIRONMENT / "bin" / "python")
    process = await asyncio.create_subprocess_exec(
        command,
        str(script),
        case,
        env={"PATH": os.environ["PATH"], "BASE_URL": url, "CLIENTS": str(ENVIRONMENT / "node"), **variables},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def ran(program: str, case: str, url: str, **variables: str) -> dict[str, Any]:
    """Run a program to its end and return its result."""
    async with running(program, case, url, **variables) as found:
        return await found.result()


async def make_key(flow: Flow, *scopes: str) -> str:
    """Return a new key of Ann's."""
    flags = [flag for scope in scopes for flag in ("--scope", scope)]
    made = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("runyard")), "keys", "create", "--owner", "ann", *flags),
        env={**os.environ, "RUNYARD_DATABASE_URL": flow.database.url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, errors = await made.communicate()
    assert made.returncode == 0, errors.decode()
    return said.decode().strip()


async def resumed_through_kills(
    flow: Flow,
    program: str,
    events: int | Iterator[int],
    case: str = "resume",
    retry_ms: int | None = None,
    **variables: str,
) -> tuple[dict[str, Any], CuttingProxy]:
    """Run a case of a program. Each connection goes to another server and breaks after so many events; an iterator has
    the number for each. The worker dies in the middle of the answer, and so does a server; others take their places."""
    at: dict[str, Any] = {"events": events} if isinstance(events, int) else {"numbers": events}
    first, _ = [await flow.start("api", app=APP) for _ in range(2)]
    worker = await flow.start("worker", "after.model.token:12", app=APP)
    async with (
        CuttingProxy(lambda: [pod.url for pod in flow.apis], **at, retry_ms=retry_ms) as proxy,
        running(program, case, proxy.url, **variables) as client,
    ):
        await worker.end()
        await first.kill()
        await flow.start("api", app=APP)
        await flow.start("worker", app=APP)
        return await client.result(), proxy


async def resumed_after_a_restart(
    flow: Flow, program: str, numbers: Iterator[int], case: str = "resume", **variables: str
) -> dict[str, Any]:
    """Run a case of a program while the only server, which executes the run, dies in the middle of the answer. Until
    the next one listens, nothing does."""
    pod = await flow.start("serve", "after.model.token:12", app=APP)
    async with (
        CuttingProxy(lambda: [pod.url for pod in flow.apis], numbers=numbers) as proxy,
        running(program, case, proxy.url, **variables) as client,
    ):
        await pod.end()
        await flow.start("serve", app=APP)
        return await client.result()


@pytest.fixture
async def url(sqlite_flow: Flow) -> str:
    """The address of a server on SQLite that needs no key."""
    return (await sqlite_flow.start("serve", app=APP)).url
