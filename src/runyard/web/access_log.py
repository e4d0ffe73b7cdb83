"""One line for every request that was answered: what route, by whom, with which status, in how many milliseconds.

The route is named as it is declared, never as it was asked for: paths hold names that clients made up, and queries may
hold anything. Every request gets an id, which is in its answer (`X-Request-ID`) and in all lines that are written on
its behalf, also those of a run that is claimed as it is accepted. Ids of clients are not taken over.
"""

from secrets import token_hex
from time import perf_counter

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.engine.access import Caller
from runyard.ids import is_id
from runyard.web.problems import CALLER

log = structlog.get_logger()

ROUTE = "runyard.route"  # where a request's scope says which plain route it is for
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

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            log.info("request.finished", status=status, ms=round((perf_counter() - began) * 1000, 1), **_about(scope))


def _about(scope: Scope) -> dict[str, str]:
    method = scope["method"]
    told = {"method": method if method in METHODS else "other", "route": _route(scope)}
    caller: Caller | None = scope.get(CALLER)
    if caller is not None and caller.key_id is not None:
        told |= {"owner": caller.owner, "key": caller.key_id}
    run_id = scope.get("path_params", {}).get("run_id", "")
    return {**told, "run_id": run_id} if is_id(run_id) else told


def _route(scope: Scope) -> str:
    plain: str | None = scope.get(ROUTE)
    return plain or str(getattr(scope.get("route"), "path", "none"))
