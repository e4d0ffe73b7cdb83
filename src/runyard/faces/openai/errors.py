"""Errors in the shape of OpenAI's API.

The client library repeats a request after 409 and 5xx. A request that may have started a run must not be repeated by
itself, so such errors carry `x-should-retry: false`. Errors that come before a run (429, most 503) may be repeated.
"""

import msgspec
from starlette.responses import Response

from runyard.faces.openai import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json

TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
KEPT = ("WWW-Authenticate", "Retry-After", "Allow")
NO_RETRY = {"x-should-retry": "false"}
STILL_RUNNING = "still_running"


def in_shape(problem: Problem) -> Response:
    """Return a problem as an error of OpenAI's API."""
    said = msgspec.json.decode(bytes(problem.body))
    status, errors = problem.status_code, said.get("errors") or []
    message, param = said["detail"], None
    if errors:
        param = errors[0]["where"].partition(".")[2] or None
        message = " ".join(_sentence(each["where"].partition(".")[2], each["what"]) for each in errors)
    kind = TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
    kept = {name: problem.headers[name] for name in KEPT if name in problem.headers}
    if status in (409, 500) or problem.code == STILL_RUNNING:
        kept |= NO_RETRY
    error = wire.Error(message=message, type=kind, param=param, code=said["code"])
    return Json(wire.ErrorResponse(error=error), status, headers=kept)


def _sentence(where: str, what: str) -> str:
    return f"{where}: {what}" if where else what


shape("/v1/", in_shape, "ErrorResponse")
