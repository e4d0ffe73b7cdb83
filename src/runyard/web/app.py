"""The ASGI app: faces mounted, errors in one shape, bodies bounded. No middleware touches the bytes of a stream."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, FastAPI
from starlette.responses import PlainTextResponse, Response

from runyard.engine.engine import Engine
from runyard.telemetry.metrics import MEDIA_TYPE, Metrics
from runyard.web import problems
from runyard.web.answers import Json
from runyard.web.body import BodyLimit, StrictRoute

Face = Callable[[APIRouter], None]
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build(
    engine: Engine, faces: Sequence[Face], *, metrics: Metrics, version: str, max_body: int, lifespan: Lifespan
) -> FastAPI:
    app = FastAPI(
        title="Runyard",
        version=version,
        summary="One run, one durable log, every client.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat what the client sent
        lifespan=lifespan,
    )
    problems.install(app)
    app.add_middleware(BodyLimit, limit=max_body)
    app.router.route_class = StrictRoute
    for add_routes in faces:
        add_routes(app.router)
    _add_health(app.router, engine, version)
    _add_metrics(app.router, metrics)
    return app


def _add_health(router: APIRouter, engine: Engine, version: str) -> None:
    @router.get(
        "/health", tags=["health"], summary="Whether this process can serve: 200, or 503 while the database is away"
    )
    @router.get("/api/health", include_in_schema=False)
    async def health() -> Response:
        await engine.views.ping()
        return Json({"status": "ok", "service": "runyard", "version": version})

    @router.get("/health/ready", tags=["health"], summary="Whether to send requests here: 503 while it drains")
    async def ready() -> Response:
        await engine.views.ping()
        if engine.streams.is_cut or engine.streams.is_draining:
            return problems.Problem(503, "draining", "This process is shutting down.")
        return Json({"status": "ready", "service": "runyard"})


def _add_metrics(router: APIRouter, metrics: Metrics) -> None:
    @router.get(
        "/metrics",
        tags=["metrics"],
        summary="What this process has counted since it started, for Prometheus; docs/metrics.md has the list",
        response_class=PlainTextResponse,
    )
    async def read_metrics() -> Response:
        return Response(metrics.render(), media_type=MEDIA_TYPE)
