"""Logs one line per request: route, owner, key, status and milliseconds.

The line has the route as it is declared, never the requested path or query, which may hold content. Every request gets
an id. The id is in the response (`X-Request-ID`) and in all log lines that the request causes, including those of a
run that is claimed when it is accepted. Ids that clients send are ignored.
"""

from secrets import token_hex
from time import perf_counter

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.base.ids import is_id
from runyard.engine.access import Caller
from runyard.telemetry.logger import get_logger
from runyard.web.errors.problems import CALLER

log = get_logger()

ROUTE = "runyard.route"  # the key of the fast route's path in a request's scope
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
ID_BYTES = 8


class AccessLog:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 0
        request_id = token_hex(ID_BYTES)
        structlog.contextvars.bind_contextvars(request_id=request_id)
        header = (b"x-request-id", request_id.encode())

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            log.info("request.finished", status=status, ms=round((perf_counter() - began) * 1000, 1), **_about(scope))


def _about(scope: Scope) -> dict[str, str]:
    method = scope["method"]
    fields = {"method": method if method in METHODS else "other", "route": route_of(scope)}
    caller: Caller | None = scope.get(CALLER)
    if caller is not None and caller.key_id is not None:
        fields |= {"owner": caller.owner, "key": caller.key_id}
    run_id = scope.get("path_params", {}).get("run_id", "")
    return {**fields, "run_id": run_id} if is_id(run_id) else fields


def route_of(scope: Scope) -> str:
    """Return the path of the route that answers, as it is declared, or `none`."""
    plain: str | None = scope.get(ROUTE)
    return plain or str(getattr(scope.get("route"), "path", "none"))
