"""A long log, read by one client from its beginning: while the server still has it in memory (`replay, warm`), and from
the database by a server that was just started (`replay`)."""

import asyncio
from collections.abc import Sequence
from functools import partial

from bench.cases.measure import measure_once
from bench.client.dialects import Threads
from bench.client.load import Read
from bench.client.wire import Wire
from bench.report.results import Row
from bench.servers.processes import Server
from bench.servers.stand import Stand
from bench.size import Size
from bench.steps import Step


def steps(stand: Stand, size: Size) -> list[Step]:
    return [
        Step(f"replay of {size.replayed} events, {kind}", partial(_replay, stand, kind, size))
        for kind in stand.durable()
    ]


def _replay(stand: Stand, kind: str, size: Size) -> Sequence[Row]:
    with stand.server(kind, "replay") as server:
        run = asyncio.run(_write(server, size.replayed))
        warm = [_read("replay, warm", server, run, size) for _ in range(size.rounds)]
    with stand.server(kind, "replay") as server:
        return [*(_read("replay", server, run, size) for _ in range(size.rounds)), *warm]


async def _write(server: Server, tokens: int) -> str:
    wire = await Wire.connect(server.port)
    threads = Threads()
    run = await threads.post(wire, await threads.open_thread(wire), "tokens", tokens)
    threads.judge(await wire.stream("GET", f"/api/runs/{run}/events"), tokens)
    wire.close()
    return run


def _read(case: str, server: Server, run: str, size: Size) -> Row:
    return measure_once(case, server, Read(port=server.port, run=run, tokens=size.replayed))
