"""10,000 runs sleep: they cost no worker, wake within a second of their time, and in the order of their times, also
after the server was down over it."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow

SLEEPERS = 10_000
ON_TIME = 60  # of them wake while the server runs,
EVERY_MS = 50
LATE = 150  # and these were due while it was down
GENERATED = {"ready_since"}  # columns that the database computes
TABLES = ("threads", "messages", "lanes", "runs", "run_events", "run_outbox", "waits")
_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


async def _insert(flow: Flow, table: str, rows: Sequence[dict[str, Any]]) -> None:
    columns = [column for column in rows[0] if column not in GENERATED]
    values = [tuple(row[column] for column in columns) for row in rows]
    if isinstance(flow.database, PostgresDatabase):
        await (await flow.database.connection()).copy_records_to_table(table, records=values, columns=columns)
        return
    marks = ", ".join("?" * len(columns))
    with sqlite3.connect(flow.database.path, timeout=PATIENCE) as connection:
        connection.executemany(f"insert into {table} ({', '.join(columns)}) values ({marks})", values)


def _run(n: int) -> str:
    """The id of a sleeper."""
    return _clone(0, n)


def _clone(kind: int, n: int) -> str:
    return f"{kind:08x}-0000-7000-8000-{n:012x}"


async def _multiply(flow: Flow, run_id: str) -> None:
    """Copy the rows of a run that sleeps, each time under other ids."""
    found = {table: [dict(row) for row in await flow.database.rows(f"select * from {table}")] for table in TABLES}
    known = [run_id, *sorted({each for rows in found.values() for row in rows for each in _ids(row)} - {run_id})]
    kinds = {each: kind for kind, each in enumerate(known)}

    def copied(value: Any, n: int) -> Any:
        if isinstance(value, bytes):
            return copied(value.decode(), n).encode()
        return _ID.sub(lambda each: _clone(kinds[each[0]], n), value)

    for table, rows in found.items():
        copies = []
        for row in rows:
            other = {name: item for name, item in row.items() if _ids({name: item})}
            copies += [row | {name: copied(item, n) for name, item in other.items()} for n in range(SLEEPERS)]
        await _insert(flow, table, copies)


def _ids(row: dict[str, Any]) -> list[str]:
    texts = [item.decode() if isinstance(item, bytes) else item for item in row.values()]
    return [each for text in texts if isinstance(text, str) for each in _ID.findall(text)]


async def _due(flow: Flow, runs: Sequence[str], first: int, every: int) -> dict[str, int]:
    """Let these runs be due one after another, and return when."""
    due = {run_id: first + n * every for n, run_id in enumerate(runs)}
    cases = " ".join(f"when '{run_id}' then {at}" for run_id, at in due.items())
    names = ", ".join(f"'{run_id}'" for run_id in due)
    await flow.database.change(f"update waits set expires_at = case run_id {cases} end where run_id in ({names})")
    return due


async def _all_done(flow: Flow, runs: Sequence[str]) -> None:
    names = ", ".join(f"'{run_id}'" for run_id in runs)

    async def done() -> bool:
        [row] = await flow.database.rows(f"select count(*) as n from runs where status = 'done' and id in ({names})")
        return int(row["n"]) == len(runs)

    await eventually(f"{len(runs)} runs are done", done, 4 * PATIENCE)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def test_sleeping_runs_cost_nothing_and_wake_on_time_in_order(any_flow: Flow) -> None:
    flow = any_flow
    server = await flow.start("serve")
    run_id = await flow.post(["sleep", 24 * 3600])
    await flow.reached(run_id, "waiting")
    await flow.published(run_id)
    await server.kill()
    await _multiply(flow, run_id)
    runs = [_run(n) for n in range(SLEEPERS)]
    random.Random(17).shuffle(runs)
    on_time, late = runs[:ON_TIME], runs[ON_TIME : ON_TIME + LATE]

    server = await flow.start("serve")
    overview = (await flow.request("GET", "/api/overview")).json()
    assert (overview["running"], overview["queued"], overview["pod"]["runs"]) == (0, 0, 0), "sleepers have no worker"
    began = _now_ms()
    await flow.reached(await flow.post(["tokens", 1]), "done")
    patience = max(1000, 20 * (_now_ms() - began))  # a second, unless this machine is so busy that any run is slow
    due = await _due(flow, on_time, _now_ms() + 1000, EVERY_MS)
    await _all_done(flow, on_time)
    delays = sorted(time // 1_000_000 - due[woken] for woken, time in _woken(flow))
    print(f"{'SQLite' if flow.is_sqlite else 'Postgres'}: {SLEEPERS} sleepers, woken after", end=" ")
    print(f"{delays[len(delays) // 2]} ms (median), {delays[-1]} ms (at most)")
    assert delays[0] >= 0, "never too early"
    assert delays[len(delays) * 9 // 10] < patience
    order = [woken for woken, _ in _woken(flow)]
    late_by_place = [abs(on_time.index(woken) - place) for place, woken in enumerate(order)]
    assert max(late_by_place) <= patience // EVERY_MS, "in the order of their times"

    await server.kill()
    due = await _due(flow, late, _now_ms() - 10 * LATE, 10)
    began = _now_ms()
    await flow.start("serve", slots=1)
    await _all_done(flow, late)
    print(f"{LATE} that were due while the server was down: all done after {_now_ms() - began} ms")
    assert [woken for woken, _ in _woken(flow)][ON_TIME:] == late
    [row] = await flow.database.rows("select count(*) as n from runs where status = 'waiting'")
    assert row["n"] == SLEEPERS + 1 - ON_TIME - LATE, "the others sleep on"
    log = [json.loads(event["data"]) for event in await flow.log(late[0]) if event["type"] == "wait.answered"]
    assert len(log) == 1


def _woken(flow: Flow) -> list[tuple[str, int]]:
    """When each run woke first. A worker that lost its lease on a busy machine wakes a run again."""
    woken: dict[str, int] = {}
    for run_id, at, *_ in flow.notes.read("woke"):
        woken.setdefault(run_id, int(at))
    return list(woken.items())
