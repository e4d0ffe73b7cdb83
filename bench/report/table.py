"""Sheets as tables for the terminal."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table

from bench.report.results import Results
from bench.report.sheet import Sheet, sheets


def tables(results: Results) -> Iterator[Table]:
    return map(table, sheets(results))


def table(sheet: Sheet) -> Table:
    made = Table(title=sheet.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for title in sheet.header:
        lines = title.replace(" p50", "\np50").replace(" CPU", "\nCPU").replace(" MB", "\nMB")
        made.add_column(lines, justify="left" if title == "server" else "right", no_wrap=True)
    for row in sheet.rows:
        made.add_row(*row)
    return made
