"""The yardstick: a plain FastAPI StreamingResponse of the same 200 events, from memory, with no durability at all."""

import json
import sys
from collections.abc import AsyncIterator

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

TOKENS = ["tok "] * 200
app = FastAPI()
numbers = iter(range(1, 10**9))


class Message(BaseModel):
    content: str


@app.post("/api/threads", status_code=201)
async def open_thread() -> dict[str, str]:
    return {"thread_id": str(next(numbers))}


@app.post("/api/threads/{thread_id}/messages", status_code=201)
async def post(thread_id: str, body: Message) -> dict[str, str]:
    return {"run_id": str(next(numbers))}


def frame(seq: int, event: str, data: dict[str, str]) -> str:
    return f"id: {seq}\nevent: {event}\ndata: {json.dumps(data)}\n\n"


async def answer() -> AsyncIterator[str]:
    for seq, token in enumerate(TOKENS, 1):
        yield frame(seq, "token", {"text": token})
    yield frame(len(TOKENS) + 1, "state", {"status": "done"})


@app.get("/api/runs/{run_id}/events")
async def events(run_id: str) -> StreamingResponse:
    return StreamingResponse(answer(), media_type="text/event-stream")


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
