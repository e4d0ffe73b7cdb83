"""The next message of a thread that already has thousands: what it costs the server and its database, against the first
message of a new thread. `answering` is an agent in Python. `thinking` is a model agent: each of its requests has the
newest earlier runs, at most 20. A thread of `SHORT` messages has all of these, so it shows what the length alone costs.
"""

import asyncio
from collections.abc import Sequence

from bench.cases.measure import Watch
from bench.client.dialects import Threads
from bench.client.wire import Wire
from bench.report.results import Row, percentile
from bench.servers.processes import Server
from bench.servers.stand import Stand

AGENTS = ("answering", "thinking")
SHORT = 40  # messages of the newest earlier runs
threads = Threads()


def long_threads(stand: Stand, kind: str, messages: int, rounds: int, each: int) -> Sequence[Row]:
    """Return one row for new threads, a short one and a long one, for each agent and round, measured alternately."""
    with stand.server(kind, "long_thread") as server:
        rows: list[Row] = []
        for agent in AGENTS:
            long = asyncio.run(_thread(server, agent, messages // 2))
            for number in range(rounds + 1):
                new = [asyncio.run(_thread(server, agent, 0)) for _ in range(each)]
                short = asyncio.run(_thread(server, agent, SHORT // 2))
                measured = [
                    asyncio.run(_row(server, agent, places, size))
                    for places, size in ((new, 0), ([short] * each, SHORT), ([long] * each, messages))
                ]
                rows += measured if number else []  # the first round warms up
        return rows


async def _thread(server: Server, agent: str, runs: int) -> str:
    """Return a thread in which this agent has already answered so many messages."""
    wire = await Wire.connect(server.port)
    thread = await threads.open_thread(wire)
    for _ in range(runs):
        await threads.run(wire, wire, thread, agent, 0)
    wire.close()
    return thread


async def _row(server: Server, agent: str, places: Sequence[str], messages: int) -> Row:
    """Return the cost of one message to each of these threads. They have so many messages."""
    loop = asyncio.get_running_loop()
    wire = await Wire.connect(server.port)
    watch, took = Watch(server), []
    for thread in places:
        begun = loop.time()
        await threads.run(wire, wire, thread, agent, 0)
        took.append((loop.time() - begun) * 1e3)
    server_ns, database_ns = watch.spent()
    wire.close()
    return Row(
        case=f"long thread, {agent}",
        server=server.name,
        size=messages,
        runs=len(places),
        took_ms_p50=percentile(took, 0.5),
        took_ms_p99=percentile(took, 0.99),
        server_cpu_us=None if server_ns is None else server_ns / 1e3 / len(places),
        database_cpu_us=None if database_ns is None else database_ns / 1e3 / len(places),
    )
