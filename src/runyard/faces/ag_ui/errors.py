"""Errors in the form of AG-UI: a refused request has the event RUN_ERROR as its body."""

from typing import Any

from starlette.responses import Response

from runyard.faces.ag_ui import wire
from runyard.faces.ag_ui.start import Waiting
from runyard.web.errors.problems import Problem, problem, shape
from runyard.web.responses import Json


def in_shape(found: Problem) -> Response:
    """Return a problem as an event."""
    return _response(found)


def waiting(error: Waiting) -> Response:
    """Return the refusal of a message while the agent waits, with what it waits for. A client that lost its state
    answers that."""
    return _response(problem(error), metadata={"outcome": error.outcome})


def _response(found: Problem, **more: Any) -> Response:
    event = vars(wire.RunErrorEvent(message=found.sentence, code=found.code, **more))
    shown = {name: value for name, value in event.items() if value is not None}
    return Json(shown, found.status_code, headers=found.kept_headers)


shape("/api/ag-ui/", in_shape, "RunErrorEvent")
