"""`runyard status`: the state of the installation in one table."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.commands import Option
from runyard.cli.parsing.options import Json
from runyard.cli.terminal.output import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runyard.cli.clients.open_client import AnyClient
    from runyard.cli.terminal.text_table import TextTable
    from runyard.client.wire import OverviewInfo

MOST_COUNTED = 100_000
LONG_LAG_MS = 500
OLD_XMIN = 10_000_000
SKEW_MS = 2000


def status(
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet", help="Print only what needs attention.")] = False,
    watch: Annotated[bool, Option("--watch", help="Refresh every two seconds, until Ctrl-C.")] = False,
) -> None:
    """Show the queue, approvals, the outbox, workers, streams and the database.

    If the server requires keys, this needs one with the scope `operate`.
    """

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_json
        from runyard.cli.terminal.watching import watch as refresh

        def draw(found: "OverviewInfo") -> None:
            if json:
                print_json(found)
            elif rows := [row for row in overview_rows(found) if row.is_odd or not quiet]:
                overview(rows).echo()

        if watch:
            await refresh(client.overview, draw)
        else:
            draw(await client.overview())

    run_with_client(work, quiet=quiet)


class Row(NamedTuple):
    """A line of the table. `is_odd`: it needs attention."""

    what: str
    found: str
    is_odd: bool = False


def overview(rows: "Iterable[Row]") -> "TextTable":
    """Return the table; values that need attention are yellow."""
    from runyard.cli.terminal.text_table import TextTable

    made = TextTable("", "", wraps=[1], header=False)
    for row in rows:
        made.add_row(row.what, style(row.found, fg="yellow" if row.is_odd else None))
    return made


def overview_rows(found: "OverviewInfo") -> "Iterator[Row]":
    from runyard.cli.terminal.text import plain, size, span

    waiting = f", the oldest since {span(found.oldest_waiting_ms / 1000)}" if found.oldest_waiting_ms else ""
    yield Row("queued", f"{_count(found.queued)}{waiting}")
    yield Row("running", _count(found.running))
    yield Row("approvals", _count(found.approvals_waiting))
    outbox = found.outbox
    lag = f"{outbox.runs_behind} runs behind, {outbox.lag_ms} ms" if outbox.runs_behind else "up to date"
    yield Row("outbox", lag, outbox.lag_ms > LONG_LAG_MS)
    for worker in found.workers or []:
        left = worker.lease_left_ms
        lease = f"lease for {span(left / 1000)}" if left > 0 else "lease expired"
        yield Row("worker", f"{plain(worker.label)}: {worker.runs} runs, {lease}", left <= 0)
    if not found.workers:
        yield Row("worker", "none", True)
    yield Row("streams", str(found.pod.open_streams))
    database = found.database
    yield Row("database", f"{plain(database.version)}, {size(database.size_bytes)}, {database.latency_ms:g} ms")
    yield Row("clock skew", f"{database.clock_skew_ms} ms", abs(database.clock_skew_ms) > SKEW_MS)
    if database.xmin_age is not None:
        yield Row("xmin age", str(database.xmin_age), database.xmin_age > OLD_XMIN)


def _count(number: int) -> str:
    return f"{number}{' or more' if number >= MOST_COUNTED else ''}"
