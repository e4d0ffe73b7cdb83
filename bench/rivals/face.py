"""The three requests of the threads face, for a rival that brings how a run is started and how its tokens are read."""

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

Start = Callable[[str, str, int], Awaitable[None]]
Read = Callable[[str, int], AsyncIterator[str]]
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class Message(BaseModel):
    content: str
    agent: str


def app_for(start: Start, read: Read, lifespan: Lifespan) -> FastAPI:
    """`start(run, agent, tokens)` starts a run and returns; `read(run, tokens)` gives its tokens, and ends after the
    last."""
    app = FastAPI(lifespan=lifespan)
    numbers = itertools.count(1)

    @app.post("/api/threads", status_code=201)
    async def open_thread() -> dict[str, str]:
        return {"thread_id": str(next(numbers))}

    @app.post("/api/threads/{thread_id}/messages", status_code=201)
    async def post(thread_id: str, body: Message) -> dict[str, str]:
        run = f"run-{next(numbers)}-{body.content}"
        await start(run, body.agent, int(body.content))
        return {"run_id": run}

    @app.get("/api/runs/{run_id}/events")
    async def events(run_id: str) -> StreamingResponse:
        tokens = int(run_id.rpartition("-")[2])
        return StreamingResponse(_frames(read(run_id, tokens)), media_type="text/event-stream")

    return app


async def _frames(texts: AsyncIterator[str]) -> AsyncIterator[str]:
    seq = 0
    async for text in texts:
        seq += 1
        yield _frame(seq, "token", {"text": text})
    yield _frame(seq + 1, "state", {"status": "done"})


def _frame(seq: int, event: str, data: dict[str, str]) -> str:
    return f"id: {seq}\nevent: {event}\ndata: {json.dumps(data)}\n\n"
