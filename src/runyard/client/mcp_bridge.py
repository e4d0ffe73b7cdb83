"""A bridge from MCP over stdio to the route `/mcp` of a server: a message is a line here, and a request there.

The server answers; the bridge adds the headers that HTTP needs. If the connection of a call breaks, the bridge
continues the stream after the last event. The stateless revision has no way to continue;
there the client gets an error.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx2
import msgspec

from runyard.base.sse import Parser
from runyard.client.connection import Connection
from runyard.errors import RunyardError, Unavailable

PATH = "/mcp"
META = "io.modelcontextprotocol/protocolVersion"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMED |= dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId")
NOT_JSON, REFUSED = -32700, -32000
LOST = "The connection to the server was lost before the answer. The run may continue."
Message = dict[str, Any]


class Bridge:
    """Takes the lines of one client. `write` gets the lines for it."""

    def __init__(self, connection: Connection, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._connection = connection
        self._write = write
        self._session: str | None = None
        self._version: str | None = None
        self._calls: dict[Any, asyncio.Task[None]] = {}  # requests of the stateless revision
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Take lines until they end. Requests that have no answer then are given up."""
        try:
            async for line in lines:
                if line.strip():
                    await self._take(line)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line, type=Message)
        except msgspec.DecodeError:
            await self._say({"jsonrpc": "2.0", "id": None, "error": {"code": NOT_JSON, "message": "Not JSON."}})
            return
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            call = self._calls.pop(params.get("requestId"), None)
            if call is not None:
                call.cancel()  # it closes the connection, which cancels the call in the stateless revision
                return
        task = asyncio.create_task(self._pass_on(message), name="message of an MCP client")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if "method" in message and "id" in message and _stateless_version(message) is not None:
            request_id = message["id"]
            self._calls[request_id] = task
            task.add_done_callback(lambda done: self._forget(request_id, done))
        if message.get("method") == "initialize":
            await task  # later messages need its session

    def _forget(self, request_id: Any, task: "asyncio.Task[None]") -> None:
        if self._calls.get(request_id) is task:
            del self._calls[request_id]

    async def _pass_on(self, message: Message) -> None:
        try:
            await self._exchange(message)
        except RunyardError as error:
            await self._fail(message, error.message)

    async def _exchange(self, message: Message) -> None:
        body = msgspec.json.encode(message)
        event_id: str | None = None
        try:
            async with self._connection.exchange("POST", PATH, self._headers(message), body) as response:
                if not _is_stream(response):
                    await self._whole(message, response)
                    return
                async for found, is_last in self._frames(response):
                    event_id = found
                    if is_last:
                        return
        except Unavailable:
            if event_id is None:
                raise
        if event_id is None:
            raise Unavailable(LOST)
        await self._continue(event_id)

    async def _continue(self, event_id: str) -> None:
        """Follow the stream of a call after an event, until its last one."""
        failures = 0
        while True:
            failures += 1
            await self._connection.pause(failures)
            headers = {**self._headers({}), "Last-Event-ID": event_id}
            try:
                async with self._connection.exchange("GET", PATH, headers) as response:
                    if not _is_stream(response):
                        raise RunyardError(LOST) if response.status_code < 500 else Unavailable(LOST)
                    async for found, is_last in self._frames(response):
                        event_id, failures = found or event_id, 0
                        if is_last:
                            return
            except Unavailable:
                if failures >= self._connection.attempts:
                    raise

    async def _frames(self, response: httpx2.Response) -> AsyncIterator[tuple[str | None, bool]]:
        """Pass on the messages of a stream. Yield the id of each, and whether it is the last."""
        parser = Parser()
        async for chunk in response.aiter_bytes():
            for frame in parser.feed(chunk):
                is_last = False
                if frame.data:
                    message = msgspec.json.decode(frame.data, type=Message)
                    is_last = "method" not in message
                    await self._say(message)
                yield frame.id or None, is_last

    async def _whole(self, message: Message, response: httpx2.Response) -> None:
        """Pass on an answer that is not a stream. An error that names no request is given the id of this one."""
        content = await response.aread()
        if "id" not in message or "method" not in message:
            return
        try:
            answer = msgspec.json.decode(content, type=Message)
        except msgspec.DecodeError:
            raise RunyardError(f"The server answered {response.status_code} without a message of MCP.") from None
        if message["method"] == "initialize" and isinstance(answer.get("result"), dict):
            self._session = response.headers.get("mcp-session-id")
            self._version = answer["result"].get("protocolVersion")
        await self._say({**answer, "id": message["id"]})

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        version = _stateless_version(message)
        if version is not None:
            headers |= {"MCP-Protocol-Version": version, "Mcp-Method": _header(str(message.get("method")))}
            name = message["params"].get(NAMED.get(str(message.get("method")), ""))
            if isinstance(name, str):
                headers["Mcp-Name"] = _header(name)
        elif message.get("method") != "initialize":
            headers |= {} if self._session is None else {"Mcp-Session-Id": self._session}
            headers |= {} if self._version is None else {"MCP-Protocol-Version": self._version}
        return headers

    async def _fail(self, message: Message, reason: str) -> None:
        if "id" in message and "method" in message:
            await self._say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": REFUSED, "message": reason}})

    async def _say(self, message: Message) -> None:
        await self._write(msgspec.json.encode(message) + b"\n")


def _is_stream(response: httpx2.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


def _stateless_version(message: Mapping[str, Any]) -> str | None:
    """Return the revision that a message of the stateless revision names, else None."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(META) if isinstance(meta, dict) else None
    return version if isinstance(version, str) and version.isascii() and version.isprintable() else None


def _header(value: str) -> str:
    """Return a text as the value of a header: in base64 if it is not plain."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
