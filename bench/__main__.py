"""`python -m bench`: Runyard on SQLite and on Postgres against a bare FastAPI stream and a fake commit, in one session.

The clients are separate processes. Every round measures all servers, because the machine drifts: only the ratios of one
session are comparable. Every event of every run is checked to have arrived, in order."""

import argparse
import time
from contextlib import ExitStack
from pathlib import Path

from bench.cases import faces, followers, pods, replay, streams, tracing
from bench.report.results import FOLDER, Results, Row, save
from bench.report.table import tables
from bench.scaling import capacity, retention
from bench.servers import machine
from bench.servers.stand import ALL, Stand
from bench.size import FULL, TINY, Size
from bench.steps import console, walk


def run(stand: Stand, size: Size) -> list[Row]:
    begun = time.monotonic()
    with ExitStack() as stack:
        servers = [stack.enter_context(stand.server(kind)) for kind in stand.kinds]
        walk(streams.warm_up(servers, size), begun)
        rows = walk(streams.steps(servers, size), begun)
    parts = (capacity, faces, followers, replay, pods, retention, tracing)
    alone = [step for part in parts for step in part.steps(stand, size)]
    return rows + walk(alone, begun)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Runyard, in about eight minutes.")
    parser.add_argument(
        "--tiny", action="store_true", help="sizes that show in seconds that it works; no numbers to keep"
    )
    parser.add_argument("--servers", nargs="+", choices=ALL, default=ALL, help="only these")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where latest.json goes")
    asked = parser.parse_args()
    with Stand(tuple(asked.servers)) as stand:
        known = machine.facts(stand.postgres_version)
        results = Results(known, run(stand, TINY if asked.tiny else FULL), tracing.MISSING)
    save(results, "latest", asked.folder)
    console.print(*tables(results), sep="\n")


if __name__ == "__main__":
    main()
