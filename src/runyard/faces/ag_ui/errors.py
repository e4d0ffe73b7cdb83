"""Errors in the form of AG-UI: a refused request has the event RUN_ERROR as its body."""

from starlette.responses import Response

from runyard.faces.ag_ui import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json


def in_shape(problem: Problem) -> Response:
    """Return a problem as an event."""
    event = wire.RunErrorEvent(message=problem.sentence, code=problem.code)
    return Json(event, problem.status_code, headers=problem.kept_headers)


shape("/api/ag-ui/", in_shape, "RunErrorEvent")
