"""The ASGI app: a guard before everything, faces mounted, errors in one shape, bodies bounded. No middleware touches
the bytes of a stream.

The routes that are used all the time (`web.routing.add_fast`) are answered before FastAPI's own handling of a request
begins, which costs several times what they do themselves; behind them stands everything else.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.engine.access import Access
from runyard.engine.engine import Engine
from runyard.telemetry.metrics import MEDIA_TYPE, Metrics
from runyard.web import auth, declared, page, problems
from runyard.web.access_log import AccessLog
from runyard.web.auth import Guard
from runyard.web.body import BodyLimit, StrictRoute
from runyard.web.last_resort import LastResort
from runyard.web.limits import Rates, StreamRoom
from runyard.web.responses import Json
from runyard.web.routing import Shortcut

Face = Callable[[APIRouter], None]
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class Limits(NamedTuple):
    """Bytes of a body, requests of a key in a second (None: any number), streams at this process, and of a key."""

    body: int
    rate_per_key: float | None
    streams: int
    streams_per_key: int


class App(FastAPI):
    """FastAPI behind a guard, with a short way to the plain routes."""

    def open_door(
        self,
        access: Access | None,
        limits: Limits,
        metrics: Metrics,
        access_log: bool,
        is_stopping: Callable[[], bool],
    ) -> None:
        room = StreamRoom(limits.streams, limits.streams_per_key)
        plain = Shortcut(self.router.routes, super().__call__, room)
        rates = None if limits.rate_per_key is None else Rates(limits.rate_per_key)
        door: ASGIApp = Guard(BodyLimit(plain, limits.body), access, rates, metrics.refused)
        door = LastResort(door, is_stopping)
        self._door = AccessLog(door) if access_log else door
        self._needs_keys = access is not None

    def openapi(self) -> dict[str, Any]:
        """With the errors of each operation, and the scope that it needs, where keys are needed."""
        if self.openapi_schema is None:
            document = super().openapi()
            declared.describe(document, self._needs_keys, frozenset(auth.OPEN))
            if self._needs_keys:
                auth.describe(document)
        return super().openapi()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
        else:
            await self._door(scope, receive, send)


def build(
    engine: Engine,
    faces: Sequence[Face],
    *,
    keys: bool,
    metrics: Metrics,
    version: str,
    limits: Limits,
    access_log: bool,
    lifespan: Lifespan,
) -> FastAPI:
    """`keys`: who asks needs an API key. `access_log`: every request leaves a line."""
    app = App(
        title="Runyard",
        version=version,
        summary="One run, one durable log, every client.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat what the client sent
        lifespan=lifespan,
    )
    problems.install(app)
    app.router.route_class = StrictRoute
    for add_routes in faces:
        add_routes(app.router)
    _add_health(app.router, engine, version)
    page.add_routes(app.router)
    _add_metrics(app.router, engine, metrics)
    app.open_door(
        engine.access if keys else None,
        limits,
        metrics,
        access_log,
        lambda: engine.streams.is_cut or engine.streams.is_draining,
    )
    return app


def _add_health(router: APIRouter, engine: Engine, version: str) -> None:
    @router.get(
        "/health", tags=["health"], summary="Whether this process can serve: 200, or 503 while the database is away"
    )
    @router.get("/api/health", include_in_schema=False)
    async def health() -> Response:
        await engine.views.ping()
        return Json({"status": "ok", "service": "runyard", "version": version})

    @router.get(
        "/health/ready",
        tags=["health"],
        summary="Whether to send requests here: 503 while it drains, or while the database is away or full",
    )
    async def ready() -> Response:
        await engine.views.ready()
        if engine.streams.is_cut or engine.streams.is_draining:
            return problems.Problem(503, "draining", "This process is shutting down.")
        return Json({"status": "ready", "service": "runyard"})


def _add_metrics(router: APIRouter, engine: Engine, metrics: Metrics) -> None:
    @router.get(
        "/metrics",
        tags=["metrics"],
        summary="What this process has counted since it started, for Prometheus; docs/metrics.md has the list",
        response_class=PlainTextResponse,
    )
    async def read_metrics() -> Response:
        await engine.overviews.refresh_gauges()
        return Response(metrics.render(), media_type=MEDIA_TYPE)
