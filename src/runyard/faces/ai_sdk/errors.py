"""Errors in the form that the AI SDK shows: `error.message` is the body of the response, so the body is a sentence."""

import msgspec
from starlette.responses import PlainTextResponse, Response

from runyard.web.errors.problems import Problem, shape

KEPT = ("WWW-Authenticate", "Retry-After", "Allow")
PATH = "/api/ai/"


def in_shape(problem: Problem) -> Response:
    """Return a problem as a sentence. The header `Runyard-Error` has its code, for programs."""
    said = msgspec.json.decode(bytes(problem.body))
    message = said["detail"]
    if errors := said.get("errors"):
        message = " ".join(f"{each['where'].partition('.')[2]}: {each['what']}".lstrip(": ") for each in errors)
    kept = {name: problem.headers[name] for name in KEPT if name in problem.headers}
    return PlainTextResponse(message, problem.status_code, {**kept, "Runyard-Error": said["code"]})


shape(PATH, in_shape, "Sentence", "text/plain")
