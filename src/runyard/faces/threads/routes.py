"""The routes of the threads face."""

from typing import Annotated

import msgspec
from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.content.parts import DataPart, TextPart
from runyard.domain.conversations.thread import Message
from runyard.domain.events import ClientTool
from runyard.domain.runs.run import Run
from runyard.domain.times import iso
from runyard.engine.intake.content import FileReference, NewPart
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.user_message import UserMessage
from runyard.engine.queries.views import checked_id
from runyard.faces.threads import translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.body import read
from runyard.web.context import EngineDep, context_of, engine_of
from runyard.web.responses import Json, Key, key_of
from runyard.web.routing import Router
from runyard.web.streaming.sse import EventStream, already_complete, start_of

FACE = "threads"
CANCEL_PATIENCE = 1.0
MESSAGES = 200  # messages of a thread in one response
MessageLimit = Annotated[int, Query(ge=1, le=500)]

router = Router(FACE)


@router.fast("GET", "/api/runs/{run_id}/events", is_stream=True)
async def events(request: Request) -> Response:
    """Follow a run."""
    context, after = context_of(request), start_of(request)
    views = context.engine.views
    owner, run_id = await owner_of(request), request.path_params["run_id"]
    if "last-event-id" in request.headers:
        run = await views.run(owner, run_id)
        if (over := already_complete(request, run)) is not None:
            return over
    run_id = await views.visible_run(owner, run_id)
    return EventStream(context.engine.streams, run_id, after, FACE, translate.frame, context.heartbeat)


@router.fast(
    "POST",
    "/api/threads/{thread_id}/messages",
    body=wire.NewMessage,
    status_code=201,
    response_model=wire.MessagePosted,
)
async def post_message(request: Request) -> Response:
    """Post a message and start the run that answers it."""
    owner, thread_id = await owner_of(request), checked_id(request.path_params["thread_id"], "thread")
    body = await read(request, wire.NewMessage)
    route = f"POST /api/threads/{thread_id}/messages"
    given = body.model_dump()
    if body.parts is None and body.files is None:
        del given["parts"], given["files"]  # a retry may have been sent before there were parts
    note = idempotency_key(owner, route, key_of(request), given)
    tools = [ClientTool(tool.name, tool.description, tool.input_schema) for tool in body.tools]
    text, parts = body.content or "", _parts(body)
    message = UserMessage(owner, FACE, text, body.agent, note, tools, parts=parts, while_running=body.while_running)
    accepted = await engine_of(request).intake.post(thread_id, message)
    if body.while_running == "queue":
        return Json(wire.RunMade(run_id=accepted.run_id), 201)
    return Json(wire.MessagePosted(run_id=accepted.run_id, steered=accepted.steered), 201)


@router.post("/api/threads", status_code=201, response_model=wire.ThreadMade)
async def open_thread(engine: EngineDep, owner: Owner, key: Key = None, body: wire.NewThread | None = None) -> Response:
    """Create a thread."""
    asked = body or wire.NewThread()
    user_id = None if asked.user_id is None else msgspec.json.encode(asked.user_id).decode()
    note = idempotency_key(owner, "POST /api/threads", key, asked.model_dump())
    thread = await engine.intake.open_thread(owner, user_id, asked.agent, note)
    return Json(wire.ThreadMade(thread_id=thread.id), 201)


@router.get("/api/threads/{thread_id}", response_model=wire.ThreadSeen)
async def get_thread(
    engine: EngineDep, owner: Owner, thread_id: str, before: str | None = None, limit: MessageLimit = MESSAGES
) -> Response:
    """Get a thread with its newest messages, oldest first."""
    thread = await engine.views.thread(owner, thread_id)
    messages = [_message(message) for message in await engine.views.messages(thread, before, limit)]
    user_id = None if thread.user_id is None else msgspec.json.decode(thread.user_id)
    earlier = messages[0].id if len(messages) == limit else None
    return Json(wire.ThreadSeen(thread_id=thread.id, user_id=user_id, messages=messages, next=earlier))


@router.get("/api/runs/{run_id}", response_model=wire.RunSeen)
async def get_run(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """Get a run's status and times."""
    return Json(_run(await engine.views.run(owner, run_id)))


@router.post("/api/runs/{run_id}/cancel", response_model=wire.Canceled)
async def cancel(engine: EngineDep, owner: Owner, run_id: str) -> Response:
    """Cancel a run."""
    run = await engine.cancel(owner, checked_id(run_id, "run"), CANCEL_PATIENCE)
    return Json(wire.Canceled(status=translate.STATUS[run.status]))


def _run(run: Run) -> wire.RunSeen:
    return wire.RunSeen(
        run_id=run.id,
        thread_id=run.thread_id,
        status=translate.STATUS[run.status],
        created_at=iso(run.created_at) or "",
        started_at=iso(run.started_at),
        finished_at=iso(run.finished_at),
        error=run.error,
    )


def _message(message: Message) -> wire.MessageSeen:
    seen = {"id": message.id, "role": message.role, "content": message.text, "created_at": iso(message.created_at)}
    if message.parts is None:
        return wire.MessageSeen.model_validate(seen)
    return wire.MessageWithParts.model_validate({**seen, "parts": msgspec.to_builtins(message.content)})


def _parts(body: wire.NewMessage) -> list[NewPart]:
    """Return the parts of a message; none for plain text."""
    if body.parts is None and body.files is None:
        return []
    parts: list[NewPart] = [] if body.content is None else [TextPart(body.content)]
    for part in body.parts or ():
        match part:
            case wire.TextPart(text=text):
                parts.append(TextPart(text))
            case wire.FilePart(file_id=file_id, type=kind):
                parts.append(FileReference(file_id, kind == "image"))
            case wire.DataPart(data=data):
                parts.append(DataPart(data))
    return parts + [FileReference(file_id) for file_id in body.files or ()]
