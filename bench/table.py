"""Results as tables for the terminal, one for each case: the medians of the rounds."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table

from bench.results import Results

# CPU is per event, or per run where a run has no events.
COLUMNS = {
    "runs/s": ["runs_s"],
    "events/s": ["events_s"],
    "first event\np50 / p99 ms": ["first_ms_p50", "first_ms_p99"],
    "on the way\np50 / p99 ms": ["delay_ms_p50", "delay_ms_p99"],
    "took\np50 / p99 ms": ["took_ms_p50", "took_ms_p99"],
    "buffers": ["buffers"],
    "server\nCPU µs": ["server_cpu_us"],
    "database\nCPU µs": ["database_cpu_us"],
    "client\nCPU %": ["client_cpu"],
    "idle\nCPU %": ["idle_cpu"],
    "RSS\nMB": ["rss_mb"],
}


def tables(results: Results) -> Iterator[Table]:
    for case in dict.fromkeys(row.case for row in results.rows):
        yield _table(results, case)


def _table(results: Results, case: str) -> Table:
    """Columns that nobody has are left out."""
    rows = [row for row in results.rows if row.case == case]
    shown = {
        title: numbers
        for title, numbers in COLUMNS.items()
        if any(getattr(row, numbers[0]) is not None for row in rows)
    }
    sized = any(row.size is not None for row in rows)
    made = Table(title=case, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for title in ("size" if sized else "at once", "server", *shown):
        made.add_column(title, justify="left" if title == "server" else "right", no_wrap=True)
    for clients, size, server in dict.fromkeys((row.clients, row.size, row.server) for row in rows):
        cells = [
            " / ".join(_cell(number, results.median(number, case, server, clients, size)) for number in numbers)
            for numbers in shown.values()
        ]
        made.add_row(f"{clients if size is None else size:,}", server, *cells)
    return made


def _cell(number: str, value: float | None) -> str:
    if value is None:
        return ""
    if number in ("client_cpu", "idle_cpu"):
        return f"{value * 100:.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.1f}"
