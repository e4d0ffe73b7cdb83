"""The routes for probes and scrapers: health, readiness, metrics."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from runyard.telemetry.metrics import MEDIA_TYPE
from runyard.web.context import EngineDep, context_of
from runyard.web.errors.problems import Problem
from runyard.web.responses import Json
from runyard.web.routing import Router

router = Router("health", is_open=True)
metrics_router = Router("metrics", is_open=True)


@router.get("/health")
@router.get("/api/health", include_in_schema=False)
async def health(request: Request, engine: EngineDep) -> Response:
    """Liveness: 200, or 503 while the database is unavailable."""
    await engine.views.ping()
    return Json({"status": "ok", "service": "runyard", "version": request.app.version})


@router.get("/health/ready")
async def ready(request: Request, engine: EngineDep) -> Response:
    """Readiness: 503 while this process drains, or while the database is unavailable or full."""
    await engine.views.check_ready()
    if context_of(request).is_stopping:
        return Problem(503, "draining", "This process is shutting down.")
    return Json({"status": "ready", "service": "runyard"})


@metrics_router.get("/metrics", response_class=PlainTextResponse)
async def read_metrics(request: Request, engine: EngineDep) -> Response:
    """Metrics of this process since it started, for Prometheus; docs/metrics.md lists them."""
    await engine.overviews.refresh_gauges()
    return Response(context_of(request).metrics.render(), media_type=MEDIA_TYPE)
