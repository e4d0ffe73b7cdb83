"""`runyard runs export`: runs with their logs as JSON lines."""

import sys
from contextlib import aclosing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from runyard.base.private_files import new_file
from runyard.cli.parsing.options import seconds_of
from runyard.cli.terminal import text
from runyard.cli.terminal.output import echo
from runyard.client.wire import RunInfo

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

EVERY = 100  # runs between two lines of progress
PAGE = 100


async def export_runs(
    client: "AnyClient", to: Path | None, before: str | None, status: str | None, *, quiet: bool = False
) -> None:
    """Write the runs to a file that only its user may read, or to stdout. The file gets its name when it is complete.
    `quiet`: print no progress."""
    newest = None if before is None else text.now() - timedelta(seconds=seconds_of("--before", before))
    if to is None:
        count = await _write(client, sys.stdout.buffer, newest, status, quiet)
    else:
        part = to.with_name(to.name + ".part")
        with new_file(part) as file:
            count = await _write(client, file, newest, status, quiet)
        part.replace(to)
    if not quiet:
        echo(f"{count} runs exported.", err=True)


async def _write(client: "AnyClient", file: BinaryIO, newest: datetime | None, status: str | None, quiet: bool) -> int:
    count = 0
    async with aclosing(client.runs(status=status, page=PAGE)) as runs:
        async for run in runs:
            if run.has_ended and (newest is None or text.moment(run.created_at) < newest):
                file.write(await _line(client, run))
                count += 1
                if count % EVERY == 0 and not quiet:
                    echo(f"{count} runs, back to {run.created_at}", err=True)
    file.flush()
    return count


async def _line(client: "AnyClient", run: RunInfo) -> bytes:
    async with aclosing(client.follow(run.run_id)) as events:
        log = [event async for event in events]
    return msgspec.json.encode({"run": run, "events": log}) + b"\n"
