"""Turns errors into responses: one table of statuses, one shape (application/problem+json).

A response never repeats what the client sent.
"""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from math import ceil
from re import Pattern
from typing import Any, NamedTuple

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path
from starlette.types import Scope

from runyard.engine.access import Caller
from runyard.errors import (
    BadRequest,
    Conflict,
    Gone,
    Invalid,
    KeyRequired,
    NotFound,
    RunyardError,
    ScopeMissing,
    TooLarge,
    TooMany,
    Unavailable,
    Unreadable,
    WrongType,
)
from runyard.telemetry.logger import get_logger

log = get_logger()

CALLER = "runyard.caller"  # the key of the caller in a request's scope
REFUSED = "runyard.refused"  # the key of the function that counts refusals by a limit

# The first class that matches decides.
STATUS: Sequence[tuple[type[RunyardError], int]] = (
    (KeyRequired, 401),
    (ScopeMissing, 403),
    (NotFound, 404),
    (Gone, 410),
    (TooLarge, 413),
    (WrongType, 415),
    (BadRequest, 400),
    (Invalid, 422),
    (Conflict, 409),
    (TooMany, 429),
    (Unavailable, 503),
    (Unreadable, 500),
)
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}


CLIENT_GONE = 499  # appears only in the access log
NO_EXTRA: Mapping[str, Any] = {}
KEPT = ("WWW-Authenticate", "Retry-After", "Allow")  # headers that every shape of a problem has


class Problem(Response):
    media_type = "application/problem+json"
    code = ""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[dict[str, Any]] = (),
        extra: Mapping[str, Any] = NO_EXTRA,
    ) -> None:
        title = HTTPStatus(status).phrase
        body = {
            "type": f"urn:runyard:{code}",
            "title": title,
            "status": status,
            "code": code,
            "detail": detail,
            **extra,
        }
        if errors:
            body["errors"] = errors
        super().__init__(msgspec.json.encode(body), status, HEADERS.get(status))
        self.code = code
        self.detail = detail
        self.errors = [(each["where"].partition(".")[2], each["what"]) for each in errors]

    @property
    def sentence(self) -> str:
        """The invalid fields and what they need, or the detail if no field is invalid."""
        fields = [f"{where}: {what}" if where else what for where, what in self.errors]
        return " ".join(fields) or self.detail

    @property
    def kept_headers(self) -> dict[str, str]:
        """The headers that a response in another shape keeps."""
        return {name: self.headers[name] for name in KEPT if name in self.headers}


class Shape(NamedTuple):
    """Another form of errors. `schema` is its name in the OpenAPI document, `kind` its media type."""

    how: Callable[[Problem], Response]
    schema: str
    kind: str = "application/json"


SHAPED: dict[str, Shape] = {}
_TEMPLATES: list[tuple[Pattern[str], Shape]] = []


def shape(path: str, how: Callable[[Problem], Response], schema: str, kind: str = "application/json") -> None:
    """Give the errors of a route another shape, including errors that are found before routing. A path may have
    parameters. Any other path that ends with a slash matches every path under it."""
    SHAPED[path] = Shape(how, schema, kind)
    if "{" in path:
        _TEMPLATES.append((compile_path(path)[0], SHAPED[path]))


def shape_of(path: str) -> Shape | None:
    """Return the shape of errors of this path, or None for a problem."""
    if (exact := SHAPED.get(path)) is not None:
        return exact
    for pattern, shape in _TEMPLATES:
        if pattern.match(path):
            return shape
    return next((shape for under, shape in SHAPED.items() if under.endswith("/") and path.startswith(under)), None)


def path_of(scope: Scope) -> str:
    """Return the path without the prefix under which the app is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


def _extra(error: RunyardError) -> Mapping[str, Any]:
    return {"snapshot": error.snapshot} if isinstance(error, Gone) else NO_EXTRA


def problem(error: RunyardError) -> Problem:
    for kind, status in STATUS:
        if isinstance(error, kind):
            answer = Problem(status, error.code, error.message, extra=_extra(error))
            if isinstance(error, TooMany):
                answer.headers["Retry-After"] = str(max(1, ceil(error.retry_after)))
            return answer
    return Problem(500, "internal", "An unexpected error occurred in the server.")


def install(app: FastAPI) -> None:
    async def handle(request: Request, error: Exception) -> Response:
        return answer(error, request.scope)

    for kind in (RunyardError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def answer(error: Exception, scope: Scope) -> Response:
    """Return the response for any error. Unexpected errors are logged by class, with the owner and the key."""
    response = plain_answer(error, scope)
    shape = shape_of(path_of(scope))
    return response if shape is None or not isinstance(response, Problem) else shape.how(response)


def plain_answer(error: Exception, scope: Scope) -> Response:
    """Return the response for any error, without the shape of its path."""
    if isinstance(error, RunyardError):
        return _known(error, scope)
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return _http(error)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=CLIENT_GONE)
    log.error("request.crashed", error=type(error).__name__, **_caller(scope))
    return Problem(500, "internal", "An unexpected error occurred in the server.")


def _known(error: RunyardError, scope: Scope) -> Response:
    answer = problem(error)
    if answer.status_code in (413, 429) and (refused := scope.get(REFUSED)) is not None:
        refused(error.code)
    if answer.status_code >= 500:
        log.error("request.failed", code=error.code, status=answer.status_code, **_caller(scope))
    return answer


def _caller(scope: Scope) -> dict[str, str | None]:
    caller: Caller | None = scope.get(CALLER)
    return {} if caller is None else {"owner": caller.owner, "key": caller.key_id}


def _invalid(error: RequestValidationError) -> Response:
    """List the invalid fields and what they need. Pydantic's `input`, which repeats the request, is left out."""
    errors = [{"where": ".".join(str(part) for part in e["loc"]), "what": e["msg"]} for e in error.errors()]
    return Problem(422, "invalid", "The request is invalid; `errors` says where.", errors)


def _http(error: HTTPException) -> Response:
    code = HTTPStatus(error.status_code).name.lower()
    answer = Problem(error.status_code, code, HTTPStatus(error.status_code).description or str(error.detail))
    for name, value in (error.headers or {}).items():
        answer.headers[name] = value
    return answer
