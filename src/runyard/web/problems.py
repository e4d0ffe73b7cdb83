"""Errors on the wire: one table, one shape (application/problem+json), and never a word of what the client sent."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from runyard.errors import BadRequest, Conflict, Invalid, NotFound, RunyardError, TooLarge, Unavailable, Unreadable

log = structlog.get_logger()

# The first class that fits counts.
STATUS: Sequence[tuple[type[RunyardError], int]] = (
    (NotFound, 404),
    (TooLarge, 413),
    (BadRequest, 400),
    (Invalid, 422),
    (Conflict, 409),
    (Unavailable, 503),
    (Unreadable, 500),
)
RETRY_AFTER_SECONDS = "1"


class Problem(Response):
    media_type = "application/problem+json"

    def __init__(self, status: int, code: str, detail: str, errors: Sequence[dict[str, Any]] = ()) -> None:
        title = HTTPStatus(status).phrase
        body = {"type": f"urn:runyard:{code}", "title": title, "status": status, "code": code, "detail": detail}
        if errors:
            body["errors"] = errors
        headers = {"Retry-After": RETRY_AFTER_SECONDS} if status == 503 else None
        super().__init__(msgspec.json.encode(body), status, headers)


def problem(error: RunyardError) -> Problem:
    for kind, status in STATUS:
        if isinstance(error, kind):
            return Problem(status, error.code, error.message)
    return Problem(500, "internal", "Something went wrong on our side.")


def install(app: FastAPI) -> None:
    async def handle(request: Request, error: Exception) -> Response:
        return answer(error)

    for kind in (RunyardError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def answer(error: Exception) -> Response:
    """What the client is told of any error; what was not foreseen is logged by name."""
    if isinstance(error, RunyardError):
        return _ours(error)
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return _http(error)
    log.error("request.crashed", error=type(error).__name__)
    return Problem(500, "internal", "Something went wrong on our side.")


def _ours(error: RunyardError) -> Response:
    answer = problem(error)
    if answer.status_code >= 500:
        log.error("request.failed", code=error.code, status=answer.status_code)
    return answer


def _invalid(error: RequestValidationError) -> Response:
    """Where the request is wrong and what was expected there; pydantic's `input` is left out."""
    errors = [{"where": ".".join(str(part) for part in e["loc"]), "what": e["msg"]} for e in error.errors()]
    return Problem(422, "invalid", "The request does not fit; `errors` says where.", errors)


def _http(error: HTTPException) -> Response:
    code = HTTPStatus(error.status_code).name.lower()
    answer = Problem(error.status_code, code, HTTPStatus(error.status_code).description or str(error.detail))
    for name, value in (error.headers or {}).items():
        answer.headers[name] = value
    return answer
