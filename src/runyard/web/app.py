"""The ASGI app: faces mounted, errors in one shape, bodies bounded. No middleware touches the bytes of a stream."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, FastAPI
from starlette.responses import Response

from runyard.engine.engine import Engine
from runyard.web import problems
from runyard.web.answers import Json
from runyard.web.body import BodyLimit, StrictRoute

Face = Callable[[APIRouter], None]
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build(engine: Engine, faces: Sequence[Face], *, version: str, max_body: int, lifespan: Lifespan) -> FastAPI:
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
