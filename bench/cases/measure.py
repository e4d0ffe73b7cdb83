"""One measurement: clients do a job, and the server and its database are watched meanwhile.

One client process is enough until it takes most of a core; then the same is measured again with twice as many, so that
the server is the bottleneck."""

from collections.abc import Callable

from bench.client.clients import Crowd
from bench.client.load import Follow, Heard, Job
from bench.report.results import Row, percentile
from bench.servers import usage
from bench.servers.processes import Server

BUSY = 0.8  # of a core
MOST_PROCESSES = 4


class Watch:
    """Processor time from now on, in nanoseconds: of a server, and of its database if that is a process; both with
    their child processes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._begin = self._look()

    def spent(self) -> tuple[int | None, int | None]:
        (server, database), (server_before, database_before) = self._look(), self._begin
        return (
            usage.spent_ns(server_before, server) if server_before and server else None,
            usage.spent_ns(database_before, database) if database_before and database else None,
        )

    def _look(self) -> tuple[dict[int, int], dict[int, int] | None]:
        database = self._server.database_pid
        return usage.family_cpu_ns(self._server.pid), usage.family_cpu_ns(database) if database else None


def measure(case: str, server: Server, job: Job) -> Row:
    processes = 1
    while True:
        row = measure_once(case, server, job, processes=processes)
        if (row.client_cpu or 0) < BUSY or processes >= min(MOST_PROCESSES, job.clients):
            return row
        processes *= 2


def measure_once(
    case: str, server: Server, job: Job, go: Callable[[], object] = lambda: None, processes: int = 1
) -> Row:
    """`go` starts what the clients wait for."""
    with Crowd(job, processes) as crowd:
        watch = Watch(server)
        crowd.go()
        go()
        crowd.wait()
        spent = watch.spent()
        return _row(case, server, job, crowd.heard(), spent)


def _row(case: str, server: Server, job: Job, heard: Heard, spent: tuple[int | None, int | None]) -> Row:
    seconds = (heard.ended - heard.begun) / 1e9
    firsts = [] if isinstance(job, Follow) else heard.firsts
    own, database = (None if ns is None else ns / 1e3 / (heard.events or heard.runs) for ns in spent)
    return Row(
        case=case,
        server=server.name,
        clients=job.clients,
        runs=heard.runs,
        events=heard.events,
        seconds=seconds,
        runs_s=heard.runs / seconds,
        events_s=heard.events / seconds if heard.events else None,
        first_ms_p50=_ms(percentile(firsts, 0.5)),
        first_ms_p99=_ms(percentile(firsts, 0.99)),
        delay_ms_p50=_ms(percentile(heard.delays, 0.5)),
        delay_ms_p99=_ms(percentile(heard.delays, 0.99)),
        server_cpu_us=own,
        database_cpu_us=database,
        client_cpu=heard.cpu / seconds,
        rss_mb=usage.family_rss_mb(server.pid),
    )


def _ms(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e6
