"""A second port for monitoring: /metrics and /health without a key."""

from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from runyard.engine.engine import Engine
from runyard.errors import RunyardError
from runyard.telemetry.metrics import MEDIA_TYPE, Metrics
from runyard.web.errors.problems import Problem, problem


class MetricsPort:
    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self._engine = engine
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._answer(scope["method"], scope["path"]))(scope, receive, send)

    async def _answer(self, method: str, path: str) -> Response:
        if method not in ("GET", "HEAD") or path not in ("/metrics", "/health"):
            return Problem(404, "not_found", "This port serves only /metrics and /health.")
        if path == "/metrics":
            await self._engine.overviews.refresh_gauges()
            return Response(self._metrics.render(), media_type=MEDIA_TYPE)
        try:
            await self._engine.views.ping()
        except RunyardError as error:
            return problem(error)
        return PlainTextResponse("ok\n")
