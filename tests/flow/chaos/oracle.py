"""The checks after the last fault: every run ends, and the checker, the followers and the effects agree.

The invariants are those of `tests/support/checker/invariants.py`. On top of them no run ends in an error (only agents
raise errors, and these do not), no approval expires too early, and no event is in the partition of a future week."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

from tests.flow.chaos.load import Load
from tests.flow.chaos.report import Report
from tests.support.checker.invariants import breaches
from tests.support.checker.wait_invariants import ENDED
from tests.support.eventually import eventually
from tests.support.scenario.databases import PostgresDatabase
from tests.support.scenario.flow import Flow

SETTLE_SECONDS = 120.0  # if no run comes to its end for so long, those that are left are stuck
FOLLOW_SECONDS = 60.0


async def judge(flow: Flow, load: Load, report: Report) -> None:
    """Wait for the end of every run, then check everything and fill in the report."""
    began = time.monotonic()
    try:
        left = await _unended(flow)
        while left:
            left = await _fewer_than(flow, left)
        await eventually("everything is published", flow.is_published, SETTLE_SECONDS)
    except TimeoutError as error:
        report.violations.append(f"stuck: {error}")
        report.violations += [line async for line in _stuck(flow)]
    report.settled_seconds = time.monotonic() - began
    await _followers(flow, load, report)
    report.violations += await breaches(flow.database, flow.evidence)
    report.violations += [line async for line in _ends(flow, report)]
    report.events = (await flow.database.rows("select count(*) as n from run_events"))[0]["n"]
    report.events_followed = sum(len(seen.events) for seen in flow.evidence.seen)
    report.effects = len(flow.notes.read("effects"))


async def _unended(flow: Flow) -> int:
    rows = await flow.database.rows("select status, count(*) as n from runs group by status")
    return sum(row["n"] for row in rows if row["status"] not in ENDED)


async def _fewer_than(flow: Flow, runs: int) -> int:
    """Wait until fewer runs are left, and return how many. Runs whose workers died often are tried one at a time."""

    async def fewer() -> bool:
        return await _unended(flow) < runs

    await eventually(f"another run ends ({runs} left)", fewer, SETTLE_SECONDS)
    return await _unended(flow)


async def _stuck(flow: Flow) -> AsyncIterator[str]:
    rows = await flow.database.rows("select id, status, worker_id, attempts, lane_key from runs order by pos")
    for row in [row for row in rows if row["status"] not in ENDED][:10]:
        yield f"stuck: {dict(row)}"


async def _followers(flow: Flow, load: Load, report: Report) -> None:
    """Let every follower reach the end of its run. An exception is a violation, and so is a different text."""
    deadline = time.monotonic() + FOLLOW_SECONDS
    done = {
        str(row["id"]) for row in await flow.database.rows("select id, status from runs") if row["status"] == "done"
    }
    for reader in flow.readers:
        reader.seen.should_be_complete = True
        try:
            with suppress(TimeoutError):
                await reader.end(max(0.01, deadline - time.monotonic()))
        except asyncio.CancelledError:
            raise
        except Exception as error:
            report.violations.append(f"a follower of {reader.seen.run_id} failed: {error!r}")
        run_id = reader.seen.run_id
        wanted = load.texts.get(run_id) if run_id in done and reader.seen.face == "native" else None
        if wanted is not None and reader.seen.complete and reader.text != wanted:
            report.violations.append(f"{run_id}: its text is {reader.text!r}, not {wanted!r}")


async def _ends(flow: Flow, report: Report) -> AsyncIterator[str]:
    rows = await flow.database.rows("select id, status from runs")
    report.runs = len(rows)
    report.ends = Counter(row["status"] for row in rows)
    failed = {str(row["id"]) for row in rows if row["status"] == "error"}
    if failed:
        errors = await flow.database.rows("select run_id, data from run_events where type = 'run.error'")
        for row in [row for row in errors if str(row["run_id"]) in failed][:10]:
            yield f"{row['run_id']} ended in an error: {json.loads(row['data'])}"
    for row in await flow.database.rows("select run_id from waits where state = 'expired'"):
        yield f"{row['run_id']}: an approval expired before its hour"
    if isinstance(flow.database, PostgresDatabase):
        [row] = await flow.database.rows("select count(*) as n from run_events_default")
        if row["n"]:
            yield f"{row['n']} events lie in the default partition"
