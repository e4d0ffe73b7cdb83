"""Errors in the form of LangGraph's API: an object with `detail`, like those of FastAPI."""

import msgspec
from starlette.responses import Response

from runyard.faces.langgraph import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json

KEPT = ("WWW-Authenticate", "Retry-After", "Allow")


def in_shape(problem: Problem) -> Response:
    """Return a problem as an error of LangGraph's API. The SDKs read `detail` only if it is a text."""
    said = msgspec.json.decode(bytes(problem.body))
    detail = said["detail"]
    if errors := said.get("errors"):
        detail = " ".join(f"{each['where'].partition('.')[2]}: {each['what']}".lstrip(": ") for each in errors)
    kept = {name: problem.headers[name] for name in KEPT if name in problem.headers}
    return Json(wire.ErrorDetail(detail=detail, code=said["code"]), problem.status_code, headers=kept)


shape("/langgraph/", in_shape, "ErrorDetail")
