"""Errors in the form of LangGraph's API: an object with `detail`, like those of FastAPI."""

from starlette.responses import Response

from runyard.faces.langgraph import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json


def in_shape(problem: Problem) -> Response:
    """Return a problem as an error of LangGraph's API. The SDKs read `detail` only if it is a text."""
    error = wire.ErrorDetail(detail=problem.sentence, code=problem.code)
    return Json(error, problem.status_code, headers=problem.kept_headers)


shape("/langgraph/", in_shape, "ErrorDetail")
