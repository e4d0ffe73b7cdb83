"""The routes of the plans face."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.events import SCHEMA_VERSION
from runyard.domain.run import Run
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import idempotency_key
from runyard.errors import Conflict, NotFound
from runyard.faces.plans import translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.responses import Json, Key, iso
from runyard.web.routing import add_stream
from runyard.web.sse import EventStream, nothing_more, start_of

FACE = "plans"
ATTACHED: dict[int | str, dict[str, Any]] = {
    200: {"model": wire.RunAccepted, "description": "A run of yours has that runId already; nothing was started"}
}


def add_routes(router: APIRouter, engine: Engine, heartbeat: float) -> None:
    async def find(owner: str, run_id: str) -> Run:
        """By the name that its client gave it, or by our own id."""
        try:
            return await engine.views.run_named(owner, run_id)
        except NotFound:
            return await engine.views.run(owner, run_id)

    async def stream(request: Request) -> Response:
        after = start_of(request)
        run = await find(await owner_of(request), request.path_params["run_id"])
        if (over := nothing_more(request, run)) is not None:
            return over
        frames = translate.frames_of(_name(run))
        return EventStream(engine.streams, run.id, after, FACE, frames, heartbeat, published=True)

    add_stream(
        router, "/agents/runs/{run_id}/stream", stream, tag=FACE, summary="Follow a run: published events, no content"
    )

    @router.post(
        "/agents/runs",
        status_code=201,
        response_model=wire.RunAccepted,
        responses=ATTACHED,
        tags=[FACE],
        summary="Start a run of a plan, or attach to the one of that runId",
    )
    async def start(owner: Owner, key: Key = None, body: wire.NewRun | None = None) -> Response:
        asked = body or wire.NewRun()
        note = idempotency_key(owner, "POST /agents/runs", key, asked.model_dump())
        accepted = await engine.intake.start_plan(owner, FACE, asked.plan, asked.runId, note)
        if accepted.repeated and asked.plan is not None:
            run = await engine.views.run(owner, accepted.run_id)
            if run.agent != asked.plan:
                raise Conflict("A run of another plan has this runId.")
        is_attached = accepted.repeated and asked.runId is not None
        return Json(wire.RunAccepted(runId=asked.runId or accepted.run_id), 200 if is_attached else 201)

    @router.get("/agents/runs/{run_id}", response_model=wire.RunSeen, tags=[FACE], summary="How far a run is")
    async def get_run(owner: Owner, run_id: str) -> Response:
        run = await find(owner, run_id)
        progress = await engine.views.progress(run)
        return Json(
            wire.RunSeen(
                runId=_name(run),
                serverRunId=run.id,
                plan=run.agent,
                state=run.state,
                startedAt=iso(run.created_at) or "",  # RunStarted is written as the run is created
                finishedAt=None if run.state == "started" else iso(run.finished_at),
                lastSeq=progress.last_seq,
                nextSeq=progress.next_seq,
                v=SCHEMA_VERSION,
                createdAt=iso(run.created_at) or "",
                updatedAt=iso(progress.updated_at) or "",
            )
        )

    @router.post(
        "/agents/runs/{run_id}/cancel",
        response_model=wire.RunAccepted,
        tags=[FACE],
        summary="Stop a run; one that has ended stays as it is",
    )
    async def cancel(owner: Owner, run_id: str) -> Response:
        run = await find(owner, run_id)
        await engine.cancel(owner, run.id)
        return Json(wire.RunAccepted(runId=_name(run)))


def _name(run: Run) -> str:
    """What its client calls it."""
    return run.external_id or run.id
