"""Errors in the shape of OpenAI's API.

The client library repeats a request after 409 and 5xx. A request that may have started a run must not be repeated by
itself, so such errors carry `x-should-retry: false`. Errors that come before a run (429, most 503) may be repeated.
"""

from starlette.responses import Response

from runyard.faces.openai import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json

TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
NO_RETRY = {"x-should-retry": "false"}
STILL_RUNNING = "still_running"


def in_shape(problem: Problem) -> Response:
    """Return a problem as an error of OpenAI's API."""
    status, headers = problem.status_code, problem.kept_headers
    param = problem.errors[0][0] or None if problem.errors else None
    kind = TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
    if status in (409, 500) or problem.code == STILL_RUNNING:
        headers |= NO_RETRY
    error = wire.Error(message=problem.sentence, type=kind, param=param, code=problem.code)
    return Json(wire.ErrorResponse(error=error), status, headers=headers)


shape("/v1/", in_shape, "ErrorResponse")
