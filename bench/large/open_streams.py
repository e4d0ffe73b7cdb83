"""Ten thousand open streams: their memory, their CPU while idle, and how long one event takes to reach all of them.

Every stream is an open file of the server and one of a client; the limit is raised to the allowed maximum, and where
that is not far enough, fewer streams are opened and the report says so."""

import asyncio
import resource
import time
from collections.abc import Sequence

from bench.cases.gates import Queued
from bench.cases.measure import Watch
from bench.client.clients import Crowd
from bench.client.load import Follow
from bench.report.results import Row, percentile
from bench.servers import usage
from bench.servers.stand import POSTGRES, Stand

SPARE_FILES = 500
CLIENTS = 2


def possible(wanted: int) -> int:
    """How many streams the limit of open files allows, after raising it. Processes that are started inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted + SPARE_FILES if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return min(wanted, allowed - SPARE_FILES)


def open_streams(stand: Stand, streams: int, idle_seconds: float) -> Sequence[Row]:
    # one address opens all of them, and one more that lets the run begin
    with stand.server(POSTGRES, "open", max_connections_per_address=streams + SPARE_FILES) as server:
        gate = Queued()
        run = asyncio.run(gate.hold(server.port, tokens=1))
        job = Follow(port=server.port, clients=streams, run=run, tokens=1)
        with Crowd(job, CLIENTS) as crowd:
            idle = Watch(server)
            time.sleep(idle_seconds)
            spent_idle, _ = idle.spent()
            watch = Watch(server)
            crowd.go()
            asyncio.run(gate.release(server.port))
            crowd.wait()
            spent, _ = watch.spent()
            heard = crowd.heard()
        return [
            Row(
                case="open streams",
                server=POSTGRES,
                clients=streams,
                events=heard.events,
                seconds=(heard.ended - heard.begun) / 1e9,
                delay_ms_p50=_ms(percentile(heard.delays, 0.5)),
                delay_ms_p99=_ms(percentile(heard.delays, 0.99)),
                server_cpu_us=None if spent is None else spent / 1e3 / heard.events,
                idle_cpu=None if spent_idle is None else spent_idle / 1e9 / idle_seconds,
                rss_mb=usage.peak_rss_mb(server.pid),
            )
        ]


def _ms(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e6
