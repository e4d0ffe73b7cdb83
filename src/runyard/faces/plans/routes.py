"""The routes of the plans face."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.events import SCHEMA_VERSION
from runyard.domain.runs.run import Run
from runyard.domain.times import iso
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.errors import Conflict, NotFound
from runyard.faces.plans import translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.context import EngineDep, context_of
from runyard.web.responses import Json, Key
from runyard.web.routing import Router
from runyard.web.streaming.sse import EventStream, already_complete, start_of

FACE = "plans"
ATTACHED: dict[int | str, dict[str, Any]] = {
    200: {"model": wire.RunAccepted, "description": "A run with this runId exists; no new run was started"}
}

router = Router(FACE)


@router.fast("GET", "/agents/runs/{run_id}/stream", is_stream=True)
async def stream(request: Request) -> Response:
    """Follow a run: published events, without content."""
    context, after = context_of(request), start_of(request)
    run = await _find(context.engine, await owner_of(request), request.path_params["run_id"])
    if (over := already_complete(request, run)) is not None:
        return over
    frames = translate.frames_of(_name(run))
    return EventStream(context.engine.streams, run.id, after, FACE, frames, context.heartbeat, published=True)


@router.post("/agents/runs", status_code=201, response_model=wire.RunAccepted, responses=ATTACHED)
async def start(engine: EngineDep, owner: Owner, key: Key = None, body: wire.NewRun | None = None) -> Response:
    """Start a run of a plan, or attach to the run with this runId."""
    asked = body or wire.NewRun()
    note = idempotency_key(owner, "POST /agents/runs", key, asked.model_dump())
    accepted = await engine.intake.start_plan(owner, FACE, asked.plan, asked.runId, note)
    if accepted.repeated and asked.plan is not None:
        run = await engine.views.run(owner, accepted.run_id)
        if run.agent != asked.plan:
            raise Conflict("A run of another plan has this runId. Use another runId.")
    is_attached = accepted.repeated and asked.runId is not None
    return Json(wire.RunAccepted(runId=asked.runId or accepted.run_id), 200 if is_attached else 201)


@router.get("/agents/runs/{run_id}", response_model=wire.RunSeen)
async def get_run(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """Get the progress of a run."""
    run = await _find(engine, owner, run_id)
    progress = await engine.views.progress(run)
    return Json(
        wire.RunSeen(
            runId=_name(run),
            serverRunId=run.id,
            plan=run.agent,
            state=run.state,
            startedAt=iso(run.created_at) or "",  # RunStarted is written when the run is created
            finishedAt=None if run.state == "started" else iso(run.finished_at),
            lastSeq=progress.last_seq,
            nextSeq=progress.next_seq,
            v=SCHEMA_VERSION,
            createdAt=iso(run.created_at) or "",
            updatedAt=iso(progress.updated_at) or "",
        )
    )


@router.post("/agents/runs/{run_id}/cancel", response_model=wire.RunAccepted)
async def cancel(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """Cancel a run; a run that has ended does not change."""
    run = await _find(engine, owner, run_id)
    await engine.cancel(owner, run.id)
    return Json(wire.RunAccepted(runId=_name(run)))


async def _find(engine: Engine, owner: str, run_id: str) -> Run:
    """Look up a run by its client's runId, or by the server's id."""
    try:
        return await engine.views.named_run(owner, run_id)
    except NotFound:
        return await engine.views.run(owner, run_id)


def _name(run: Run) -> str:
    """Return the client's runId, or the server's id if the client gave none."""
    return run.external_id or run.id
