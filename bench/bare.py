"""The yardstick: a plain FastAPI StreamingResponse of the same events, from memory, with no durability at all."""

import sys

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

EVENTS = 200
app = FastAPI()
runs = iter(range(1, 10**9))


@app.post("/api/threads", status_code=201)
async def open_thread() -> dict[str, str]:
    return {"thread_id": str(next(runs))}


@app.post("/api/threads/{thread_id}/messages", status_code=201)
async def post(thread_id: str, body: dict[str, str]) -> dict[str, str]:
    return {"run_id": str(next(runs))}


@app.get("/api/runs/{run_id}/events")
async def events(run_id: str) -> StreamingResponse:
    async def frames():  # type: ignore[no-untyped-def]
        for seq in range(1, EVENTS + 1):
            yield f'id: {seq}\nevent: token\ndata: {{"text":"tok "}}\n\n'
        yield f'id: {EVENTS + 1}\nevent: state\ndata: {{"status":"done"}}\n\n'

    return StreamingResponse(frames(), media_type="text/event-stream")


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
