"""`python -m bench`: the same 200-event runs, streamed from a bare FastAPI app and from Runyard on SQLite and Postgres.

The client is a process of its own. The servers take turns in one session, because the machine drifts: only the ratios
of one session mean anything. Every event of every run is checked to have arrived, in order.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.processes import Server, running
from tests.support.postgres import PrivatePostgres

RESULTS = Path(__file__).parent / "results"
ROUNDS = 3
RUNS = {1: 100, 10: 30, 50: 10}  # runs per client
console = Console()


def measure(server: Server, clients: int) -> dict[str, Any]:
    cpu = server.cpu_seconds()
    command = [sys.executable, "-m", "bench.load", str(server.port), str(clients), str(RUNS[clients])]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    result: dict[str, Any] = json.loads(output)
    spent = server.cpu_seconds() - cpu
    return result | {
        "server": server.name,
        "cpu_us_per_event": spent / result["events"] * 1e6,
        "rss_mb": server.rss_mb(),
    }


def rounds(servers: list[Server]) -> list[dict[str, Any]]:
    results = []
    for server in servers:
        measure(server, 10)  # warm up
    for clients in RUNS:
        for number in range(ROUNDS):
            for server in servers:
                console.print(f"[dim]{clients} clients, round {number + 1}/{ROUNDS}: {server.name}[/]")
                results.append(measure(server, clients))
    return results


def table(results: list[dict[str, Any]]) -> Table:
    shown = Table(
        "clients", "server", "runs/s", "events/s", "ratio", "first event p50 / p99 ms", "CPU µs/event", "RSS MB"
    )
    for clients in RUNS:
        bare = _median(results, clients, "bare", "events_s")
        for name in dict.fromkeys(result["server"] for result in results):
            value = {key: _median(results, clients, name, key) for key in results[0] if key != "server"}
            shown.add_row(
                str(clients),
                name,
                f"{value['runs_s']:.0f}",
                f"{value['events_s']:.0f}",
                f"{value['events_s'] / bare:.2f}",
                f"{value['first_ms_p50']:.1f} / {value['first_ms_p99']:.1f}",
                f"{value['cpu_us_per_event']:.1f}",
                f"{value['rss_mb']:.0f}",
            )
    return shown


def _median(results: list[dict[str, Any]], clients: int, server: str, key: str) -> float:
    return float(statistics.median(r[key] for r in results if r["server"] == server and r["clients"] == clients))


def main() -> None:
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        postgres = stack.enter_context(PrivatePostgres())
        dsn = postgres.create_database("bench")
        servers = [
            stack.enter_context(running("bare", "bench.bare", health="/openapi.json")),
            stack.enter_context(running("sqlite", "bench.server", f"sqlite:///{folder}/bench.db", health="/health")),
            stack.enter_context(running("postgres", "bench.server", dsn, health="/health")),
        ]
        for server in servers:
            console.print(f"{server.name}: ready in {server.ready_seconds:.2f} s, idle RSS {server.rss_mb():.0f} MB")
        results = rounds(servers)
    console.print(table(results))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.json").write_text(json.dumps(results, indent=1) + "\n")


main()
