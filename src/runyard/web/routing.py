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

from runyard.engine.access import Caller
from runyard.errors import TooManyStreams
from runyard.web import problems
from runyard.web.access_log import ROUTE
from runyard.web.limits import StreamRoom


class Shortcut:
    """Answers the plain routes; what is for none of them goes on."""

    def __init__(self, routes: Sequence[BaseRoute], otherwise: ASGIApp, room: StreamRoom) -> None:
        plain = [route for route in routes if type(route) is Plain]
        self._plain = [
            (method, route.path_regex, route.endpoint, route.path, getattr(route, "is_stream", False))
            for route in plain
            for method in route.methods or ()
        ]
        self._room = room
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        for wanted, pattern, handler, route, is_stream in self._plain:
            if wanted == method and (found := pattern.match(path)):
                scope["path_params"] = found.groupdict()
                scope[ROUTE] = route
                request = Request(scope, receive)
                await (self._stream if is_stream else self._answer)(handler, request, send)
                return
        await self._otherwise(scope, receive, send)

    async def _stream(self, handler: "Handler", request: Request, send: Send) -> None:
        caller: Caller = request.scope[problems.CALLER]
        try:
            with self._room.taken(caller.key_id):
                await self._answer(handler, request, send)
        except TooManyStreams as error:
            await problems.answer(error, request.scope)(request.scope, request.receive, send)

    async def _answer(self, handler: "Handler", request: Request, send: Send) -> None:
        try:
            response = await handler(request)
        except Exception as error:
            response = problems.answer(error, request.scope)
        await response(request.scope, request.receive, send)


class Plain(Route):
    """A route that is answered without FastAPI; `is_stream` if its answers take a place for streams."""

    is_stream = False


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
    route = Plain(path, handler, methods=[method])
    route.is_stream = answers is Events
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
