"""A benchmark is a list of steps, each with a name and some rows as its result; `walk` does them and prints the
progress."""

import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.console import Console

from bench.report.results import Row

console = Console(highlight=False, soft_wrap=True, width=max(Console().width, 130))


class Step(Struct, frozen=True):
    name: str
    do: Callable[[], Sequence[Row]]


def walk(steps: Sequence[Step], begun: float) -> list[Row]:
    rows: list[Row] = []
    for number, step in enumerate(steps, 1):
        found = step.do()
        rows += found
        spent = time.monotonic() - begun
        console.print(
            f"[dim]{spent // 60:2.0f}:{spent % 60:02.0f}  {number}/{len(steps)}[/]  {step.name}: {said(found)}"
        )
    return rows


def said(rows: Sequence[Row]) -> str:
    """The most important number of each row."""
    words = []
    for row in rows:
        for value, unit in (
            (row.size if row.case == "capacity" else None, "conversations"),
            (row.took_ms_p50, "ms"),
            (None if row.case.startswith("followers") else row.delay_ms_p50, "ms on the way"),
            (row.events_s, "events/s"),
            (row.runs_s, "runs/s"),
            (row.rss_mb, "MB"),
        ):
            if value is not None:
                words.append(f"{value:,.2f} {unit}" if value < 100 else f"{value:,.0f} {unit}")
                break
    return ", ".join(words)
