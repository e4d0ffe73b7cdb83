"""Runs, streamed: 200 tiny events each, to 1, 10 and 50 clients as fast as it goes (`flat`), to 10 and 50 at 10 ms a
token (`paced`); and empty runs, 64 in flight (`noop`).

The order is by round, then by server, so that a slow phase of the machine affects all servers."""

from collections.abc import Sequence
from functools import partial

from bench.cases.measure import measure
from bench.client.load import Talk
from bench.report.results import Row
from bench.servers.processes import Server
from bench.servers.stand import BARE
from bench.size import Size
from bench.steps import Step

AGENTS = {"flat": "tokens", "paced": "paced", "noop": "noop"}


def steps(servers: Sequence[Server], size: Size) -> list[Step]:
    return [
        *_rounds("flat", servers, size.clients, size.rounds, size),
        *_rounds("paced", servers, size.paced_clients, size.rounds, size),
        *_rounds("noop", [s for s in servers if s.name != BARE], (size.in_flight,), size.rounds, size),
    ]


def warm_up(servers: Sequence[Server], size: Size) -> list[Step]:
    """Rows that are thrown away."""
    return [Step(f"warm up {server.name}", partial(_measure, "flat", server, 10, size)) for server in servers]


def _rounds(case: str, servers: Sequence[Server], clients: Sequence[int], rounds: int, size: Size) -> list[Step]:
    return [
        Step(f"{case}, {count} at once, {server.name}", partial(_measure, case, server, count, size))
        for count in clients
        for _ in range(rounds)
        for server in servers
    ]


def _measure(case: str, server: Server, clients: int, size: Size) -> Sequence[Row]:
    return [stream(case, server, clients, size)]


def stream(case: str, server: Server, clients: int, size: Size, dialect: str = "threads") -> Row:
    job = Talk(
        port=server.port,
        clients=clients,
        seconds=size.seconds,
        agent=AGENTS[case],
        tokens=0 if case == "noop" else size.tokens,
        dialect=dialect,
    )
    return measure(case, server, job)
