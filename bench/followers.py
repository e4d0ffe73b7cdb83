"""Many followers of one run: all get all of it, and what the server needs for them.

The run waits for an approval, so that everybody is there before the first event."""

import asyncio
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from bench import usage
from bench.dialects import Threads
from bench.load import Follow
from bench.measure import measure_once
from bench.processes import Server
from bench.results import Row
from bench.size import Size
from bench.stand import Stand
from bench.steps import Step
from bench.wire import Wire


def steps(stand: Stand, size: Size) -> list[Step]:
    return [
        Step(f"{size.followers} followers, {kind}", partial(_follow, stand, kind, size)) for kind in stand.durable()
    ]


def _follow(stand: Stand, kind: str, size: Size) -> Sequence[Row]:
    with stand.server(kind, "followers") as server:
        run = asyncio.run(hold(server, size.tokens))
        job = Follow(port=server.port, clients=size.followers, run=run, tokens=size.tokens)
        row = measure_once("followers", server, job, go=lambda: asyncio.run(release(server)))
        return [replace(row, rss_mb=usage.peak_rss_mb(server.pid))]


async def hold(server: Server, tokens: int) -> str:
    """Start a run that waits for `release` before it writes its tokens."""
    wire = await Wire.connect(server.port)
    threads = Threads()
    run = await threads.post(wire, await threads.open_thread(wire), "held", tokens)
    wire.close()
    return run


async def release(server: Server) -> None:
    wire = await Wire.connect(server.port)
    [waiting] = (await wire.ask("GET", "/api/approvals"))["approvals"]
    await wire.ask("POST", f"/api/approvals/{waiting['approval_id']}", {"decision": "approve"})
    wire.close()
