"""The memory of a server from whose database one client replays a log: a short one, then one of a million events.

The log is written by one server and read from another, which has nothing of it in memory. Both logs have the same
amount of text, because the last event has the whole answer, which the server holds while it sends it. So a longer log
may not need more memory."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from bench.cases.measure import measure_once
from bench.client.dialects import Threads
from bench.client.load import Read
from bench.client.wire import Wire
from bench.report.results import Row
from bench.servers import usage
from bench.servers.processes import Server
from bench.servers.stand import Stand

SHORT = 10_000
WITHOUT_LIMIT = 10**9  # bytes of one answer
threads = Threads()


def long_replays(stand: Stand, kind: str, events: int) -> Sequence[Row]:
    """Return one row for the short and one for the long log, each read from a separate server."""
    rows: list[Row] = []
    for size, agent in ((min(SHORT, events // 2), "widely"), (events, "counting")):
        database = f"long_replay_{size}"
        with stand.server(kind, database, max_answer_bytes=WITHOUT_LIMIT) as server:
            run = asyncio.run(_write(server, agent, size))
        with stand.server(kind, database) as server:
            row = measure_once("replay, memory", server, Read(port=server.port, run=run, tokens=size))
            rows.append(_with_peak(row, size, server))
    return rows


async def _write(server: Server, agent: str, tokens: int) -> str:
    wire = await Wire.connect(server.port)
    run = await threads.post(wire, await threads.open_thread(wire), agent, tokens)
    threads.judge(await wire.stream("GET", f"/api/runs/{run}/events"), tokens)
    wire.close()
    return run


def _with_peak(row: Row, size: int, server: Server) -> Row:
    return replace(row, size=size, rss_mb=usage.peak_rss_mb(server.pid), delay_ms_p50=None, delay_ms_p99=None)
