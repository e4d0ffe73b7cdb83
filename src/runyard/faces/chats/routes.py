"""The routes of the chats face."""

from typing import Annotated, Any, Literal, NamedTuple

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from runyard.domain.events import Event, RunQueued
from runyard.domain.runs.run import Run, Status
from runyard.domain.times import iso
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.user_message import UserMessage
from runyard.errors import AlreadyDecided, BadRequest, Conflict, NotFound, RunEnded
from runyard.faces.chats import translate, wire
from runyard.faces.chats.interaction_builder import InteractionBuilder, json_of
from runyard.faces.chats.lookup import chat_id as name_of
from runyard.faces.chats.lookup import new_chat_id, run_in, thread_of
from runyard.web.auth import Owner, owner_of
from runyard.web.body import decoded, read, refuse_fields
from runyard.web.context import Context, EngineDep, context_of, engine_of
from runyard.web.responses import Json, key_of
from runyard.web.routing import Router
from runyard.web.streaming.sse import EventStream, already_complete, start_of

FACE = "chats"
CHAT = "/chats/{chat_id}"
INTERACTION = "/chats/{chat_id}/interactions/{interaction_id}"
NEW_MESSAGE = "A new message came before an answer."
Limit = Annotated[int, Query(ge=1, le=200)]

router = Router(FACE)


class ChatOptions(NamedTuple):
    """`while_waiting`: whether a message to a chat that waits for approval is queued, or rejects the approval."""

    while_waiting: Literal["queue", "reject"]


class AlreadyProcessed(BadRequest):
    """This approval has been processed already."""

    code = "already_decided"


@router.fast("POST", "/chats/{chat_id}/interactions", is_stream=True, body=wire.NewInteraction)
async def start(request: Request) -> Response:
    """Post a message and follow the interaction that answers it; creates the chat if it does not exist."""
    context = context_of(request)
    engine = context.engine
    owner, chat = await owner_of(request), new_chat_id(request.path_params["chat_id"])
    body = await read(request, wire.NewInteraction)
    note = idempotency_key(owner, f"POST /chats/{chat}/interactions", key_of(request), body.model_dump())
    message = UserMessage(owner, FACE, body.user_message, body.agent, note, while_running=body.while_running)
    accepted = await engine.intake.post_by_name(chat, message)
    if accepted.steered:
        run = await engine.views.run(owner, accepted.run_id)
        return await _attached(context, run, 0 if accepted.event is None else accepted.event.seq)
    if context.options(ChatOptions).while_waiting == "reject" and not accepted.repeated:
        thread = await thread_of(engine, owner, chat)
        await engine.waits.reject_open(owner, thread.id, owner, NEW_MESSAGE, except_run=accepted.run_id)
    return await _started(context, owner, accepted.run_id, accepted.event)


@router.fast("POST", f"{INTERACTION}/edit", is_stream=True, body=wire.Edit)
async def edit(request: Request) -> Response:
    """Replace a message and follow the new interaction; the interactions that came after it are superseded."""
    context = context_of(request)
    owner, run = await _owner_and_run(request)
    body = await read(request, wire.Edit)
    note = idempotency_key(owner, f"POST edit {run.id}", key_of(request), body.model_dump())
    message = UserMessage(owner, FACE, body.new_user_message, body.agent, note)
    accepted = await context.engine.intake.edit(run.id, message)
    return await _started(context, owner, accepted.run_id, accepted.event)


@router.fast("POST", f"{INTERACTION}/retry", is_stream=True)
async def retry(request: Request) -> Response:
    """Retry an interaction that failed or was cancelled."""
    context = context_of(request)
    owner, run = await _owner_and_run(request)
    if body := await request.body():
        refuse_fields(decoded(body))
    if run.status not in (Status.ERROR, Status.CANCELED):
        raise Conflict("Only an interaction that failed or was cancelled can be retried.")
    note = idempotency_key(owner, f"POST retry {run.id}", key_of(request), None)
    message = UserMessage(owner, FACE, await context.engine.views.question(run), run.agent, note)
    accepted = await context.engine.intake.edit(run.id, message)
    return await _started(context, owner, accepted.run_id, accepted.event)


@router.fast("GET", f"{INTERACTION}/events", is_stream=True)
async def events(request: Request) -> Response:
    """Follow an interaction."""
    after = start_of(request)
    _, run = await _owner_and_run(request)
    return already_complete(request, run) or await _attached(context_of(request), run, after)


@router.fast("GET", INTERACTION, response_model=wire.Interaction)
async def interaction(request: Request) -> Response:
    """Follow an interaction; with `Accept: application/json`, get it."""
    if not _wants_json(request):
        return await events(request)
    _, run = await _owner_and_run(request)
    interactions = InteractionBuilder(engine_of(request))
    kept = await interactions.of_run(run)
    return StreamingResponse(json_of(interactions, run, kept), media_type="application/json")


@router.post(f"{INTERACTION}/approve", response_model=wire.Processed)
async def approve(engine: EngineDep, owner: Owner, chat_id: str, interaction_id: str, body: wire.Decision) -> Response:
    """Approve or reject the tool call that an interaction waits for."""
    run = await run_in(engine, owner, chat_id, interaction_id)
    if (await engine.waits.get(owner, body.approval_id)).run_id != run.id:
        raise NotFound("There is no approval with that id.")
    decision: Literal["approved", "rejected"] = "approved" if body.approved else "rejected"
    edited: Any = body.tool_input if body.approved else None
    try:
        await engine.waits.decide(owner, body.approval_id, decision, owner, body.reason, edited)
    except RunEnded:
        raise
    except AlreadyDecided:
        raise AlreadyProcessed from None
    return Json(wire.Processed(approval_id=body.approval_id, approved=body.approved))


@router.post(f"{INTERACTION}/cancel", response_model=wire.Cancelling)
async def cancel(engine: EngineDep, owner: Owner, chat_id: str, interaction_id: str) -> Response:
    """Cancel an interaction."""
    run = await run_in(engine, owner, chat_id, interaction_id)
    if run.status.is_terminal:
        raise Conflict("The interaction has ended.")
    await engine.cancel(owner, run.id)
    return Json(wire.Cancelling(interaction_id=interaction_id))


@router.get("/chats", response_model=wire.ChatPage)
async def list_chats(engine: EngineDep, owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
    """List chats, newest first."""
    page = await engine.views.threads(owner, before, limit)
    rows = [wire.ChatRow(id=name_of(t), created_at=iso(t.created_at) or "") for t in page if t.kind == "chat"]
    return Json(wire.ChatPage(chats=rows, next=page[-1].id if len(page) == limit else None))


@router.get(CHAT, response_model=wire.Chat)
async def get_chat(
    engine: EngineDep,
    owner: Owner,
    chat_id: str,
    include_superseded: bool = False,
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """Get a chat with its newest interactions, oldest first; `before` pages to earlier ones."""
    thread = await thread_of(engine, owner, chat_id)
    return Json(await InteractionBuilder(engine).page(thread, include_superseded, before, limit))


@router.delete(CHAT, status_code=204)
async def delete_chat(engine: EngineDep, owner: Owner, chat_id: str) -> Response:
    """Delete a chat with all its interactions."""
    thread = await thread_of(engine, owner, chat_id)
    await engine.views.delete_thread(owner, thread.id)
    return Response(status_code=204)


async def _started(context: Context, owner: str, run_id: str, first: Event | None) -> Response:
    """Return the stream of a run that this request started, or that an earlier request with the same key started."""
    queued = first.payload if first is not None else None
    if isinstance(queued, RunQueued):
        return _followed(context, run_id, queued.agent)
    return await _attached(context, await context.engine.views.run(owner, run_id), 0)


async def _attached(context: Context, run: Run, after: int) -> Response:
    await context.engine.disconnects.reconnected(run)
    return _followed(context, run.id, run.agent, after, is_ours=run.face == FACE)


def _followed(context: Context, run_id: str, agent: str, after: int = 0, *, is_ours: bool = True) -> Response:
    """Return the stream of a run. Only runs of this face (`is_ours`) are affected by a client that disconnects."""
    engine = context.engine
    disconnects = engine.disconnects if is_ours else None
    if engine.views.has_whole_messages(agent):  # the thinking before `after` has to be known
        frame = translate.frames(True, after)
        return EventStream(engine.streams, run_id, 0, None, frame, context.heartbeat, disconnects=disconnects)
    frame = translate.frames(False)
    return EventStream(engine.streams, run_id, after, FACE, frame, context.heartbeat, disconnects=disconnects)


async def _owner_and_run(request: Request) -> tuple[str, Run]:
    """Return the owner, and the run that is the interaction in the path."""
    owner, where = await owner_of(request), request.path_params
    return owner, await run_in(engine_of(request), owner, where["chat_id"], where["interaction_id"])


def _wants_json(request: Request) -> bool:
    """Tell whether the client accepts JSON and no stream. `curl -N`, which accepts anything, gets the stream."""
    accepted = [each.partition(";")[0].strip().lower() for each in request.headers.get("accept", "").split(",")]
    return "application/json" in accepted and "text/event-stream" not in accepted
