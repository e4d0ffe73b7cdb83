"""Redis Streams: a run is a task of the server that adds every token with a separate XADD; readers block on XREAD.

`python redis_app.py <redis url> <port>`"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from face import app_for
from fastapi import FastAPI
from pace import due_tokens
from redis.asyncio import BlockingConnectionPool, Redis

CONNECTIONS = 200
redis = Redis(connection_pool=BlockingConnectionPool.from_url(sys.argv[1], max_connections=CONNECTIONS))
tasks: set[asyncio.Task[None]] = set()


async def write(run: str, agent: str, tokens: int) -> None:
    if agent == "conversing":
        async for text in due_tokens(tokens):
            await redis.xadd(run, {"text": text})
    else:
        for n in range(tokens):
            await redis.xadd(run, {"text": f"t{n} "})


async def start(run: str, agent: str, tokens: int) -> None:
    task = asyncio.create_task(write(run, agent, tokens))
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def read(run: str, tokens: int) -> AsyncIterator[str]:
    last, seen = b"0", 0
    while seen < tokens:
        found = await redis.xread({run: last}, block=10_000)
        entries = found[run.encode()][0] if isinstance(found, dict) else found[0][1]
        for _, fields in entries:
            yield fields[b"text"].decode()
        last, seen = entries[-1][0], seen + len(entries)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield
    await redis.aclose()


if __name__ == "__main__":
    uvicorn.run(app_for(start, read, lifespan), port=int(sys.argv[2]), log_level="warning", access_log=False)
