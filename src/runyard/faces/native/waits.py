"""The routes of waits that clients answer, and of events that machines deliver."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.runs.run import Run
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.faces.native import rows, translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.context import EngineDep, context_of
from runyard.web.responses import Json
from runyard.web.routing import Router
from runyard.web.streaming.sse import LiveStream

Limit = Annotated[int, Query(ge=1, le=200)]
RunFilter = Annotated[str | None, Query(description="Only waits of this run.")]

router = Router("native")


@router.get("/api/waits", response_model=wire.WaitPage)
async def list_waits(
    engine: EngineDep, owner: Owner, run_id: RunFilter = None, before: str | None = None, limit: Limit = 50
) -> Response:
    """List what runs wait for from people and clients, newest first: approvals, questions and client tools."""
    run = None if run_id is None else (await engine.views.run(owner, run_id)).id
    page = await engine.waits.open(owner, before, limit, run)
    after = page[-1].id if len(page) == limit else None
    return Json(wire.WaitPage(waits=await _rows(engine, owner, page), next=after))


@router.fast("GET", "/api/waits/changes", is_stream=True, parameters=())
async def follow_waits(request: Request) -> Response:
    """Follow how many waits are open: the number at first, and again whenever other waits are open."""
    context = context_of(request)
    follow = partial(context.engine.waits.follow, await owner_of(request))
    return LiveStream(follow, translate.waits_frame, context.heartbeat)


@router.get("/api/waits/{wait_id}", response_model=wire.WaitRow)
async def get_wait(engine: EngineDep, owner: Owner, wait_id: str) -> Response:
    """Get a wait, its state, and the whole message that led to it."""
    [row] = await _rows(engine, owner, [await engine.waits.get(owner, wait_id)], whole=True)
    return Json(row)


@router.post("/api/waits/{wait_id}", response_model=wire.WaitRow)
async def answer(engine: EngineDep, owner: Owner, wait_id: str, body: wire.Answer) -> Response:
    """Answer a question or a client tool. The first answer counts."""
    if body.error is not None:
        answered = await engine.waits.fail(owner, wait_id, body.error, owner)
    else:
        answered = await engine.waits.answer(owner, wait_id, body.value, owner)
    [row] = await _rows(engine, owner, [answered])
    return Json(row)


@router.post("/api/events", status_code=202, response_model=wire.EventTaken)
async def deliver(engine: EngineDep, owner: Owner, body: wire.NewEvent) -> Response:
    """Deliver an event to the runs that wait for it. If none does yet, it is kept for a while."""
    is_new = await engine.waits.deliver(owner, body.id, body.name, body.key, body.data)
    return Json(wire.EventTaken(delivered=is_new), 202)


async def _rows(engine: Engine, owner: str, waits: Sequence[Wait], whole: bool = False) -> list[wire.WaitRow]:
    """Return waits with the agent and the question of their runs, or the beginning of the question."""
    runs = await engine.views.runs_by_id(owner, [wait.run_id for wait in waits])
    questions = await engine.views.readable_questions(list(runs.values()))
    return [_row(engine, wait, runs.get(wait.run_id), questions.get(wait.run_id), whole) for wait in waits]


def _row(engine: Engine, wait: Wait, run: Run | None, question: str | None, whole: bool) -> wire.WaitRow:
    asked = engine.waits.in_tool_order(wait, "" if run is None else run.agent)
    shown = question if whole else rows.shortened(question)
    return wire.WaitRow(**rows.wait_fields(wait, asked, run, shown), question_cut=shown != question)
