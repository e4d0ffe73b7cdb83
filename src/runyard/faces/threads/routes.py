"""The routes of the threads face."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.run import Run
from runyard.domain.thread import Message
from runyard.engine.engine import Engine
from runyard.engine.intake.intake import idempotency_key
from runyard.engine.queries.views import known
from runyard.faces.threads import translate, wire
from runyard.web.auth import Owner, owner_of
from runyard.web.body import read
from runyard.web.responses import Json, Key, iso, key_of
from runyard.web.routing import add_fast, add_stream
from runyard.web.sse import EventStream, nothing_more, start_of

FACE = "threads"
CANCEL_PATIENCE = 1.0
MESSAGES = 200  # of a thread, in one answer
MessageLimit = Annotated[int, Query(ge=1, le=500)]


def add_routes(router: APIRouter, engine: Engine, heartbeat: float) -> None:
    async def events(request: Request) -> Response:
        after = start_of(request)
        owner, run_id = await owner_of(request), request.path_params["run_id"]
        if "last-event-id" in request.headers:
            run = await engine.views.run(owner, run_id)
            if (over := nothing_more(request, run)) is not None:
                return over
        run_id = await engine.views.visible(owner, run_id)
        return EventStream(engine.streams, run_id, after, FACE, translate.frame, heartbeat)

    add_stream(router, "/api/runs/{run_id}/events", events, tag=FACE, summary="Follow a run")

    async def post_message(request: Request) -> Response:
        owner, thread_id = await owner_of(request), known(request.path_params["thread_id"], "thread")
        body = await read(request, wire.NewMessage)
        route = f"POST /api/threads/{thread_id}/messages"
        note = idempotency_key(owner, route, key_of(request), body.model_dump())
        accepted = await engine.intake.post(owner, FACE, thread_id, body.content, body.agent, note)
        return Json(wire.RunMade(run_id=accepted.run_id), 201)

    async def posting(thread_id: str, body: wire.NewMessage, key: Key = None) -> None: ...

    add_fast(
        router,
        "POST",
        "/api/threads/{thread_id}/messages",
        post_message,
        tag=FACE,
        summary="Say something and start the run that answers it",
        documented=posting,
        status=201,
        response=wire.RunMade,
    )

    @router.post("/api/threads", status_code=201, response_model=wire.ThreadMade, tags=[FACE], summary="Open a thread")
    async def open_thread(owner: Owner, key: Key = None, body: wire.NewThread | None = None) -> Response:
        asked = body or wire.NewThread()
        user_id = None if asked.user_id is None else msgspec.json.encode(asked.user_id).decode()
        note = idempotency_key(owner, "POST /api/threads", key, asked.model_dump())
        thread = await engine.intake.open_thread(owner, user_id, asked.agent, note)
        return Json(wire.ThreadMade(thread_id=thread.id), 201)

    @router.get(
        "/api/threads/{thread_id}",
        response_model=wire.ThreadSeen,
        tags=[FACE],
        summary="A thread and what was said in it",
    )
    async def get_thread(
        owner: Owner, thread_id: str, before: str | None = None, limit: MessageLimit = MESSAGES
    ) -> Response:
        thread = await engine.views.thread(owner, thread_id)
        said = [_message(message) for message in await engine.views.messages(thread, before, limit)]
        user_id = None if thread.user_id is None else msgspec.json.decode(thread.user_id)
        earlier = said[0].id if len(said) == limit else None
        return Json(wire.ThreadSeen(thread_id=thread.id, user_id=user_id, messages=said, next=earlier))

    @router.get("/api/runs/{run_id}", response_model=wire.RunSeen, tags=[FACE], summary="A run's status and times")
    async def get_run(owner: Owner, run_id: str) -> Response:
        return Json(_run(await engine.views.run(owner, run_id)))

    @router.post("/api/runs/{run_id}/cancel", response_model=wire.Canceled, tags=[FACE], summary="Stop a run")
    async def cancel(owner: Owner, run_id: str) -> Response:
        run = await engine.cancel(owner, known(run_id, "run"), CANCEL_PATIENCE)
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
    return wire.MessageSeen(
        id=message.id, role=message.role, content=message.text, created_at=iso(message.created_at) or ""
    )
