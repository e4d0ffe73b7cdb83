"""Errors in the form that the AI SDK shows: `error.message` is the body of the response, so the body is a sentence."""

from starlette.responses import PlainTextResponse, Response

from runyard.web.errors.problems import Problem, shape

PATH = "/api/ai/"


def in_shape(problem: Problem) -> Response:
    """Return a problem as a sentence. The header `Runyard-Error` has its code, for programs."""
    headers = {**problem.kept_headers, "Runyard-Error": problem.code}
    return PlainTextResponse(problem.sentence, problem.status_code, headers)


shape(PATH, in_shape, "Sentence", "text/plain")
