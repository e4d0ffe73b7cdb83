"""The baseline: a plain FastAPI StreamingResponse of the same tokens, from memory, without durability.

It answers the same three requests as the threads face, so that the client does the same work."""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator
from time import monotonic_ns

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from bench.rivals.pace import due_tokens, timed_token
from bench.servers.app import PACE, TEXTS

app = FastAPI()
numbers = itertools.count(1)


class Message(BaseModel):
    content: str
    agent: str


@app.post("/api/threads", status_code=201)
async def open_thread() -> dict[str, str]:
    return {"thread_id": str(next(numbers))}


@app.post("/api/threads/{thread_id}/messages", status_code=201)
async def post(thread_id: str, body: Message) -> dict[str, str]:
    return {"run_id": f"{body.agent}-{int(body.content)}-{next(numbers)}"}


@app.get("/api/runs/{run_id}/events")
async def events(run_id: str) -> StreamingResponse:
    agent, tokens, _ = run_id.split("-")
    return StreamingResponse(answer(agent, int(tokens)), media_type="text/event-stream")


def frame(seq: int, event: str, data: dict[str, str]) -> str:
    return f"id: {seq}\nevent: {event}\ndata: {json.dumps(data)}\n\n"


async def texts(agent: str, tokens: int) -> AsyncIterator[str]:
    match agent:
        case "conversing":
            async for text in due_tokens(tokens):
                yield text
        case "paced":
            for n in range(tokens):
                yield timed_token(n, monotonic_ns())
                await asyncio.sleep(PACE)
        case _:
            for text in TEXTS[:tokens]:
                yield text


async def answer(agent: str, tokens: int) -> AsyncIterator[str]:
    n = 0
    async for text in texts(agent, tokens):
        n += 1
        yield frame(n, "token", {"text": text})
    yield frame(tokens + 1, "state", {"status": "done"})


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
