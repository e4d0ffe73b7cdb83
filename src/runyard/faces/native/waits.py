"""The routes of waits that clients answer, and of events that machines deliver."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from runyard.domain.times import iso
from runyard.domain.wait import Wait
from runyard.faces.native import wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

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
    return Json(wire.WaitPage(waits=[_row(wait) for wait in page], next=after))


@router.get("/api/waits/{wait_id}", response_model=wire.WaitRow)
async def get_wait(engine: EngineDep, owner: Owner, wait_id: str) -> Response:
    """Get a wait and its state."""
    return Json(_row(await engine.waits.get(owner, wait_id)))


@router.post("/api/waits/{wait_id}", response_model=wire.WaitRow)
async def answer(engine: EngineDep, owner: Owner, wait_id: str, body: wire.Answer) -> Response:
    """Answer a question or a client tool. The first answer counts."""
    if body.error is not None:
        return Json(_row(await engine.waits.fail(owner, wait_id, body.error, owner)))
    return Json(_row(await engine.waits.answer(owner, wait_id, body.value, owner)))


@router.post("/api/events", status_code=202, response_model=wire.EventTaken)
async def deliver(engine: EngineDep, owner: Owner, body: wire.NewEvent) -> Response:
    """Deliver an event to the runs that wait for it. If none does yet, it is kept for a while."""
    is_new = await engine.waits.deliver(owner, body.id, body.name, body.key, body.data)
    return Json(wire.EventTaken(delivered=is_new), 202)


def _row(wait: Wait) -> wire.WaitRow:
    asked = {"input": wait.input} if wait.is_approval else dict(wait.input or {})
    return wire.WaitRow(
        wait_id=wait.id,
        run_id=wait.run_id,
        call_id=wait.call_id,
        kind=wait.kind,
        name=wait.name,
        prompt=asked.get("prompt"),
        input=asked.get("input"),
        answer_schema=asked.get("schema"),
        state=wait.state,
        created_at=iso(wait.created_at) or "",
        expires_at=iso(wait.expires_at),
    )
