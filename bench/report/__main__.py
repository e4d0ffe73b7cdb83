"""`python -m bench.report`: which targets were met, from the results that are there. Nothing in it is typed by hand.

It prints the table of targets, draws the charts, and writes tables, charts and the capacity into docs/performance.md
and README.md between their markers. `--check` writes nothing and fails when a file is stale."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill

from rich.table import Table

from bench.report.pictures import pictures
from bench.report.results import FOLDER, Results, load
from bench.report.sheet import Sheet, sheets
from bench.report.targets import EMPTY, TARGETS, Measured
from bench.scaling.capacity import TWO
from bench.servers.stand import BARE, POSTGRES, SQLITE
from bench.steps import console

ROOT = Path(__file__).parents[2]
WIDTH = 120
MARKS = {"excellent": "**excellent**", "good": "good", "not met": "not met", "not measured": "not measured"}
STYLES = {"excellent": "bold green", "good": "green", "not met": "red", "not measured": "dim"}
CHARTS = {"ratio": "Events per second", "latency": "Latency", "jobs": "Runs", "capacity": "Capacity"}
OTHERS = {"rivals": "Others", "rivals-capacity": "Capacity of other servers"}
FACTS = {
    "cores": "{} cores",
    "system": "{}",
    "python": "Python {}",
    "postgres": "Postgres {}",
    "sqlite": "SQLite {}",
    "fastapi": "FastAPI {}",
    "uvicorn": "uvicorn {}",
    "date": "{}",
}


def measured(folder: Path = FOLDER) -> Measured:
    return Measured(*(load(name, folder) or EMPTY for name in ("latest", "large", "rivals")))


def rows(found: Measured) -> list[list[str]]:
    """The table of targets: what, measured, good, excellent, verdict."""
    return [
        [t.what, t.written(t.value(found)), t.written(t.good), t.written(t.excellent), t.verdict(found)]
        for t in TARGETS
    ]


def table(found: Measured) -> Table:
    made = Table("target", "measured", "good", "excellent", "verdict")
    for *cells, verdict in rows(found):
        made.add_row(*cells, f"[{STYLES[verdict]}]{verdict}[/]")
    return made


def blocks(found: Measured) -> dict[str, str]:
    """Return the text of docs/performance.md between the markers of each name."""
    targets = [[*cells, MARKS[verdict]] for *cells, verdict in rows(found)]
    drawn = pictures(found)
    return {
        "targets": _markdown(["target", "measured", "good", "excellent", ""], targets),
        "measured": _results(found.latest, {name: title for name, title in CHARTS.items() if name in drawn}),
        "large": _results(found.large, {}),
        "rivals": _results(found.rivals, {name: title for name, title in OTHERS.items() if name in drawn}),
    }


def capacity(found: Results) -> str:
    """Return the sentence of README.md about the number of conversations."""
    held = {server: found.median("size", "capacity", server) for server in found.servers("capacity")}
    if not {BARE, POSTGRES, SQLITE, TWO} <= held.keys():
        return "Not measured yet."
    cores, postgres, sqlite, bare, two = found.machine.get("cores"), held[POSTGRES], held[SQLITE], held[BARE], held[TWO]
    return fill(
        f"On a machine with {cores} cores, which it shared with Postgres and all clients, one process held"
        f" **{postgres:,.0f} live conversations** at 50 tokens a second on Postgres and {sqlite:,.0f} on SQLite, each"
        " token committed before it was sent and 99 of 100 less than 50 ms late. A bare stream, which stores nothing,"
        f" held {bare:,.0f}; two processes of Runyard held {two:,.0f}.",
        WIDTH,
    )


def written(document: str, blocks: Mapping[str, str]) -> str:
    """Return a document with its generated blocks renewed."""
    for name, block in blocks.items():
        begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
        before, _, rest = document.partition(begin)
        _, marker, after = rest.partition(end)
        if not marker:
            raise ValueError(f"the document has no block between {begin} and {end}")
        document = f"{before}{begin}\n\n{block}\n\n{end}{after}"
    return document


def files(found: Measured) -> Iterator[tuple[Path, str]]:
    """Every file that is made from the results, with what has to be in it."""
    for name, picture in pictures(found).items():
        yield FOLDER / f"{name}.svg", picture
    documents = {"docs/performance.md": blocks(found), "README.md": {"capacity": capacity(found.latest)}}
    for name, made in documents.items():
        yield ROOT / name, written((ROOT / name).read_text(encoding="utf-8"), made)


def _results(results: Results, charts: dict[str, str]) -> str:
    if not results.rows:
        return "Not measured yet."
    machine = ", ".join(form.format(results.machine[key]) for key, form in FACTS.items() if key in results.machine)
    dated = dict.fromkeys((row.case, row.date) for row in results.rows if row.date)
    earlier = [f"{case} on {date}" for case, date in dated]
    missing = [f"Measured earlier: {', '.join(earlier)}."] if earlier else []
    missing += [f"Left out: {name} ({why})." for name, why in results.missing.items()]
    shown = [f"![{title}](../bench/results/{name}.svg)" for name, title in charts.items()]
    return "\n\n".join([f"Measured on {machine}.", *missing, *shown, *map(_section, sheets(results))])


def _section(sheet: Sheet) -> str:
    return f"### {sheet.title}\n\n{_markdown(sheet.header, sheet.rows)}"


def _markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *lines))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description="Say which targets were met.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    asked = parser.parse_args(arguments)
    found = measured()
    if asked.check:
        stale = [path.name for path, text in files(found) if not path.exists() or path.read_text("utf-8") != text]
        if stale:
            print(f"bench: {', '.join(stale)} are stale: run 'python -m bench.report'.", file=sys.stderr)
        return int(bool(stale))
    for path, text in files(found):
        path.write_text(text, encoding="utf-8")
    console.print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
