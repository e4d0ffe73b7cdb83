"""Two pods on one Postgres: posted on the first, followed on the second.

Runs are paced, so that the second pod must be notified of events while they happen: `first_ms` is from the POST on the
one to the first event on the other, `delay_ms` from when a token was made there until it was read here."""

from collections.abc import Sequence
from functools import partial

from bench.cases.measure import measure_once
from bench.client.load import Talk
from bench.report.results import Row
from bench.servers.stand import POSTGRES, Stand
from bench.size import Size
from bench.steps import Step

TOKENS = 20


def steps(stand: Stand, size: Size) -> list[Step]:
    if POSTGRES not in stand.kinds:
        return []
    return [Step("posted on one pod, followed on another", partial(_cross, stand, size))]


def _cross(stand: Stand, size: Size) -> Sequence[Row]:
    with stand.server(POSTGRES, "pods") as one, stand.server(POSTGRES, "pods") as other:
        job = Talk(port=one.port, read_port=other.port, clients=1, seconds=size.seconds, agent="paced", tokens=TOKENS)
        return [measure_once("pods", other, job) for _ in range(size.crossings)]
