"""The real app on a real socket, in the test's own process: what leaves it are the bytes that a client would get.

`Server` is one pod: a `Process` and uvicorn, as `runyard.app.server` puts them together, on a free port of
127.0.0.1. Two of them may share a store, and are then two pods. Nothing here waits for a time: a test waits for
bytes, for the end of a stream or for an event of the agent's. Requests need an API key only if the test says so.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol
from unittest.mock import AsyncMock, patch

import httpx2
import uvicorn

from runyard.agents.declared.loading import App
from runyard.app import startup_checks
from runyard.app.process import Process
from runyard.app.server import http_protocol
from runyard.domain.api_key import ALL_SCOPES, Scope
from runyard.settings import Settings
from runyard.store import Store
from runyard.web.app import App as WebApp
from tests.support.eventually import PATIENCE
from tests.support.in_process.app_factory import create_app
from tests.support.in_process.declared_statuses import DeclaredStatuses
from tests.support.in_process.raw_stream import RawStream

QUICK: Mapping[str, Any] = {
    "lease_seconds": 5,
    "reap_seconds": 5,
    "poll_seconds": 0.05,
    "drain_seconds": 0,
    "stop_seconds": 1,
    "agent_models": "fake/model,openai/gpt-5-mini",
}


class Server:
    """One pod. `http` talks JSON to it; `stream` opens a stream and keeps every byte."""

    def __init__(self, process: Process, uvicorn_server: uvicorn.Server, port: int, http: httpx2.AsyncClient) -> None:
        self.process = process
        self.uvicorn = uvicorn_server
        self.port = port
        self.http = http

    @property
    def store(self) -> Store:
        return self.process.store

    async def key(self, owner: str, *scopes: Scope, seconds: int | None = None) -> str:
        """A new API key, with all scopes unless some are named."""
        return (await self.process.engine.access.create(owner, "", scopes or ALL_SCOPES, seconds))[1]

    async def stream(self, path: str, headers: Mapping[str, str] | None = None, receive_buffer: int = 0) -> RawStream:
        return await RawStream.open(self.port, path, headers or {}, receive_buffer)

    async def whole_stream(self, path: str, headers: Mapping[str, str] | None = None) -> RawStream:
        """A stream read to its end."""
        stream = await self.stream(path, headers)
        await stream.to_end()
        return stream

    async def thread(self, **body: Any) -> str:
        answer = await self.http.post("/api/threads", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["thread_id"])

    async def post(self, agent: str, content: str = "hello", thread_id: str | None = None) -> str:
        """Say something to an agent; the run's id."""
        where = thread_id or await self.thread()
        answer = await self.http.post(f"/api/threads/{where}/messages", json={"content": content, "agent": agent})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["run_id"])

    async def ended(self, run_id: str) -> RawStream:
        """The run's whole stream on the threads face, once it has ended."""
        stream = await self.whole_stream(f"/api/runs/{run_id}/events")
        assert stream.ended_cleanly
        return stream

    async def run(self, run_id: str) -> dict[str, Any]:
        answer = await self.http.get(f"/api/runs/{run_id}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def log(self, run_id: str) -> list[dict[str, Any]]:
        """The log of a run that has ended, as the native face shows it."""
        stream = await self.whole_stream(f"/api/runs/{run_id}/log")
        return [frame.json for frame in stream.frames]

    async def waiting(self, run_id: str, times: int = 1) -> str:
        """The id of what the run waits for, once it has left its worker so many times."""
        stream = await self.stream(f"/api/runs/{run_id}/log")
        await stream.until(lambda: sum(frame.event == "run.waiting" for frame in stream.frames) >= times)
        await stream.close()
        return str([frame for frame in stream.frames if frame.event == "run.waiting"][-1].json["data"]["waits"][0])


@asynccontextmanager
async def served(
    settings: Settings, agents: App, store: Store | None = None, *, worker: bool = True, keys: bool = False
) -> AsyncIterator[Server]:
    """A pod from start to stop. Stopping drains as a SIGTERM would: runs go back, streams are cut, then it closes."""
    process = Process(settings, agents, worker=worker, store=store)
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio sends small packets at once only then
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    app = create_app(settings, process=process, keys=keys)
    assert isinstance(app, WebApp)
    compared = DeclaredStatuses(app, keys)
    config = uvicorn.Config(
        compared,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        ws="none",
        http=http_protocol(settings, process),
        timeout_graceful_shutdown=5,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    with _without_models():
        await process.start()
    await _listen(server, config, listener)
    try:
        url, version = f"http://127.0.0.1:{port}", {"A2A-Version": "1.0"}  # which the routes of A2A need
        async with httpx2.AsyncClient(base_url=url, headers=version, timeout=PATIENCE, verify=False) as http:
            yield Server(process, server, port, http)
    finally:
        await process.drain(settings.drain_seconds)
        await _close(server)
        await process.stop()
    assert not compared.found, sorted(compared.found)


@contextmanager
def _without_models() -> Iterator[None]:
    """Leave litellm to the first request to a model: its import costs each tester 7 s and 240 MB."""
    with patch.object(startup_checks, "_load_models", AsyncMock()):
        yield


async def _listen(server: uvicorn.Server, config: uvicorn.Config, listener: socket.socket) -> None:
    """Do what `uvicorn.Server.serve` does first, without its signal handlers and its clock of a tenth of a second."""
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    await server.on_tick(0)


async def _close(server: uvicorn.Server) -> None:
    for listening in server.servers:
        listening.close()
    for connection in list(server.server_state.connections):
        connection.shutdown()
    if server.server_state.tasks:
        await asyncio.wait(server.server_state.tasks, timeout=PATIENCE)


class Serve(Protocol):
    """Starts a pod on the test's database; further ones share it, if it is Postgres or memory."""

    async def __call__(
        self, app: App | None = None, *, worker: bool = True, keys: bool = False, **settings: Any
    ) -> Server: ...
