"""`runyard status`: the state of the installation in one table."""

import sys
from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Option
from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.options import Json
from runyard.cli.terminal.output import echo, style

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.cli.terminal.text_table import TextTable
    from runyard.client.wire import OverviewInfo

MOST_COUNTED = 100_000
LONG_LAG_MS = 500
OLD_XMIN = 10_000_000
SKEW_MS = 2000


def status(
    json: Json = False,
    watch: Annotated[bool, Option("--watch", help="Refresh every two seconds, until Ctrl-C.")] = False,
) -> None:
    """Show the queue, approvals, the outbox, workers, streams and the database.

    If the server requires keys, this needs one with the scope `operate`.
    """

    async def work(client: "AnyClient", has_workers: bool) -> None:
        from runyard.cli.terminal import tables

        if watch:
            await _watch(client)
        else:
            found = await client.overview()
            tables.print_json(found) if json else overview(found).echo()

    run_with_client(work)


async def _watch(client: "AnyClient") -> None:
    import asyncio

    lines = 0
    while True:
        found = overview(await client.overview())
        if lines:
            echo(f"\x1b[{lines}A\x1b[J" if sys.stdout.isatty() else "", nl=not sys.stdout.isatty())  # over the last one
        lines = found.echo()
        await asyncio.sleep(2)


def overview(found: "OverviewInfo") -> "TextTable":
    """Return the table; values that need attention are yellow."""
    from runyard.cli.terminal.text import plain, span
    from runyard.cli.terminal.text_table import TextTable

    made = TextTable("", "", wraps=[1], header=False)
    waiting = span(found.oldest_waiting_ms / 1000)
    made.add_row(
        "queued", f"{_count(found.queued)}" + (f", the oldest since {waiting}" if found.oldest_waiting_ms else "")
    )
    made.add_row("running", _count(found.running))
    made.add_row("approvals", _count(found.approvals_waiting))
    lag = (
        f"{found.outbox.runs_behind} runs behind, {found.outbox.lag_ms} ms"
        if found.outbox.runs_behind
        else "up to date"
    )
    made.add_row("outbox", _mark(lag, found.outbox.lag_ms > LONG_LAG_MS))
    for worker in found.workers or []:
        left = worker.lease_left_ms
        lease = f"lease for {span(left / 1000)}" if left > 0 else "lease expired"
        made.add_row("worker", _mark(f"{plain(worker.label)}: {worker.runs} runs, {lease}", left <= 0))
    if not found.workers:
        made.add_row("worker", _mark("none", True))
    made.add_row("streams", str(found.pod.open_streams))
    database = found.database
    made.add_row("database", f"{plain(database.version)}, {size(database.size_bytes)}, {database.latency_ms:g} ms")
    made.add_row("clock skew", _mark(f"{database.clock_skew_ms} ms", abs(database.clock_skew_ms) > SKEW_MS))
    if database.xmin_age is not None:
        made.add_row("xmin age", _mark(str(database.xmin_age), database.xmin_age > OLD_XMIN))
    return made


def _count(number: int) -> str:
    return f"{number}{' or more' if number >= MOST_COUNTED else ''}"


def _mark(text: str, is_odd: bool) -> str:
    return style(text, fg="yellow" if is_odd else None)


def size(count: float) -> str:
    """12 kB, 3.4 MB, 1.2 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
