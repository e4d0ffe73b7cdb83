"""The routes of the chats face."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from runyard.domain.events import Event, RunQueued
from runyard.domain.run import Run, Status
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import idempotency_key
from runyard.errors import AlreadyDecided, BadRequest, Conflict, NotFound, RunEnded
from runyard.faces.chats import translate, wire
from runyard.faces.chats.interactions import Interactions, InteractionStore, written
from runyard.faces.chats.lookup import chat_id as name_of
from runyard.faces.chats.lookup import new_chat_id, run_in, thread_of
from runyard.web.auth import Owner, owner_of
from runyard.web.body import decoded, read, refuse_fields
from runyard.web.responses import Json, Key, iso, key_of
from runyard.web.routing import STREAM_PARAMETERS, Events, add_fast
from runyard.web.sse import EventStream, nothing_more, start_of

FACE = "chats"
NEW_MESSAGE = "A new message came before an answer."
Limit = Annotated[int, Query(ge=1, le=200)]


class AlreadyProcessed(BadRequest):
    """This approval has been processed already."""

    code = "already_decided"


def add_routes(
    router: APIRouter,
    engine: Engine,
    heartbeat: float,
    stores: Callable[[str], InteractionStore],
    while_waiting: Literal["queue", "reject"],
) -> None:
    interactions = Interactions(engine)

    def followed(run_id: str, agent: str, after: int = 0, *, is_ours: bool = True) -> Response:
        """Who leaves a run of another face has no effect on it."""
        disconnects = engine.disconnects if is_ours else None
        if engine.views.repeats_its_thinking(agent):  # what was thought before `after` has to be known
            frame = translate.frames(True, after)
            return EventStream(engine.streams, run_id, 0, None, frame, heartbeat, disconnects=disconnects)
        frame = translate.frames(False)
        return EventStream(engine.streams, run_id, after, FACE, frame, heartbeat, disconnects=disconnects)

    async def begun(owner: str, run_id: str, first: Event | None) -> Response:
        """The stream of a run that was just started, or of the one that an earlier request with this key started."""
        queued = first.payload if first is not None else None
        if isinstance(queued, RunQueued):
            return followed(run_id, queued.agent)
        return await attached(await engine.views.run(owner, run_id), 0)

    async def attached(run: Run, after: int) -> Response:
        await engine.disconnects.come(run)
        return followed(run.id, run.agent, after, is_ours=run.face == FACE)

    async def start(request: Request) -> Response:
        owner, chat = await owner_of(request), new_chat_id(request.path_params["chat_id"])
        body = await read(request, wire.NewInteraction)
        note = idempotency_key(owner, f"POST /chats/{chat}/interactions", key_of(request), body.model_dump())
        accepted = await engine.intake.say(owner, FACE, chat, body.user_message, body.agent, note)
        if while_waiting == "reject" and not accepted.repeated:
            thread = await thread_of(engine, owner, chat)
            await engine.approvals.reject_open(owner, thread.id, owner, NEW_MESSAGE, but=accepted.run_id)
        return await begun(owner, accepted.run_id, accepted.event)

    async def starting(chat_id: str, body: wire.NewInteraction, key: Key = None) -> None: ...

    add_fast(
        router,
        "POST",
        "/chats/{chat_id}/interactions",
        start,
        tag=FACE,
        summary="Say something, and follow the interaction that answers; makes the chat if there is none",
        documented=starting,
        answers=Events,
    )

    async def edit(request: Request) -> Response:
        owner, run = await _meant(request, engine)
        body = await read(request, wire.Edit)
        note = idempotency_key(owner, f"POST edit {run.id}", key_of(request), body.model_dump())
        accepted = await engine.intake.edit(owner, FACE, run.id, body.new_user_message, body.agent, note)
        return await begun(owner, accepted.run_id, accepted.event)

    async def editing(chat_id: str, interaction_id: str, body: wire.Edit, key: Key = None) -> None: ...

    add_fast(
        router,
        "POST",
        "/chats/{chat_id}/interactions/{interaction_id}/edit",
        edit,
        tag=FACE,
        summary="Say something else instead, and go on from there; what followed is superseded",
        documented=editing,
        answers=Events,
    )

    async def retry(request: Request) -> Response:
        owner, run = await _meant(request, engine)
        if body := await request.body():
            refuse_fields(decoded(body))
        if run.status not in (Status.ERROR, Status.CANCELED):
            raise Conflict("Only an interaction that failed or was cancelled can be tried again.")
        note = idempotency_key(owner, f"POST retry {run.id}", key_of(request), None)
        question = await engine.views.question(run)
        accepted = await engine.intake.edit(owner, FACE, run.id, question, run.agent, note)
        return await begun(owner, accepted.run_id, accepted.event)

    async def retrying(chat_id: str, interaction_id: str, key: Key = None) -> None: ...

    add_fast(
        router,
        "POST",
        "/chats/{chat_id}/interactions/{interaction_id}/retry",
        retry,
        tag=FACE,
        summary="Try an interaction again that failed or was cancelled",
        documented=retrying,
        answers=Events,
    )

    async def events(request: Request) -> Response:
        after = start_of(request)
        _, run = await _meant(request, engine)
        return nothing_more(request, run) or await attached(run, after)

    async def interaction(request: Request) -> Response:
        if not _wants_json(request):
            return await events(request)
        _, run = await _meant(request, engine)
        kept = await interactions.of_run(run)
        return StreamingResponse(written(interactions, run, kept), media_type="application/json")

    async def one(chat_id: str, interaction_id: str) -> None: ...

    add_fast(
        router,
        "GET",
        "/chats/{chat_id}/interactions/{interaction_id}/events",
        events,
        tag=FACE,
        summary="Attach to an interaction, wherever it is",
        documented=one,
        answers=Events,
        parameters=STREAM_PARAMETERS,
    )
    add_fast(
        router,
        "GET",
        "/chats/{chat_id}/interactions/{interaction_id}",
        interaction,
        tag=FACE,
        summary="Attach to an interaction; with `Accept: application/json`, look at it",
        documented=one,
        response=wire.Interaction,
        parameters=STREAM_PARAMETERS,
    )

    @router.post(
        "/chats/{chat_id}/interactions/{interaction_id}/approve",
        response_model=wire.Processed,
        tags=[FACE],
        summary="Approve or reject what an interaction waits for",
    )
    async def approve(owner: Owner, chat_id: str, interaction_id: str, body: wire.Decision) -> Response:
        run = await run_in(engine, owner, chat_id, interaction_id)
        if (await engine.approvals.get(owner, body.approval_id)).run_id != run.id:
            raise NotFound("There is no approval with that id.")
        decision: Literal["approved", "rejected"] = "approved" if body.approved else "rejected"
        edited: Any = body.tool_input if body.approved else None
        try:
            await engine.approvals.decide(owner, body.approval_id, decision, owner, body.reason, edited)
        except RunEnded:
            raise
        except AlreadyDecided:
            raise AlreadyProcessed from None
        return Json(wire.Processed(approval_id=body.approval_id, approved=body.approved))

    @router.post(
        "/chats/{chat_id}/interactions/{interaction_id}/cancel",
        response_model=wire.Cancelling,
        tags=[FACE],
        summary="Stop an interaction",
    )
    async def cancel(owner: Owner, chat_id: str, interaction_id: str) -> Response:
        run = await run_in(engine, owner, chat_id, interaction_id)
        if run.status.is_terminal:
            raise Conflict("The interaction has ended.")
        await engine.cancel(owner, run.id)
        return Json(wire.Cancelling(interaction_id=interaction_id))

    @router.get("/chats", response_model=wire.ChatPage, tags=[FACE], summary="Chats, newest first")
    async def list_chats(owner: Owner, before: str | None = None, limit: Limit = 50) -> Response:
        page = await engine.views.threads(owner, before, limit)
        rows = [wire.ChatRow(id=name_of(t), created_at=iso(t.created_at) or "") for t in page if t.kind == "chat"]
        return Json(wire.ChatPage(chats=rows, next=page[-1].id if len(page) == limit else None))

    @router.get(
        "/chats/{chat_id}",
        response_model=wire.Chat,
        tags=[FACE],
        summary="A chat with its newest interactions, oldest first; earlier ones page by page",
    )
    async def get_chat(
        owner: Owner, chat_id: str, include_superseded: bool = False, before: str | None = None, limit: Limit = 50
    ) -> Response:
        thread = await thread_of(engine, owner, chat_id)
        return Json(await interactions.page(thread, include_superseded, before, limit))

    @router.delete("/chats/{chat_id}", status_code=204, tags=[FACE], summary="Delete a chat with all its interactions")
    async def delete_chat(owner: Owner, chat_id: str) -> Response:
        thread = await thread_of(engine, owner, chat_id)
        await engine.views.delete_thread(owner, thread.id)
        return Response(status_code=204)


async def _meant(request: Request, engine: Engine) -> tuple[str, Run]:
    """The owner, and the run that is the interaction of the path."""
    owner, where = await owner_of(request), request.path_params
    return owner, await run_in(engine, owner, where["chat_id"], where["interaction_id"])


def _wants_json(request: Request) -> bool:
    """S1 attaches with a plain `curl -N`, which accepts anything: the object is for those who ask for JSON only."""
    accepted = [each.partition(";")[0].strip().lower() for each in request.headers.get("accept", "").split(",")]
    return "application/json" in accepted and "text/event-stream" not in accepted
