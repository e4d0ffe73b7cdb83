"""Measures a worker of Runyard against Celery over Redis and RabbitMQ, on Postgres.

Run it with `python -m bench.scaling.executors`.

Throughput: after a warm-up, many short runs are queued at once, and the time is from the first creation to the last
end; the rate is the median of the rounds. Latency: one run after another on an idle system, from its creation to its
start. Both come from the times in the database. The table goes to standard output; `docs/scaling.md` has one.

RabbitMQ is measured if it is installed.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg

from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.app.process import Process
from runyard.domain.api_key import LOCAL
from runyard.settings import Settings
from runyard.telemetry.logs import configure
from tests.support.servers.brokers import RabbitBroker
from tests.support.servers.postgres_server import PrivatePostgres
from tests.support.servers.redis_server import PrivateRedis

RUNS = 500
ROUNDS = 3
SINGLE_RUNS = 15
WARM_UP = 8  # runs for each process, before anything counts
PROCESSES = (1, 2, 4)
AGENT = """
import runyard
short = runyard.scripted("short", [{"tokens": ["word "] * 20}])
"""
CELERY = [sys.executable, "-m", "celery", "-A", "runyard.executors.celery", "worker", "--without-mingle"]
WORKER = [sys.executable, "-c", "from runyard.cli import main; main()", "worker"]


class Engine(NamedTuple):
    name: str
    command: Sequence[str]
    started: int  # processes that are started; a prefork worker has children
    processes: int  # that execute runs
    broker: str


class Measured(NamedTuple):
    rate: float
    median_ms: float
    longest_ms: int


def engines(redis: str, rabbitmq: str | None) -> list[Engine]:
    """Return the engines to measure. Workers of Runyard need no broker."""
    brokers = [("Redis", redis), *([("RabbitMQ", f"celery+{rabbitmq}")] if rabbitmq else [])]
    made = [Engine("`runyard worker`", WORKER, count, count, "") for count in PROCESSES]
    for name, broker in brokers:
        prefork = [[*CELERY, "-P", "prefork", "-c", str(count)] for count in PROCESSES]
        made += [
            Engine(f"Celery, {name}, prefork", command, 1, count, broker)
            for command, count in zip(prefork, PROCESSES, strict=True)
        ]
    made.append(Engine("Celery, Redis, threads (16)", [*CELERY, "-P", "threads", "-c", "16"], 1, 1, redis))
    return made


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
            for place in range(engine.started)
        ]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


async def measure(engine: Engine, dsn: str, folder: Path, runs: int = RUNS, single_runs: int = SINGLE_RUNS) -> Measured:
    settings = Settings(database_url=dsn, executor=engine.broker or None, drain_seconds=1)
    app = App({"short": scripted("short", [{"tokens": ["word "] * 20}])}, default="short")
    environment = os.environ | {
        "RUNYARD_DATABASE_URL": dsn,
        "RUNYARD_APP": str(folder / "agents.py"),
        "RUNYARD_LOG_LEVEL": "warning",
        "RUNYARD_DRAIN_SECONDS": "1",
    }
    if engine.broker:
        environment["RUNYARD_EXECUTOR"] = engine.broker
    server = Process(settings, app, worker=False)
    await server.start()
    database = await asyncpg.connect(dsn)

    async def work(count: int) -> None:
        before = await database.fetchval("select count(*) from runs")
        await asyncio.gather(*(server.engine.intake.start(LOCAL, "threads", "short") for _ in range(count)))
        await _ended(database, before + count)

    try:
        with _running(engine, environment, folder):
            await work(WARM_UP * engine.processes)
            counted = "select created_at, started_at, finished_at from runs order by created_at desc, id desc limit $1"
            rates: list[float] = []
            for _ in range(ROUNDS):
                await work(runs)
                rows = await database.fetch(counted, runs)
                took = max(row["finished_at"] for row in rows) - min(row["created_at"] for row in rows)
                rates.append(runs / (took / 1000))
            for _ in range(single_runs):
                await work(1)
            rows = await database.fetch(counted, single_runs)
            delays = [row["started_at"] - row["created_at"] for row in rows]
    finally:
        await database.close()
        await server.stop()
    return Measured(statistics.median(rates), statistics.median(delays), max(delays))


async def _ended(database: "asyncpg.Connection[asyncpg.Record]", count: int) -> None:
    deadline = time.monotonic() + 120
    while await database.fetchval("select count(*) from runs where status = 'done'") < count:
        if time.monotonic() > deadline:
            raise TimeoutError("the runs did not end")
        await asyncio.sleep(0.02)


def main() -> None:
    configure("console", "error")
    print("| engine | processes | runs/s | start after, median ms | longest ms |\n|---|--:|--:|--:|--:|", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres, redis = stack.enter_context(PrivatePostgres()), stack.enter_context(PrivateRedis())
        rabbitmq = stack.enter_context(RabbitBroker()).url if RabbitBroker.is_installed() else None
        (folder / "agents.py").write_text(AGENT)
        broker = redis.url.replace("redis://", "celery://")
        for place, engine in enumerate(engines(broker, rabbitmq)):
            engine = engine._replace(broker=engine.broker.replace("/0", f"/{place}"))  # no messages of the last one
            found = asyncio.run(measure(engine, postgres.create_database(f"bench_{place}"), folder))
            shown = f"{found.rate:.0f} | {found.median_ms:.0f} | {found.longest_ms}"
            print(f"| {engine.name} | {engine.processes} | {shown} |", flush=True)
    one, *_ = os.getloadavg()
    print(f"\n{os.cpu_count()} cores, load {one:.0f} at the end.")


if __name__ == "__main__":
    main()
