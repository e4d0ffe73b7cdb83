"""The ASGI app: authentication and limits before everything, then fast routes, then FastAPI with all other routes.

No middleware touches the bytes of a stream.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.web import auth, health, page
from runyard.web.access_log import AccessLog
from runyard.web.auth import Guard
from runyard.web.body import UPLOAD, BodyLimit
from runyard.web.context import CONTEXT, Context
from runyard.web.errors import openapi, problems
from runyard.web.fallback import FallbackResponse
from runyard.web.limits.rates import Rates
from runyard.web.limits.stream_slots import StreamSlots
from runyard.web.routing import FastRoutes
from runyard.web.streaming.direct_writes import DIRECT

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class Limits(NamedTuple):
    """Bytes of a body and of a file, requests per second and key (None: unlimited), open streams of this process and
    of a key."""

    body: int
    file: int
    rate_per_key: float | None
    streams: int
    streams_per_key: int


class App(FastAPI):
    """FastAPI behind a guard, limits and the fast routes."""

    def open_door(self, context: Context, limits: Limits, *, keys: bool, access_log: bool) -> None:
        slots = StreamSlots(limits.streams, limits.streams_per_key)
        fast = FastRoutes(self.router.routes, super().__call__, slots)
        rates = None if limits.rate_per_key is None else Rates(limits.rate_per_key)
        access = context.engine.access if keys else None
        door: ASGIApp = Guard(
            BodyLimit(fast, limits.body, {UPLOAD: limits.file}), access, rates, context.metrics.refused
        )
        door = FallbackResponse(door, lambda: context.is_stopping)
        self._door = AccessLog(door) if access_log else door
        self._context = context
        self._needs_keys = keys

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, with the errors of each operation and the scope that it needs."""
        if self.openapi_schema is None:
            document = super().openapi()
            openapi.describe(document, self._needs_keys, frozenset(auth.OPEN))
            if self._needs_keys:
                auth.describe(document)
        return super().openapi()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
        else:
            scope[CONTEXT] = self._context
            try:
                await self._door(scope, receive, send)
            finally:
                scope.pop(DIRECT, None)  # it refers to the request, and the request to its scope


def build(
    context: Context,
    faces: Sequence[APIRouter],
    *,
    keys: bool,
    version: str,
    limits: Limits,
    access_log: bool,
    lifespan: Lifespan,
) -> FastAPI:
    """Build the app. `keys`: requests need an API key. `access_log`: every request is logged."""
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
    for router in (*faces, health.router):
        app.router.routes.extend(router.routes)
    page.add_routes(app.router)
    app.router.routes.extend(health.metrics_router.routes)
    app.open_door(context, limits, keys=keys, access_log=access_log)
    return app
