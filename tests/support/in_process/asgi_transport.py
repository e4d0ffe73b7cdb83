"""An ASGI app as a transport for the client: no port, no network, and streams that really stream.

(httpx2's own ASGITransport collects the whole body first, so nothing could be followed through it.)
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import httpx2

Message = MutableMapping[str, Any]
AsgiApp = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]


class AsgiTransport(httpx2.AsyncBaseTransport):
    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.partition(b"?")[0],
            "query_string": request.url.query,
            "server": (request.url.host, request.url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }
        return await _Exchange(self._app, scope, await request.aread()).response()


class _Exchange(httpx2.AsyncByteStream):
    """One request and its response; the app runs in a separate task for as long as the client reads."""

    def __init__(self, app: AsgiApp, scope: Message, body: bytes) -> None:
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self._sent: asyncio.Queue[Message | None] = asyncio.Queue(maxsize=1)
        self._task = asyncio.create_task(self._run(app, scope))

    async def response(self) -> httpx2.Response:
        try:
            start = await self._sent.get()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if start is None:
            await self._task
            raise httpx2.RemoteProtocolError("The app did not answer.")
        return httpx2.Response(start["status"], headers=start.get("headers", []), stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._sent.get()) is not None:
            yield message.get("body", b"")
            if not message.get("more_body", False):
                return
        raise httpx2.ReadError("The stream was cut.")

    async def aclose(self) -> None:
        self._gone.set()
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task

    async def _run(self, app: AsgiApp, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._sent.put)
        finally:
            # a reader that has left makes no room for it
            if not self._gone.is_set():
                await self._sent.put(None)

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}
