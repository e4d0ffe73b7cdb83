"""The routes of the native face."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.approval import Approval
from runyard.domain.run import Run, Status
from runyard.domain.thread import Thread
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import idempotency_key
from runyard.engine.queries.views import known
from runyard.faces.native import keys, overview, translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.responses import Json, Key, iso
from runyard.web.routing import add_stream
from runyard.web.sse import EventStream, nothing_more, start_of

FACE = "native"
Limit = Annotated[int, Query(ge=1, le=200)]
RunStatusFilter = Annotated[
    Status | None, Query(description="`running` includes runs that wait for a decision; `waiting` gives only those.")
]


def add_routes(router: APIRouter, engine: Engine, heartbeat: float) -> None:
    async def log(request: Request) -> Response:
        after = start_of(request)
        run = await engine.views.run(await owner_of(request), request.path_params["run_id"])
        over = nothing_more(request, run)
        return over or EventStream(engine.streams, run.id, after, FACE, translate.frame, heartbeat)

    add_stream(router, "/api/runs/{run_id}/log", log, tag=FACE, summary="Follow a run, every event in full")

    @router.get("/api/threads", response_model=wire.ThreadPage, tags=[FACE], summary="Threads, newest first")
    async def list_threads(owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
        page = await engine.views.threads(owner, before, limit)
        return Json(wire.ThreadPage(threads=[_thread(t) for t in page], next=_next([t.id for t in page], limit)))

    @router.delete(
        "/api/threads/{thread_id}", status_code=204, tags=[FACE], summary="Delete a thread with all its runs"
    )
    async def delete_thread(owner: Owner, thread_id: str) -> Response:
        await engine.views.delete_thread(owner, thread_id)
        return Response(status_code=204)

    @router.post(
        "/api/threads/{thread_id}/fork",
        status_code=201,
        response_model=wire.ThreadMade,
        tags=[FACE],
        summary="A new thread that goes on where a run of this one has ended, or from any of its events",
    )
    async def fork(owner: Owner, thread_id: str, key: Key = None, body: wire.Fork | None = None) -> Response:
        asked = body or wire.Fork()
        thread = await engine.views.thread(owner, thread_id)
        run_id = None if asked.run_id is None else known(asked.run_id, "run")
        note = idempotency_key(owner, f"POST /api/threads/{thread.id}/fork", key, asked.model_dump())
        made = await engine.intake.fork(owner, thread, run_id, note, asked.at_seq)
        return Json(wire.ThreadMade(thread_id=made.id), 201)

    @router.get("/api/runs", response_model=wire.RunPage, tags=[FACE], summary="Runs, newest first")
    async def list_runs(
        owner: Owner,
        status: RunStatusFilter = None,
        agent: str | None = None,
        thread_id: str | None = None,
        before: str | None = None,
        limit: Limit = 50,
    ) -> Response:
        page = await engine.views.runs(owner, before, limit, status=status, agent=agent, thread_id=thread_id)
        return Json(wire.RunPage(runs=[_run(r) for r in page], next=_next([r.id for r in page], limit)))

    @router.get("/api/runs/{run_id}/state", tags=[FACE], summary="What the run had done by the event `at`, or so far")
    async def state(owner: Owner, run_id: str, at: Annotated[int | None, Query(ge=0, le=2**53)] = None) -> Response:
        return Json(await engine.views.state(owner, run_id, at))

    @router.get(
        "/api/runs/{run_id}/sources",
        response_model=wire.Sources,
        tags=[FACE],
        summary="The documents that its answer rests on, as far as they are known here",
    )
    async def sources(owner: Owner, run_id: str) -> Response:
        found = await engine.views.sources(owner, run_id)
        rows = [wire.Source(collection=name, id=each.id, title=each.title, text=each.text) for name, each in found]
        return Json(wire.Sources(sources=rows))

    @router.post(
        "/api/runs/{run_id}/retry", status_code=201, response_model=wire.RunMade, tags=[FACE], summary="Run it again"
    )
    async def retry(owner: Owner, run_id: str, key: Key = None) -> Response:
        note = idempotency_key(owner, f"POST /api/runs/{run_id}/retry", key, None)
        accepted = await engine.intake.retry(owner, known(run_id, "run"), note)
        return Json(wire.RunMade(run_id=accepted.run_id), 201)

    @router.get(
        "/api/approvals", response_model=wire.ApprovalPage, tags=[FACE], summary="Who is waited for, newest first"
    )
    async def list_approvals(owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
        page = await engine.views.approvals(owner, before, limit)
        return Json(wire.ApprovalPage(approvals=[_approval(a) for a in page], next=_next([a.id for a in page], limit)))

    @router.post("/api/approvals/{approval_id}", response_model=wire.ApprovalRow, tags=[FACE], summary="Decide")
    async def decide(owner: Owner, approval_id: str, body: wire.Decision) -> Response:
        decision: Literal["approved", "rejected"] = "approved" if body.decision == "approve" else "rejected"
        edited: Any = body.input if decision == "approved" else None
        decided = await engine.approvals.decide(owner, approval_id, decision, owner, body.reason, edited)
        return Json(_approval(decided))

    keys.add_routes(router, engine)
    overview.add_routes(router, engine)


def _next(ids: list[str], limit: int) -> str | None:
    return ids[-1] if len(ids) == limit else None


def _thread(thread: Thread) -> wire.ThreadRow:
    return wire.ThreadRow(
        thread_id=thread.id,
        kind=thread.kind,
        agent=thread.agent,
        head_run_id=thread.head_run_id,
        created_at=iso(thread.created_at) or "",
    )


def _run(run: Run) -> wire.RunRow:
    return wire.RunRow(
        run_id=run.id,
        thread_id=run.thread_id,
        agent=run.agent,
        status=wire.STATUS[run.status],
        waiting=run.status is Status.WAITING,
        stop_reason=run.stop_reason,
        attempts=run.attempts,
        last_seq=run.last_seq,
        created_at=iso(run.created_at) or "",
        started_at=iso(run.started_at),
        finished_at=iso(run.finished_at),
        error_code=run.error_code,
        error=run.error,
        retry_of=run.retry_of,
        superseded_by=run.superseded_by,
    )


def _approval(approval: Approval) -> wire.ApprovalRow:
    return wire.ApprovalRow(
        approval_id=approval.id,
        run_id=approval.run_id,
        call_id=approval.call_id,
        kind=approval.kind,
        tool=approval.tool,
        input=approval.input,
        state=approval.state,
        created_at=iso(approval.created_at) or "",
    )
