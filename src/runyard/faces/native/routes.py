"""The routes of the native face. `waits.py` has those of waits and events, `files.py` those of files, `keys.py`
and `overview.py` those for operators."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import AwareDatetime
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.runs.run import Feedback, Run, Status
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.log.tree import parsed_cursor
from runyard.engine.queries.run_search import RunSearch, search_runs
from runyard.engine.queries.views import checked_id
from runyard.faces.native import (
    feedback,
    files,
    keys,
    overview,
    rows,
    search,
    shares,
    statistics,
    translate,
    waits,
    wire,
)
from runyard.faces.native.search import thread_row
from runyard.web.auth import Owner, owner_of
from runyard.web.context import EngineDep, context_of
from runyard.web.responses import Json, Key
from runyard.web.routing import STREAM_PARAMETERS, Router
from runyard.web.streaming.sse import EventStream, LiveStream, already_complete, start_of

FACE = "native"

Limit = Annotated[int, Query(ge=1, le=200)]
Seq = Annotated[int | None, Query(ge=0, le=2**53)]
StepSeq = Annotated[int, Query(ge=1, le=2**53)]
RunStatusFilter = Annotated[
    Status | None, Query(description="`running` includes runs that wait for a decision; `waiting` gives only those.")
]
ThreadOrder = Annotated[Literal["created", "activity"], Query(description="What the list is sorted by.")]
Since = Annotated[AwareDatetime | None, Query(description="Only runs that are not older: a time with a zone.")]
Cost = Annotated[float | None, Query(ge=0, allow_inf_nan=False, description="Only runs that cost at least this.")]
IdPart = Annotated[
    str | None, Query(min_length=4, max_length=36, description="Only runs whose id starts or ends like this.")
]
ErrorFilter = Annotated[str | None, Query(max_length=100, description="Only runs that failed with this code.")]

# With `children=true`, a position is the id of an event of that stream.
LOG_PARAMETERS = (
    {"name": "children", "in": "query", "required": False, "schema": {"type": "boolean"}},
    *({**each, "schema": {"type": "string"}} for each in STREAM_PARAMETERS),
)

router = Router(FACE)


@router.fast("GET", "/api/runs/{run_id}/log", is_stream=True, parameters=LOG_PARAMETERS)
async def log(request: Request) -> Response:
    """Follow a run with complete events; with `children=true`, also its child runs, in one stream."""
    context = context_of(request)
    if request.query_params.get("children") in ("true", "1"):
        return await _tree(request)
    after = start_of(request)
    run = await context.engine.views.run(await owner_of(request), request.path_params["run_id"])
    over = already_complete(request, run)
    return over or EventStream(context.engine.streams, run.id, after, FACE, translate.frame, context.heartbeat)


async def _tree(request: Request) -> Response:
    context = context_of(request)
    query = request.query_params
    given = request.headers.get("last-event-id") or query.get("after") or query.get("fromSeq")
    positions = parsed_cursor(given)
    run = await context.engine.views.run(await owner_of(request), request.path_params["run_id"])
    if given and run.status.is_terminal and positions[""] >= run.last_seq:
        return Response(status_code=204)
    follow = await context.engine.trees.follow(run, positions)
    return LiveStream(follow, translate.tree_frame, context.heartbeat)


@router.get("/api/threads", response_model=wire.ThreadPage)
async def list_threads(
    engine: EngineDep, owner: Owner, sort: ThreadOrder = "created", before: str | None = None, limit: Limit = 50
) -> Response:
    """List threads, newest first, or with `sort=activity` those with the newest run first."""
    is_active = sort == "activity"
    page = await (engine.views.active_threads if is_active else engine.views.threads)(owner, before, limit)
    titles = await engine.thread_search.titles([t.id for t in page])
    rows = [thread_row(t, titles.get(t.id)) for t in page]
    return Json(
        wire.ThreadPage(threads=rows, next=_next([t.last_activity if is_active else t.id for t in page], limit))
    )


@router.delete("/api/threads/{thread_id}", status_code=204)
async def delete_thread(engine: EngineDep, owner: Owner, thread_id: str) -> Response:
    """Delete a thread with all its runs."""
    await engine.views.delete_thread(owner, thread_id)
    return Response(status_code=204)


@router.post("/api/threads/{thread_id}/fork", status_code=201, response_model=wire.ThreadMade)
async def fork(
    engine: EngineDep, owner: Owner, thread_id: str, key: Key = None, body: wire.Fork | None = None
) -> Response:
    """Create a thread that continues from the end of a run of this thread, or from one of its events."""
    asked = body or wire.Fork()
    thread = await engine.views.thread(owner, thread_id)
    run_id = None if asked.run_id is None else checked_id(asked.run_id, "run")
    note = idempotency_key(owner, f"POST /api/threads/{thread.id}/fork", key, asked.model_dump())
    made = await engine.intake.fork(owner, thread, run_id, note, asked.at_seq)
    return Json(wire.ThreadMade(thread_id=made.id), 201)


@router.get("/api/runs", response_model=wire.RunPage)
async def list_runs(
    engine: EngineDep,
    owner: Owner,
    status: RunStatusFilter = None,
    agent: str | None = None,
    thread_id: str | None = None,
    error: ErrorFilter = None,
    since: Since = None,
    min_usd: Cost = None,
    id_part: IdPart = None,
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """List runs, newest first. With `min_usd` or `id_part`, a response may have few runs and still a `next`."""
    wanted = RunSearch(None if since is None else int(since.timestamp() * 1000), min_usd, id_part)
    found = await search_runs(
        lambda below, size: engine.views.runs(
            owner, below, size, status=status, agent=agent, thread_id=thread_id, error=error
        ),
        wanted,
        before,
        limit,
    )
    page = found.runs
    questions = await engine.views.readable_questions(page)
    judged = await engine.feedback.readable([r.id for r in page])
    rows = [_run(r, questions.get(r.id), judged.get(r.id)) for r in page]
    return Json(wire.RunPage(runs=rows, next=found.next))


@router.get("/api/runs/{run_id}/state")
async def state(engine: EngineDep, owner: Owner, run_id: str, at: Seq = None) -> Response:
    """Get the state of a run after the event `at`, or after the newest event."""
    return Json(await engine.views.state(owner, run_id, at))


@router.get("/api/runs/{run_id}/request", response_model=wire.ModelRequest)
async def model_request(engine: EngineDep, owner: Owner, run_id: str, at: StepSeq) -> Response:
    """Rebuild what a step of a model agent sent to its model. `at` is the seq of the step's first event."""
    return Json(await engine.model_requests.of_step(owner, run_id, at))


@router.get("/api/runs/{run_id}/sources", response_model=wire.Sources)
async def sources(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """List the documents that a run's answer cites, if this server has them."""
    found = await engine.views.sources(owner, run_id)
    rows = [wire.Source(collection=name, id=each.id, title=each.title, text=each.text) for name, each in found]
    return Json(wire.Sources(sources=rows))


@router.post("/api/runs/{run_id}/retry", status_code=201, response_model=wire.RunMade)
async def retry(engine: EngineDep, owner: Owner, run_id: str, key: Key = None) -> Response:
    """Retry a run as a new run."""
    note = idempotency_key(owner, f"POST /api/runs/{run_id}/retry", key, None)
    accepted = await engine.intake.retry(owner, checked_id(run_id, "run"), note)
    return Json(wire.RunMade(run_id=accepted.run_id), 201)


@router.get("/api/approvals", response_model=wire.ApprovalPage)
async def list_approvals(engine: EngineDep, owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
    """List pending approvals, newest first."""
    page = await engine.waits.open(owner, before, limit)
    found = await _approvals(engine, owner, [wait for wait in page if wait.is_approval])
    return Json(wire.ApprovalPage(approvals=found, next=_next([wait.id for wait in page], limit)))


@router.post("/api/approvals/{approval_id}", response_model=wire.ApprovalRow)
async def decide(engine: EngineDep, owner: Owner, approval_id: str, body: wire.Decision) -> Response:
    """Approve or reject."""
    decision: Literal["approved", "rejected"] = "approved" if body.decision == "approve" else "rejected"
    edited: Any = body.input if decision == "approved" else None
    decided = await engine.waits.decide(owner, approval_id, decision, owner, body.reason, edited)
    [row] = await _approvals(engine, owner, [decided])
    return Json(row)


router.routes += [
    *search.router.routes,
    *feedback.router.routes,
    *shares.router.routes,
    *waits.router.routes,
    *files.router.routes,
    *keys.router.routes,
    *overview.router.routes,
    *statistics.router.routes,
]


def _next(ids: list[str], limit: int) -> str | None:
    return ids[-1] if len(ids) == limit else None


def _run(run: Run, question: str | None, judged: Feedback | None) -> wire.RunRow:
    return wire.RunRow(**rows.run_fields(run, question, judged))


async def _approvals(engine: Engine, owner: str, waits: Sequence[Wait]) -> list[wire.ApprovalRow]:
    """Return approvals with the agent and the question of their runs, and each input in the order of its tool."""
    runs = await engine.views.runs_by_id(owner, [wait.run_id for wait in waits])
    questions = await engine.views.readable_questions(list(runs.values()))
    found = []
    for wait in waits:
        run = runs.get(wait.run_id)
        asked = engine.waits.in_tool_order(wait, "" if run is None else run.agent)
        fields = rows.approval_fields(wait, run, questions.get(wait.run_id))
        found.append(wire.ApprovalRow(**{**fields, "input": asked}))
    return found
