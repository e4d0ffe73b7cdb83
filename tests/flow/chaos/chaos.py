"""One chaos run: processes, load and faults for some seconds, then the verdict."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random

import httpx2

from runyard.base.clock import SystemClock
from runyard.store import Store
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore
from tests.flow.chaos.faults import ProcessFaults, play
from tests.flow.chaos.load import Load
from tests.flow.chaos.oracle import SETTLE_SECONDS, judge
from tests.flow.chaos.pods import Place
from tests.flow.chaos.postgres_faults import PostgresFaults
from tests.flow.chaos.report import Report
from tests.flow.chaos.schedule import DatabaseKind, schedule
from tests.flow.chaos.sqlite_faults import SqliteFaults, small_disk
from tests.support.eventually import eventually
from tests.support.faults.proxy import Proxy
from tests.support.scenario.databases import PostgresDatabase, SqliteDatabase
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Kind, Nursery
from tests.support.servers.daemon import DaemonMissingError
from tests.support.servers.postgres_server import PrivatePostgres
from tests.support.servers.redis_server import PrivateRedis

REQUEST_SECONDS = 8.0  # a client then asks another server
ON_POSTGRES: tuple[Kind, ...] = ("serve", "api", "worker", "worker")


async def run(database: DatabaseKind, seconds: float, seed: int, folder: Path, without: str = "") -> Report:
    """Return what happened. `without`: a defence of `tests/support/faults/defences.py` that every process lacks."""
    report = Report(database, seed, seconds, without)
    scene = _on_postgres if database == "postgres" else _on_sqlite
    with Nursery(folder / "nursery.log") as nursery:
        async with scene(nursery, folder, report) as (flow, places, faults):
            await _play(flow, places, faults, report)
    return report


async def _play(flow: Flow, places: list[Place], faults: ProcessFaults, report: Report) -> None:
    load = Load(flow, Random(report.seed))
    keepers = [asyncio.create_task(place.keep(), name=f"keeper {place.kind}") for place in places]
    deciding = asyncio.create_task(load.decide(), name="decide")
    try:
        await eventually("every process is there", lambda: all(place.pod is not None for place in places))
        starting = asyncio.create_task(load.start_runs(), name="load")
        await play(schedule(report.database, report.seconds, report.seed, report.without), faults)
        load.stop()
        if not (await asyncio.wait({starting}, timeout=SETTLE_SECONDS))[0]:
            report.violations.append(f"a client had no answer {SETTLE_SECONDS:.0f} s after the last fault")
        await _cancelled(starting)
        report.violations += load.refusals
        await judge(flow, load, report)
    finally:
        await _cancelled(deciding)
        await asyncio.gather(*(place.close() for place in places))
        for keeper in keepers:
            await _cancelled(keeper)


async def _cancelled(task: asyncio.Task[None]) -> None:
    """End a task and raise its exception, if it has one."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error


@asynccontextmanager
async def _on_postgres(
    nursery: Nursery, folder: Path, report: Report
) -> AsyncIterator[tuple[Flow, list[Place], ProcessFaults]]:
    async with AsyncExitStack() as stack:
        server = stack.enter_context(PrivatePostgres())
        dsn = server.create_database(f"chaos_{uuid.uuid4().hex}")
        await _migrate(PostgresStore(dsn, SystemClock()))
        bus: PrivateRedis | None = None
        settings = {}
        try:
            bus = stack.enter_context(PrivateRedis())
            settings["bus_url"] = bus.url
        except DaemonMissingError as missing:
            report.skipped |= {"bus-killed": str(missing), "bus-frozen": str(missing)}
        flow = await stack.enter_async_context(_clients(Flow(nursery, PostgresDatabase(dsn), folder)))
        places = [
            Place(flow, kind, report, await stack.enter_async_context(Proxy(dsn)), settings) for kind in ON_POSTGRES
        ]
        yield flow, places, PostgresFaults(places, report, server, bus)


@asynccontextmanager
async def _on_sqlite(
    nursery: Nursery, folder: Path, report: Report
) -> AsyncIterator[tuple[Flow, list[Place], ProcessFaults]]:
    async with AsyncExitStack() as stack:
        disk = folder / "disk"
        if why_not := stack.enter_context(small_disk(disk)):
            report.skipped["full-disk"] = why_not
        path = disk / "runyard.db"
        await _migrate(SqliteStore(path, SystemClock()))
        flow = await stack.enter_async_context(_clients(Flow(nursery, SqliteDatabase(path), folder)))
        places = [Place(flow, "serve", report, None, {})]
        yield flow, places, SqliteFaults(places, report, disk)


@asynccontextmanager
async def _clients(flow: Flow) -> AsyncIterator[Flow]:
    flow.http.timeout = httpx2.Timeout(REQUEST_SECONDS)
    try:
        yield flow
    finally:
        await flow.close()


async def _migrate(store: Store) -> None:
    await store.open()
    await store.close()
