"""Errors in the form of AG-UI: a refused request has the event RUN_ERROR as its body."""

import msgspec
from starlette.responses import Response

from runyard.faces.ag_ui import wire
from runyard.web.errors.problems import Problem, shape
from runyard.web.responses import Json

KEPT = ("WWW-Authenticate", "Retry-After", "Allow")


def in_shape(problem: Problem) -> Response:
    """Return a problem as an event."""
    said = msgspec.json.decode(bytes(problem.body))
    message = said["detail"]
    if errors := said.get("errors"):
        message = " ".join(f"{each['where'].partition('.')[2]}: {each['what']}".lstrip(": ") for each in errors)
    kept = {name: problem.headers[name] for name in KEPT if name in problem.headers}
    return Json(wire.RunErrorEvent(message=message, code=said["code"]), problem.status_code, headers=kept)


shape("/api/ag-ui/", in_shape, "RunErrorEvent")
