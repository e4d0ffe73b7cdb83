"""The routes of feedback: a person's rating of a run's answer."""

from starlette.responses import Response

from runyard.domain.runs.run import Feedback
from runyard.faces.native import rows, wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

router = Router("native")


@router.get("/api/runs/{run_id}/feedback", response_model=wire.RunFeedback)
async def get_feedback(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """Get the feedback on a run, or null."""
    return _answer(await engine.feedback.on(owner, run_id))


@router.put("/api/runs/{run_id}/feedback", response_model=wire.RunFeedback)
async def give_feedback(engine: EngineDep, owner: Owner, run_id: str, body: wire.NewFeedback) -> Response:
    """Say whether a run's answer was good, with a comment. Replaces earlier feedback."""
    return _answer(await engine.feedback.give(owner, run_id, body.value, body.comment))


@router.delete("/api/runs/{run_id}/feedback", status_code=204)
async def take_feedback_back(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """Delete the feedback on a run."""
    await engine.feedback.take_back(owner, run_id)
    return Response(status_code=204)


def _answer(found: Feedback | None) -> Response:
    row = None if found is None else wire.FeedbackRow(**rows.feedback_fields(found))
    return Json(wire.RunFeedback(feedback=row))
