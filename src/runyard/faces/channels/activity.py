"""The routes of runs that messages of conversations started, and of read positions."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from runyard.domain.conversations.thread import ThreadKind, Unread
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import Wait
from runyard.engine.channels.activity import ConversationRun
from runyard.engine.engine import Engine
from runyard.engine.queries.views import checked_cursor
from runyard.faces.channels import translate, wire
from runyard.faces.channels.agent_history import STATUS
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

Limit = Annotated[int, Query(ge=1, le=100)]

router = Router("channels")


@router.get("/api/channels/{channel_id}/runs", response_model=wire.ConversationRunPage)
async def list_channel_runs(
    engine: EngineDep, owner: Owner, channel_id: str, before: str | None = None, limit: Limit = 50
) -> Response:
    """List the runs that messages of a channel started, newest first."""
    return await _runs(engine, owner, channel_id, "channel", before, limit)


@router.get("/api/dms/{dm_id}/runs", response_model=wire.ConversationRunPage)
async def list_dm_runs(
    engine: EngineDep, owner: Owner, dm_id: str, before: str | None = None, limit: Limit = 50
) -> Response:
    """List the runs that messages of a DM started, newest first."""
    return await _runs(engine, owner, dm_id, "dm", before, limit)


@router.put("/api/channels/{channel_id}/read", status_code=204)
async def read_channel(engine: EngineDep, owner: Owner, channel_id: str, body: wire.ReadPosition) -> Response:
    """Store how far the caller has read a channel."""
    await engine.activity.mark_read(owner, channel_id, "channel", body.messageId)
    return Response(status_code=204)


@router.put("/api/dms/{dm_id}/read", status_code=204)
async def read_dm(engine: EngineDep, owner: Owner, dm_id: str, body: wire.ReadPosition) -> Response:
    """Store how far the caller has read a DM."""
    await engine.activity.mark_read(owner, dm_id, "dm", body.messageId)
    return Response(status_code=204)


@router.get("/api/unread", response_model=wire.UnreadPage)
async def list_unread(engine: EngineDep, owner: Owner) -> Response:
    """Count the unread messages of the newest 200 conversations that the caller sees."""
    return Json(wire.UnreadPage(conversations=[_unread(each) for each in await engine.activity.unread(owner)]))


async def _runs(
    engine: Engine, owner: str, thread_id: str, kind: ThreadKind, before: str | None, limit: int
) -> Response:
    found = await engine.activity.runs(owner, thread_id, kind, checked_cursor(before), limit)
    more = found[-1].run.id if len(found) == limit else None
    return Json(wire.ConversationRunPage(runs=[_run(each) for each in found], next=more))


def _run(found: ConversationRun) -> wire.ConversationRunSeen:
    run = found.run
    return wire.ConversationRunSeen(
        id=run.id,
        agentId=run.agent,
        status=_status(run),
        errorCode=run.error_code,
        triggerMessageId=run.trigger_message_id,
        createdAt=translate.iso(run.created_at),
        completedAt=translate.moment(run.finished_at),
        waitingFor=_waiting_for(found.wait),
    )


def _status(run: Run) -> wire.AgentRunStatus | Literal["waiting"]:
    return "waiting" if run.status is Status.WAITING else STATUS[run.status]


def _waiting_for(wait: Wait | None) -> wire.WaitingFor | None:
    return None if wait is None else wire.WaitingFor(waitId=wait.id, kind=wait.kind)


def _unread(found: Unread) -> wire.UnreadSeen:
    where = translate.place(found.thread_id, found.kind)
    return wire.UnreadSeen(**where, readMessageId=found.read_id, unread=found.count)
