"""Routes that are used all the time: answered by a plain Starlette route, documented by FastAPI.

FastAPI's own handling of a request costs several times what these routes do themselves. So the handler is a plain
Starlette route, which `Shortcut` finds before FastAPI is asked; a FastAPI route of the same path stands behind it for
the OpenAPI document alone.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.web import problems


class Shortcut:
    """Answers the plain routes; what is for none of them goes on."""

    def __init__(self, routes: Sequence[BaseRoute], otherwise: ASGIApp) -> None:
        plain = [route for route in routes if type(route) is Route]
        self._plain = [(method, route.path_regex, route.endpoint) for route in plain for method in route.methods or ()]
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        for wanted, pattern, handler in self._plain:
            if wanted == method and (found := pattern.match(path)):
                scope["path_params"] = found.groupdict()
                await self._answer(handler, Request(scope, receive), send)
                return
        await self._otherwise(scope, receive, send)

    async def _answer(self, handler: "Handler", request: Request, send: Send) -> None:
        try:
            response = await handler(request)
        except Exception as error:
            response = problems.answer(error, request.scope)
        await response(request.scope, request.receive, send)


class Events(Response):
    media_type = "text/event-stream"


Handler = Callable[[Request], Awaitable[Response]]
SEQ = {"type": "string", "pattern": "^[0-9]{1,16}$"}
STREAM_PARAMETERS = [
    {"name": "Last-Event-ID", "in": "header", "required": False, "schema": SEQ},
    {"name": "fromSeq", "in": "query", "required": False, "schema": SEQ},
    {"name": "after", "in": "query", "required": False, "schema": SEQ},
]


def add_fast(
    router: APIRouter,
    method: str,
    path: str,
    handler: Handler,
    *,
    tag: str,
    summary: str,
    documented: Callable[..., Any],
    status: int = 200,
    response: Any = None,
    answers: type[Response] = JSONResponse,
    parameters: Sequence[dict[str, Any]] = (),
) -> None:
    """`documented` is a function whose signature says what the handler takes; it is never called."""
    route = Route(path, handler, methods=[method])
    route.methods = {method}  # Starlette adds HEAD to every GET
    router.routes.append(route)
    router.add_api_route(
        path,
        documented,
        methods=[method],
        status_code=status,
        response_model=response,
        response_class=answers,
        tags=[tag],
        summary=summary,
        operation_id=f"{tag}_{handler.__name__}",
        openapi_extra={"parameters": list(parameters)} if parameters else None,
    )


def add_stream(router: APIRouter, path: str, handler: Handler, *, tag: str, summary: str) -> None:
    """A GET that answers with server-sent events."""

    async def documented(run_id: str) -> None: ...

    add_fast(
        router,
        "GET",
        path,
        handler,
        tag=tag,
        summary=summary,
        documented=documented,
        answers=Events,
        parameters=STREAM_PARAMETERS,
    )
