"""A server for the test kit of A2A (docs/strangers.md): `python -m tests.clients.suites.a2a_tck_server <port>`.

The kit says by the beginning of a message's id what the agent shall do. Agents do not see that id, so this one reads it
from the log of its run.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

import runyard
from runyard.app.process import Process

TEXTS = {
    "tck-artifact-text": "Generated text content",
    "tck-stream-001": "Stream hello from TCK",
    "tck-stream-003": "Stream task lifecycle",
    "tck-stream-ordering-001": "Ordered output",
    "tck-stream-artifact-text": "Streamed text content",
}
FILES = ("tck-artifact-file", "tck-stream-artifact-file")
started: list[Process] = []


@runyard.agent
async def tck(ctx: runyard.Context) -> runyard.Output | str:
    """Do what the scenarios of the kit ask for."""
    state = await started[0].engine.views.state("local", ctx.run_id, 1)
    name = str(state.options.echo["messageId"]) if state.options is not None else ""
    if name.startswith(FILES):
        await ctx.attach("output.txt", b"output", "text/plain")
        return runyard.Output()
    if name.startswith("tck-artifact-data"):
        return runyard.Output(outputs={"key": "value", "count": 42})
    if name.startswith("tck-input-required"):
        while (await ctx.ask("Input, please.", str)).startswith("TCK history message"):
            pass
    if name.startswith("tck-stream-artifact-chunked"):
        await ctx.token("chunk-1 ")
        return "chunk-1 chunk-2"
    if name.startswith("test-resubscribe-message-id"):
        await ctx.step("wait", asyncio.sleep, 4)  # waits on purpose: the kit wants a task that is slow
    return next((text for start, text in TEXTS.items() if name.startswith(start)), "Hello from TCK")


def serve(port: int) -> None:
    with TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'runs.db'}"
        settings = runyard.Settings(database_url=database, push_allow="127.0.0.1,::1")
        started.append(Process(settings, runyard.App({"tck": tck}, default="tck")))
        app = runyard.create_app(settings, process=started[0], keys=False)
        uvicorn.run(app, port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
