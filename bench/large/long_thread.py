"""The next message of a thread that already has thousands: what it costs the server and its database, against a new
thread. `answering` is an agent in Python, `thinking` a model agent that gets earlier messages with each request."""

import asyncio
from collections.abc import Sequence

from bench.cases.measure import Watch
from bench.client.dialects import Threads
from bench.client.wire import Wire
from bench.report.results import Row, percentile
from bench.servers.processes import Server
from bench.servers.stand import Stand

AGENTS = ("answering", "thinking")
threads = Threads()


def long_threads(stand: Stand, kind: str, messages: int, rounds: int, each: int) -> Sequence[Row]:
    """Return one row for a new and one for a long thread, for each agent and round, measured alternately."""
    with stand.server(kind, "long_thread") as server:
        rows: list[Row] = []
        for agent in AGENTS:
            long = asyncio.run(_thread(server, agent, messages // 2))
            for number in range(rounds + 1):
                new = asyncio.run(_thread(server, agent, 0))
                pair = [
                    asyncio.run(_row(server, agent, thread, size, each))
                    for thread, size in ((new, 0), (long, messages))
                ]
                rows += pair if number else []  # the first round warms up
        return rows


async def _thread(server: Server, agent: str, runs: int) -> str:
    """Return a thread in which this agent has already answered so many messages."""
    wire = await Wire.connect(server.port)
    thread = await threads.open_thread(wire)
    for _ in range(runs):
        await threads.run(wire, wire, thread, agent, 0)
    wire.close()
    return thread


async def _row(server: Server, agent: str, thread: str, messages: int, each: int) -> Row:
    loop = asyncio.get_running_loop()
    wire = await Wire.connect(server.port)
    watch, took = Watch(server), []
    for _ in range(each):
        begun = loop.time()
        await threads.run(wire, wire, thread, agent, 0)
        took.append((loop.time() - begun) * 1e3)
    server_ns, database_ns = watch.spent()
    wire.close()
    return Row(
        case=f"long thread, {agent}",
        server=server.name,
        size=messages,
        runs=each,
        took_ms_p50=percentile(took, 0.5),
        took_ms_p99=percentile(took, 0.99),
        server_cpu_us=None if server_ns is None else server_ns / 1e3 / each,
        database_cpu_us=None if database_ns is None else database_ns / 1e3 / each,
    )
