"""`python -m bench.large`: compare a small with a large database on Postgres, in tens of minutes. Every batch measures
both, so that their ratio is comparable. With `--parts` it measures some parts and keeps the results of the others."""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bench.large import claims
from bench.large.fill import filled
from bench.large.logs import EVENTS, Logs
from bench.large.logs import template as ended_run
from bench.large.long_replay import long_replays
from bench.large.long_thread import long_threads
from bench.large.open_streams import open_streams, possible
from bench.large.waiting import waiting
from bench.report.results import FOLDER, Results, Row, load, save
from bench.report.table import tables
from bench.servers import machine
from bench.servers.stand import POSTGRES, SQLITE, Stand
from bench.steps import Step, console, walk
from runyard.stores.postgres.store import PostgresStore


class Size(Struct, frozen=True, kw_only=True):
    queued: tuple[int, int]
    events: tuple[int, int]
    rounds: int
    each: int
    waiting: int
    streams: int
    idle_seconds: float
    messages: int
    replayed: int


FULL = Size(
    queued=(1_000, 1_000_000),
    events=(10_000, 5_000_000),
    rounds=30,
    each=50,
    waiting=10_000,
    streams=10_000,
    idle_seconds=20,
    messages=5_000,
    replayed=1_000_000,
)
TINY = Size(
    queued=(100, 400),
    events=(1_000, 4_000),
    rounds=2,
    each=10,
    waiting=200,
    streams=50,
    idle_seconds=0.5,
    messages=20,
    replayed=2_000,
)
THREAD_ROUNDS = 5
PARTS = ("queue", "log", "approvals", "threads", "replays", "streams")


class Large:
    def __init__(self, stand: Stand, size: Size, runner: asyncio.Runner) -> None:
        self._stand = stand
        self._size = size
        self._run = runner.run
        self._queues: dict[int, PostgresStore] = {}
        self._logs: dict[int, Logs] = {}
        self._stores: list[PostgresStore] = []

    def steps(self, parts: Sequence[str], streams: int) -> list[Step]:
        return [step for part in parts for step in getattr(self, part)(streams)]

    def queue(self, _: int) -> list[Step]:
        size = self._size
        return [
            *(Step(f"queue {queued:,} runs", partial(self._queue, queued)) for queued in size.queued),
            *(Step(f"claim, {_both(size.queued)} queued", self._claim) for _ in range(size.rounds)),
        ]

    def log(self, _: int) -> list[Step]:
        size = self._size
        return [
            *(Step(f"write {events:,} events", partial(self._write, events)) for events in size.events),
            *(Step(f"append and read, {_both(size.events)} events", self._log) for _ in range(size.rounds)),
        ]

    def approvals(self, _: int) -> list[Step]:
        count, seconds = self._size.waiting, self._size.idle_seconds
        return [
            Step(f"{count:,} waiting approvals, {kind}", partial(waiting, self._stand, kind, count, seconds))
            for kind in self._stand.durable()
        ]

    def threads(self, _: int) -> list[Step]:
        messages, rounds, each = self._size.messages, min(THREAD_ROUNDS, self._size.rounds), self._size.each
        return [
            Step(
                f"threads with {messages:,} messages, {kind}",
                partial(long_threads, self._stand, kind, messages, rounds, each),
            )
            for kind in self._stand.durable()
        ]

    def replays(self, _: int) -> list[Step]:
        events = self._size.replayed
        return [
            Step(f"replay of {events:,} events, {kind}", partial(long_replays, self._stand, kind, events))
            for kind in self._stand.durable()
        ]

    def streams(self, count: int) -> list[Step]:
        return [Step(f"{count:,} open streams", lambda: open_streams(self._stand, count, self._size.idle_seconds))]

    def close(self) -> None:
        for store in self._stores:
            self._run(store.close())

    def _filled(self, name: str, template: Callable[[PostgresStore], Awaitable[int]], clones: int) -> PostgresStore:
        say = partial(console.print, end="\r")
        store = self._run(filled(self._stand.dsn(name), template, clones, say))
        self._stores.append(store)
        return store

    def _queue(self, queued: int) -> Sequence[Row]:
        clones = queued // claims.PER_LANE - 1
        self._queues[queued] = self._filled(f"queue_{queued}", claims.template, clones)
        return []

    def _claim(self) -> Sequence[Row]:
        return [
            self._run(claims.batch(store, self._stand.dsn(f"queue_{queued}"), queued, self._size.each))
            for queued, store in self._queues.items()
        ]

    def _write(self, events: int) -> Sequence[Row]:
        store = self._filled(f"log_{events}", ended_run, events // EVENTS)
        self._logs[events] = Logs(store, events)
        self._run(self._logs[events].begin())
        return []

    def _log(self) -> Sequence[Row]:
        return [row for logs in self._logs.values() for row in self._run(logs.batch(self._size.each))]


def _both(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]:,} and {sizes[1]:,}"


def with_others(new: Results, old: Results | None) -> Results:
    """Add the results of the cases that were not measured this time, with the date of their measurement."""
    if old is None:
        return new
    measured, date = {row.case for row in new.rows}, old.machine["date"]
    others = [replace(row, date=row.date or date) for row in old.rows if row.case not in measured]
    return Results(new.machine, [*others, *new.rows], old.missing | new.missing if others else new.missing)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.large", description="Measure with large databases.")
    parser.add_argument("--tiny", action="store_true", help="sizes that show in seconds that it works")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where large.json goes")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    asked = parser.parse_args()
    size = TINY if asked.tiny else FULL
    streams = possible(size.streams)
    missing = {}
    if streams < size.streams:
        missing[f"{size.streams:,} open streams"] = f"the limit of open files allows {streams:,}"
    with Stand((SQLITE, POSTGRES)) as stand, asyncio.Runner() as runner:
        large = Large(stand, size, runner)
        try:
            rows = walk(large.steps(asked.parts, streams), time.monotonic())
        finally:
            large.close()
        results = Results(machine.facts(stand.postgres_version), rows, missing)
    if len(asked.parts) < len(PARTS):
        results = with_others(results, load("large", asked.folder))
    save(results, "large", asked.folder)
    console.print(*tables(results), sep="\n")


if __name__ == "__main__":
    main()
