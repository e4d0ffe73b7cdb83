"""A server for the API tests of LangGraph's server for Node (docs/strangers.md).

`python -m tests.clients.suites.langgraph_api_server <port>`. The tests know no prefix, and empty the server
between them.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

import runyard
from runyard.app.process import Process
from runyard.engine.engine import Engine
from runyard.errors import AgentError
from runyard.faces.langgraph.start import cancel_all

OWNER, PAGE, WORK = "local", 100, 1.0


class Boo(AgentError):
    """The error of the tests' graph."""

    code = "CustomError"


@runyard.tool(effects="none")
async def tool(said: str) -> str:
    return f"tool_call__{said}"


@runyard.agent(tools=[tool])
async def agent(ctx: runyard.Context) -> str:
    """Write two words, with a call of a tool between them."""
    if ctx.message.text == "SF":
        await ctx.ask("i want to interrupt", str)
    await asyncio.sleep(WORK)  # waits on purpose: the tests send more meanwhile
    for letter in "begin":
        await ctx.token(letter)
    await ctx.call(tool, said="begin")
    for letter in "end":
        await ctx.token(letter)
    return "beginend"


@runyard.agent
async def delay(ctx: runyard.Context) -> str:
    wait = ctx.task.inputs["delay"] if ctx.task is not None else 0
    await asyncio.sleep(wait / 1000)  # waits on purpose: the tests are about long runs
    return f"finished after {wait}ms"


@runyard.agent
async def error(ctx: runyard.Context) -> str:
    raise Boo("Boo!")


async def truncate(engine: Engine) -> None:
    while threads := await engine.views.threads(OWNER, None, PAGE):
        for thread in threads:
            await cancel_all(engine, thread)
            await engine.views.delete_thread(OWNER, thread.id)


def at_root(app: ASGIApp, process: Process) -> ASGIApp:
    """Serve the routes of the face without their prefix."""

    async def serve_at_root(scope: Scope, receive: Receive, send: Send) -> Any:
        if scope["type"] == "http" and scope["path"] == "/internal/truncate":
            await truncate(process.engine)
            return await Response(status_code=204)(scope, receive, send)
        if scope["type"] == "http":
            scope = {**scope, "path": f"/langgraph{scope['path']}", "raw_path": b"/langgraph" + scope["raw_path"]}
        return await app(scope, receive, send)

    return serve_at_root


def serve(port: int) -> None:
    with TemporaryDirectory() as folder:
        settings = runyard.Settings(database_url=f"sqlite:///{Path(folder) / 'runs.db'}")
        process = Process(settings, runyard.App({"agent": agent, "delay": delay, "error": error}, default="agent"))
        app = at_root(runyard.create_app(settings, process=process, keys=False), process)
        uvicorn.run(app, port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
