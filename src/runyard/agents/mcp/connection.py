"""A connection to an MCP server: opened at first use, kept, and reopened after it is lost.

The connection lives in its own task, because the task that opens it must also close it. A caller may be cancelled at
any time without harm to other callers. A server that ended between calls is started again before the next call. If it
ends during a call, that call fails, because its effects are unknown.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from runyard.errors import ServerGone, ToolError
from runyard.telemetry.logger import get_logger

if TYPE_CHECKING:
    from mcp import Client

log = get_logger()
T = TypeVar("T")

_CONNECT_SECONDS = 30
_CLOSE_SECONDS = 10


class Connection:
    def __init__(
        self,
        *,
        command: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        self._command = list(command)
        self._env = dict(env or {})
        self._url = url
        self._headers = headers
        self._allow = allow
        self._opening = asyncio.Lock()
        self._live: _Live | None = None
        if url is not None:
            from runyard.agents.tools.outbound import Allowed

            Allowed(allow)  # raises Invalid at the declaration

    async def use(self, work: Callable[["Client"], Awaitable[T]]) -> T:
        """Call `work` with the client. Raise ServerGone if the server does not answer."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        live = await self._open()
        try:
            return await work(live.client)
        except MCPError as error:
            lost = self._url is not None or error.error.code == CONNECTION_CLOSED
            if lost:
                live.gone.set()
            if error.error.code == CONNECTION_CLOSED:
                raise ServerGone from None
            raise ToolError("The tool server refused the call. Check its log.") from None

    async def close(self) -> None:
        async with self._opening:
            if self._live is not None:
                await self._live.close()
            self._live = None

    async def _open(self) -> "_Live":
        async with self._opening:
            live = self._live
            if live is not None and live.loop is asyncio.get_running_loop():
                if not live.gone.is_set():
                    return live
                await live.close()
            self._live = _Live(self._transport)
            try:
                await self._live.ready()
            except BaseException:
                self._live = None
                raise
            log.info("mcp.connected", over="stdio" if self._url is None else "http")
            return self._live

    @asynccontextmanager
    async def _transport(self, gone: asyncio.Event) -> AsyncIterator[Any]:
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        async with AsyncExitStack() as stack:
            if self._url is not None:
                from runyard.agents.tools.outbound import Allowed, outbound_client

                allowed = Allowed(self._allow)
                await allowed.check(self._url)  # a clear error now; the client checks every connection again
                http = await stack.enter_async_context(outbound_client(allowed, headers=self._headers))
                transport = streamable_http_client(self._url, http_client=http)
            else:
                first, *rest = self._command
                nowhere = stack.enter_context(_nowhere())
                server = StdioServerParameters(command=first, args=rest, env=self._env)
                transport = _watched(stdio_client(server, errlog=nowhere), gone)
            yield await stack.enter_async_context(transport)


class _Live:
    """One open connection in its own task, from `ready` to `close`."""

    def __init__(self, transport: Callable[[asyncio.Event], Any]) -> None:
        self.loop = asyncio.get_running_loop()
        self.gone = asyncio.Event()
        self.client: Client
        self._transport = transport
        self._ready: asyncio.Future[None] = self.loop.create_future()
        self._done = asyncio.Event()
        self._task = asyncio.create_task(self._hold(), name="mcp")

    async def ready(self) -> None:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await asyncio.shield(self._ready)
        except TimeoutError:
            self._task.cancel()
            raise ServerGone from None
        except asyncio.CancelledError:
            self._task.cancel()
            raise

    async def close(self) -> None:
        self._done.set()
        await asyncio.wait({self._task}, timeout=_CLOSE_SECONDS)
        self._task.cancel()

    async def _hold(self) -> None:
        from mcp import Client

        try:
            async with Client(self._transport(self.gone), cache=None) as client:
                self.client = client
                self._ready.set_result(None)
                await self._done.wait()
        except Exception as error:  # any error means that there is no connection
            refused = _refusal(error)
            log.warning("mcp.connection_failed", error=type(refused or error).__name__)
            if not self._ready.done():
                self._ready.set_exception(refused or ServerGone())
                self._ready.exception()  # retrieved, even if no caller waits any more
        finally:
            self.gone.set()


def _nowhere() -> TextIO:
    return open(os.devnull, "w")


def _refusal(error: BaseException) -> ToolError | None:
    """Return our own ToolError inside the error, if any. Task groups and clients wrap errors."""
    seen: list[BaseException] = [error]
    while seen:
        one = seen.pop()
        if isinstance(one, ToolError):
            return one
        if isinstance(one, BaseExceptionGroup):
            seen += one.exceptions
        seen += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
    return None


@asynccontextmanager
async def _watched(transport: Any, gone: asyncio.Event) -> AsyncIterator[Any]:
    """Wrap a transport: set `gone` when there is nothing more to read."""
    import anyio

    async with transport as (read, write), anyio.create_task_group() as tasks:
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def pump() -> None:
            try:
                async with send:
                    async for message in read:
                        await send.send(message)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            finally:
                gone.set()

        tasks.start_soon(pump)
        try:
            yield receive, write
        finally:
            tasks.cancel_scope.cancel()
