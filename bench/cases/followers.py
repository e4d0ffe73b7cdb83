"""Many followers of one run: each gets all events; memory and CPU of the server are measured. `followers, decided` is a
run that
waited for a person, whose decision reaches the log from outside of its worker."""

import asyncio
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from bench.cases.gates import Asking, Gate, Queued
from bench.cases.measure import measure_once
from bench.client.load import Follow
from bench.report.results import Row
from bench.servers import usage
from bench.servers.stand import Stand
from bench.size import Size
from bench.steps import Step

CASES: dict[str, type[Gate]] = {"followers": Queued, "followers, decided": Asking}


def steps(stand: Stand, size: Size) -> list[Step]:
    return [
        Step(f"{size.followers:,} {case}, {kind}", partial(_follow, case, stand, kind, size))
        for case in CASES
        for kind in stand.durable()
    ]


def _follow(case: str, stand: Stand, kind: str, size: Size) -> Sequence[Row]:
    """On a separate server, so that its peak of memory is due to them."""
    gate = CASES[case]()
    with stand.server(kind, case) as server:
        run = asyncio.run(gate.hold(server.port, size.tokens))
        job = Follow(port=server.port, clients=size.followers, run=run, tokens=size.tokens)
        row = measure_once(case, server, job, go=lambda: asyncio.run(gate.release(server.port)))
        return [replace(row, rss_mb=usage.peak_rss_mb(server.pid))]
