"""Measures a worker of Runyard against Celery over Redis, on Postgres: `python -m bench.executors`.

Throughput: so many short runs are queued before any worker starts, and the time counts from the first start of a run to
the last end. Latency: one run after another on an idle system, from when the run was created to its start. Both come
from the times in the database. The table goes to standard output; `docs/scaling.md` has one.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg

from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.app.process import Process
from runyard.domain.api_key import LOCAL
from runyard.settings import Settings
from runyard.telemetry.logs import configure
from tests.support.postgres_server import PrivatePostgres
from tests.support.redis_server import PrivateRedis

RUNS = 100
SINGLE_RUNS = 15
AGENT = """
import runyard
short = runyard.scripted("short", [{"tokens": ["word "] * 20}])
"""
CELERY = [sys.executable, "-m", "celery", "-A", "runyard.executors.celery", "worker", "--without-mingle"]


WORKER = [sys.executable, "-c", "from runyard.cli import main; main()", "worker"]


class Engine(NamedTuple):
    name: str
    command: Sequence[str]
    processes: int = 1


ENGINES = [
    Engine("`runyard worker`, 1 process", WORKER),
    Engine("`runyard worker`, 2 processes", WORKER, 2),
    Engine("Celery, prefork, 1 process", [*CELERY, "-P", "prefork", "-c", "1"]),
    Engine("Celery, prefork, 2 processes", [*CELERY, "-P", "prefork", "-c", "2"]),
    Engine("Celery, threads, 16 in 1 process", [*CELERY, "-P", "threads", "-c", "16"]),
    Engine("Celery, threads, 16 in each of 2 processes", [*CELERY, "-P", "threads", "-c", "16"], 2),
]


@contextmanager
def _running(engine: Engine, environment: dict[str, str], folder: Path) -> Iterator[None]:
    with (folder / "engines.log").open("ab") as log:
        started = [
            subprocess.Popen(
                [*engine.command, *(["-n", f"{place}@bench"] if "celery" in engine.command else [])],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=log,
            )
            for place in range(engine.processes)
        ]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


async def _measure(engine: Engine, dsn: str, broker: str, folder: Path) -> str:
    settings = Settings(database_url=dsn, executor=broker, drain_seconds=1)
    app = App({"short": scripted("short", [{"tokens": ["word "] * 20}])}, default="short")
    environment = os.environ | {
        "RUNYARD_DATABASE_URL": dsn,
        "RUNYARD_EXECUTOR": broker,
        "RUNYARD_APP": str(folder / "agents.py"),
        "RUNYARD_LOG_LEVEL": "warning",
        "RUNYARD_DRAIN_SECONDS": "1",
    }
    server = Process(settings, app, worker=False)
    await server.start()
    database = await asyncpg.connect(dsn)
    try:
        for _ in range(RUNS):
            await server.engine.intake.start(LOCAL, "threads", "short")
        with _running(engine, environment, folder):
            await _ended(database, RUNS)
            [row] = await database.fetch("select max(finished_at) - min(started_at) as ms from runs")
            delays = []
            for count in range(1, SINGLE_RUNS + 1):
                await server.engine.intake.start(LOCAL, "threads", "short")
                await _ended(database, RUNS + count)
            rows = await database.fetch("select started_at - created_at as ms from runs order by created_at, id")
            delays = [int(found["ms"]) for found in rows[-SINGLE_RUNS:]]
    finally:
        await database.close()
        await server.stop()
    rate = RUNS / (row["ms"] / 1000)
    return f"| {engine.name} | {rate:.0f} | {statistics.median(delays):.0f} | {max(delays)} |"


async def _ended(database: "asyncpg.Connection[asyncpg.Record]", count: int) -> None:
    deadline = time.monotonic() + 120
    while await database.fetchval("select count(*) from runs where status = 'done'") < count:
        if time.monotonic() > deadline:
            raise TimeoutError("the runs did not end")
        await asyncio.sleep(0.02)


def main() -> None:
    configure("console", "error")
    print("| engine | runs/s | start after, median ms | longest ms |\n|---|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as name, PrivatePostgres() as postgres, PrivateRedis() as redis:
        folder = Path(name)
        (folder / "agents.py").write_text(AGENT)
        for place, engine in enumerate(ENGINES):
            dsn = postgres.create_database(f"bench_{place}")
            broker = redis.url.replace("redis://", "celery://").replace("/0", f"/{place}")
            print(asyncio.run(_measure(engine, dsn, broker, folder)), flush=True)
    one, *_ = os.getloadavg()
    print(f"\n{os.cpu_count()} cores, load {one:.0f} at the end.")


if __name__ == "__main__":
    main()
