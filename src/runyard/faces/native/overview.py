"""The route that shows operators the state of the server."""

from starlette.responses import Response

from runyard.engine.queries.overview import StatusReport, waiting_ms
from runyard.faces.native import wire
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

router = Router("operate")


@router.get("/api/overview", response_model=wire.Overview)
async def overview(engine: EngineDep) -> Response:
    """Get the state of the server: queue, approvals, outbox, workers, streams, database."""
    return Json(_overview(await engine.overviews.report()))


def _overview(report: StatusReport) -> wire.Overview:
    found = report.all
    return wire.Overview(
        queued=found.queued,
        oldest_waiting_ms=waiting_ms(found),
        running=found.running,
        approvals_waiting=found.approvals,
        outbox=wire.OutboxState(
            runs_behind=found.behind,
            lag_ms=0 if found.behind_since is None else max(0, found.now - found.behind_since),
        ),
        workers=[
            wire.WorkerState(label=w.label, lease_left_ms=w.lease_until - found.now, runs=w.runs) for w in found.workers
        ],
        pod=wire.PodState(open_streams=report.streams, runs=report.active),
        database=wire.DatabaseState(
            version=found.version,
            latency_ms=round(report.latency_ms, 2),
            clock_skew_ms=report.clock_skew_ms,
            size_bytes=found.size,
            xmin_age=found.xmin_age,
        ),
    )
