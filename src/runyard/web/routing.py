"""Routes: a router whose endpoints document themselves, and fast routes that skip FastAPI's handling of a request.

FastAPI's own handling costs several times the work of the busiest routes. `Router.fast` therefore declares a plain
Starlette route, which `FastRoutes` finds before FastAPI sees the request. The same decorator adds a FastAPI route of
the same path, for the OpenAPI document alone.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.engine.access import Caller
from runyard.errors import TooManyStreams
from runyard.web.access_log import ROUTE
from runyard.web.body import OpenRoute, StrictRoute, refuse_other_parameters
from runyard.web.errors import problems
from runyard.web.limits.stream_slots import SLOTS, StreamSlots
from runyard.web.responses import Key

Handler = Callable[[Request], Awaitable[Response]]
SEQ = {"type": "string", "pattern": "^[0-9]{1,16}$"}
STREAM_PARAMETERS: Sequence[dict[str, Any]] = (
    {"name": "Last-Event-ID", "in": "header", "required": False, "schema": SEQ},
    {"name": "fromSeq", "in": "query", "required": False, "schema": SEQ},
    {"name": "after", "in": "query", "required": False, "schema": SEQ},
)
BYTES = {"type": "string", "format": "binary"}
NO_DESCRIPTION = "\f"  # FastAPI drops what follows a form feed


class EventStreamResponse(Response):
    """The type of streams in the OpenAPI document; `web.streaming.sse` writes them."""

    media_type = "text/event-stream"


class BytesResponse(Response):
    """The type of files in the OpenAPI document."""

    media_type = "application/octet-stream"


class FastRoute(Route):
    """A route that `FastRoutes` answers. `is_stream`: its responses count against the limits of open streams. `query`
    has the names of its query parameters; without it, the route accepts any."""

    def __init__(
        self, method: str, path: str, handler: Handler, is_stream: bool, query: frozenset[str] | None = None
    ) -> None:
        super().__init__(path, handler, methods=[method])
        self.methods = {method}  # Starlette adds HEAD to every GET
        self.is_stream = is_stream
        self.query = query


class Router(APIRouter):
    """The routes of one tag. The first paragraph of an endpoint's docstring is its summary in the OpenAPI document,
    the rest its description.

    Its routes refuse unknown query parameters. `is_open`: they ignore them, because clients of other protocols and
    probes send parameters that this server does not have."""

    def __init__(self, tag: str, *, is_open: bool = False) -> None:
        super().__init__(route_class=OpenRoute if is_open else StrictRoute, tags=[tag])
        self._tag = tag
        self._is_open = is_open

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        first, _, rest = (inspect.getdoc(endpoint) or endpoint.__name__).partition("\n\n")
        options["summary"] = " ".join(first.split()).removesuffix(".")
        options["description"] = rest or NO_DESCRIPTION
        super().add_api_route(path, endpoint, **options)

    def fast(
        self,
        method: Literal["GET", "POST"],
        path: str,
        *,
        is_stream: bool = False,
        is_counted: bool = True,
        or_json: bool = False,
        body: type[BaseModel] | None = None,
        status_code: int = 200,
        response_model: type[BaseModel] | None = None,
        parameters: Sequence[dict[str, Any]] | None = None,
        takes_key: bool | None = None,
        binary: Literal["request", "response"] | None = None,
        statuses: Sequence[int] = (),
    ) -> Callable[[Handler], Handler]:
        """Declare a fast route. Its handler reads the request by itself; `body` and `parameters` only document it.

        `or_json`: the response is a stream or JSON, as the request says. Without `is_counted`, the handler of a stream
        takes a slot only when it needs one (`counted`). Unless `parameters` says otherwise, a GET takes the parameters
        of a stream. A POST takes an Idempotency-Key unless `takes_key` is false. `binary`: the request or the response
        has the bytes of a file. `statuses` are further ones of its responses."""
        if parameters is None:
            parameters = STREAM_PARAMETERS if method == "GET" else ()
        response_class: type[Response] = BytesResponse if binary == "response" else JSONResponse
        responses: dict[int | str, dict[str, Any]] = {
            each: {"description": HTTPStatus(each).phrase} for each in statuses
        }
        if or_json:
            responses[200] = {"content": {"application/json": {}}}
        extra: dict[str, Any] = {"parameters": list(parameters)} if parameters else {}
        if binary == "request":
            extra["requestBody"] = {"required": True, "content": {"application/octet-stream": {"schema": BYTES}}}

        query = None if self._is_open else frozenset(each["name"] for each in parameters if each["in"] == "query")

        def declare(handler: Handler) -> Handler:
            self.routes.append(FastRoute(method, path, handler, is_stream and is_counted, query))
            self.add_api_route(
                path,
                _documented(handler, path, body, takes_key=method == "POST" and takes_key is not False),
                methods=[method],
                status_code=status_code,
                response_model=response_model,
                response_class=EventStreamResponse if is_stream else response_class,
                responses=responses or None,
                operation_id=f"{self._tag}_{handler.__name__}",
                openapi_extra=extra or None,
            )
            return handler

        return declare


def _documented(handler: Handler, path: str, body: type[BaseModel] | None, *, takes_key: bool) -> Callable[..., Any]:
    """Return a function that is never called: FastAPI documents the parameters in its signature."""

    async def documented() -> None: ...

    kind = inspect.Parameter.KEYWORD_ONLY
    taken = [inspect.Parameter(name, kind, annotation=str) for name in compile_path(path)[2]]
    if body is not None:
        taken.append(inspect.Parameter("body", kind, annotation=body))
    if takes_key:
        taken.append(inspect.Parameter("key", kind, annotation=Key, default=None))
    documented.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    documented.__doc__ = handler.__doc__
    return documented


def _first_part(path: str) -> str:
    """Return the first part of a path. No fast route has a parameter there."""
    return path[1:].partition("/")[0]


class FastRoutes:
    """Answers requests for fast routes; passes every other request on to `otherwise`."""

    def __init__(self, routes: Sequence[BaseRoute], otherwise: ASGIApp, slots: StreamSlots) -> None:
        self._fast: dict[tuple[str, str], list[FastRoute]] = {}  # by method and the first part of the path
        for route in routes:
            if isinstance(route, FastRoute):
                for method in route.methods or ():
                    self._fast.setdefault((method, _first_part(route.path)), []).append(route)
        self._slots = slots
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        for route in self._fast.get((scope["method"], _first_part(path)), ()):
            if found := route.path_regex.match(path):
                scope["path_params"] = found.groupdict()
                scope[ROUTE] = route.path
                scope[SLOTS] = self._slots
                request = Request(scope, receive)
                await (self._stream if route.is_stream else self._answer)(route, request, send)
                return
        await self._otherwise(scope, receive, send)

    async def _stream(self, route: FastRoute, request: Request, send: Send) -> None:
        caller: Caller = request.scope[problems.CALLER]
        try:
            with self._slots.taken(caller.key_id):
                await self._answer(route, request, send)
        except TooManyStreams as error:
            await problems.answer(error, request.scope)(request.scope, request.receive, send)

    async def _answer(self, route: FastRoute, request: Request, send: Send) -> None:
        try:
            if request.scope["query_string"] and route.query is not None:
                refuse_other_parameters(request.query_params, route.query)
            response = await route.endpoint(request)
        except Exception as error:
            response = problems.answer(error, request.scope)
        await response(request.scope, request.receive, send)
