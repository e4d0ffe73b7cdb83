"""The ASGI app: faces mounted, errors in one shape, bodies bounded. No middleware touches the bytes of a stream."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, FastAPI
from starlette.responses import Response

from runyard.engine.engine import Engine
from runyard.web import problems
from runyard.web.answers import Json
from runyard.web.body import BodyLimit

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build(engine: Engine, routers: Sequence[APIRouter], *, version: str, max_body: int, lifespan: Lifespan) -> FastAPI:
    app = FastAPI(
        title="Runyard",
        version=version,
        summary="One run, one durable log, every client.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    problems.install(app)
    app.add_middleware(BodyLimit, limit=max_body)
    for router in routers:
        app.include_router(router)
    app.include_router(_health(engine, version))
    return app


def _health(engine: Engine, version: str) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/health", summary="Whether this process can serve: 200, or 503 while the database is away")
    @router.get("/api/health", include_in_schema=False)
    async def health() -> Response:
        await engine.views.ping()
        return Json({"status": "ok", "service": "runyard", "version": version})

    @router.get("/health/ready", summary="Whether to send requests here: 503 while it drains")
    async def ready() -> Response:
        await engine.views.ping()
        if engine.streams.is_cut or engine.streams.is_draining:
            return problems.Problem(503, "draining", "This process is shutting down.")
        return Json({"status": "ready", "service": "runyard"})

    return router
