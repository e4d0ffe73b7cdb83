"""DBOS on Postgres: a run is a workflow whose one step writes every token to the workflow's stream. An empty run is
a workflow without a step, and its end is awaited where it was started, which is the fastest way.

`python dbos_app.py <postgres url> <port>`"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from dbos import DBOS, SetWorkflowID, WorkflowHandleAsync
from face import app_for
from fastapi import FastAPI

KEY = "tokens"
started: dict[str, WorkflowHandleAsync[None]] = {}


@DBOS.step()
async def write(tokens: int) -> None:
    for n in range(tokens):
        await DBOS.write_stream_async(KEY, f"t{n} ")


@DBOS.workflow()
async def work(tokens: int) -> None:
    if tokens:
        await write(tokens)
        await DBOS.close_stream_async(KEY)


async def start(run: str, agent: str, tokens: int) -> None:
    with SetWorkflowID(run):
        started[run] = await DBOS.start_workflow_async(work, tokens)


async def read(run: str, tokens: int) -> AsyncIterator[str]:
    workflow = started.pop(run)
    if tokens:
        async for text in DBOS.read_stream_async(run, KEY):
            yield text
    else:
        await workflow.get_result()


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    DBOS.launch()
    yield
    DBOS.destroy()


if __name__ == "__main__":
    DBOS(config={"name": "bench", "system_database_url": sys.argv[1], "log_level": "ERROR"})
    uvicorn.run(app_for(start, read, lifespan), port=int(sys.argv[2]), log_level="warning", access_log=False)
