"""`runyard runs export`: runs with their logs as JSON lines."""

import sys
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from runyard.cli.terminal.output import echo
from runyard.cli.terminal.text import moment, seconds_in
from runyard.client.wire import RunInfo
from runyard.errors import Invalid

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

EVERY = 100  # runs between two lines of progress
PAGE = 100


async def export_runs(client: "AnyClient", to: Path | None, before: str | None, status: str | None) -> None:
    """Write the runs to a file, which gets its name when it is complete, or to stdout."""
    newest = None if before is None else _ago(before)
    if to is None:
        count = await _write(client, sys.stdout.buffer, newest, status)
    else:
        part = to.with_name(to.name + ".part")
        with part.open("wb") as file:
            count = await _write(client, file, newest, status)
        part.replace(to)
    echo(f"{count} runs exported.", err=True)


def _ago(before: str) -> datetime:
    seconds = seconds_in(before)
    if seconds is None:
        raise Invalid("--before must be a time like 30m, 12h or 90d.")
    return datetime.now(UTC) - timedelta(seconds=seconds)


async def _write(client: "AnyClient", file: BinaryIO, newest: datetime | None, status: str | None) -> int:
    count = 0
    async with aclosing(client.runs(status=status, page=PAGE)) as runs:
        async for run in runs:
            if run.has_ended and (newest is None or moment(run.created_at) < newest):
                file.write(await _line(client, run))
                count += 1
                if count % EVERY == 0:
                    echo(f"{count} runs, back to {run.created_at}", err=True)
    file.flush()
    return count


async def _line(client: "AnyClient", run: RunInfo) -> bytes:
    async with aclosing(client.follow(run.run_id)) as events:
        log = [event async for event in events]
    return msgspec.json.encode({"run": run, "events": log}) + b"\n"
