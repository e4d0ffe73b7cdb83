"""MCP servers as a source of tools: `Agent("helper", ..., tools=[mcp("npx some-server"), mcp("https://host/mcp")])`.

Runyard starts the command, or connects to the address, when a run first needs the tools. The connection is kept; the
next call reopens it if it is lost. A server's own description of its tools is not trusted: they need approval and count
as `once`, unless the app declares otherwise. A call that is cancelled or times out is also cancelled on the server.
Over HTTP only public addresses are called, unless the app allows a network (`agents/tools/outbound.py`).

A server's log lines are discarded because they hold content. Needs the package `mcp`.
"""

import asyncio
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runyard.agents.mcp.connection import Connection
from runyard.agents.mcp.results import result_of_call
from runyard.agents.tools.sources import ForeignTool, ToolSource
from runyard.agents.tools.tool import ApprovalPolicy, Effects, Tool, ToolOptions
from runyard.agents.user_code.current_call import current_call
from runyard.errors import Invalid

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, ListToolsResult

_MOST_PAGES = 50
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)


def mcp(
    server: str | Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    allow: Sequence[str] = (),
    only: Sequence[str] | None = None,
    prefix: str = "",
    approval: ApprovalPolicy = "always",
    effects: Effects = "once",
    timeout: float | None = 60,
    rate_limit: str | None = None,
    tools: Mapping[str, ToolOptions] | None = None,
) -> "McpServer":
    """Use the tools of an MCP server.

    Args:
        server: A command line to start, or an address that begins with http:// or https://.
        env: Environment variables of the command.
        headers: Headers of every request to the address.
        allow: Networks that may be called although they are not public.
        only: The names of the tools to use; all of them if None.
        prefix: Put before the name of every tool.
        approval: As for `runyard.tool`, for all tools of the server.
        effects: As for `runyard.tool`.
        timeout: As for `runyard.tool`.
        rate_limit: As for `runyard.tool`.
        tools: Other options for single tools: `{"search": {"approval": "never", "effects": "none"}}`.

    Raises:
        Invalid: If there is neither a command nor an address.

    Example:
        >>> search = runyard.mcp("npx search-server", only=["search"], approval="never", effects="none")
        >>> runyard.Agent("helper", model="openai/gpt-5-mini", tools=[search]).sources == (search,)
        True
    """
    defaults: ToolOptions = {"approval": approval, "effects": effects, "timeout": timeout, "rate_limit": rate_limit}
    if isinstance(server, str) and server.startswith(("http://", "https://")):
        connection = Connection(url=server, headers=headers, allow=allow)
    else:
        words = shlex.split(server) if isinstance(server, str) else list(server)
        if not words:
            raise Invalid("An MCP server is a command to start, or an address that begins with http:// or https://.")
        connection = Connection(command=words, env=env)
    return McpServer(connection, only, prefix, defaults, tools or {})


class McpServer(ToolSource):
    def __init__(
        self,
        connection: Connection,
        only: Sequence[str] | None,
        prefix: str,
        defaults: ToolOptions,
        special: Mapping[str, ToolOptions],
    ) -> None:
        self._connection = connection
        self._only = only
        self._prefix = prefix
        self._defaults = defaults
        self._special = special
        self._listed: Sequence[Tool[..., Any]] | None = None
        self._listing = asyncio.Lock()

    async def tools(self) -> Sequence[Tool[..., Any]]:
        async with self._listing:
            if self._listed is None:
                self._listed = [self._tool(found) for found in await self._list()]
            return self._listed

    async def close(self) -> None:
        self._listed = None
        await self._connection.close()

    async def _list(self) -> list[Any]:
        found: list[Any] = []
        cursor: str | None = None

        async def ask(client: "Client") -> "ListToolsResult":
            return await client.list_tools(cursor=cursor)

        for _ in range(_MOST_PAGES):
            page = await self._connection.use(ask)
            found += [tool for tool in page.tools if self._only is None or tool.name in self._only]
            cursor = page.next_cursor
            if cursor is None:
                break
        missing = set(self._only or ()) - {tool.name for tool in found}
        if missing:
            raise Invalid(f"The MCP server has no tool {min(missing)}; correct `only`.")
        return found

    def _tool(self, found: Any) -> Tool[..., Any]:
        async def call(given: dict[str, Any]) -> Any:
            return await self._call(found.name, given)

        name = _NOT_IN_NAMES.sub("_", self._prefix + found.name)[:64]
        options: ToolOptions = {"name": name, **self._defaults, **self._special.get(found.name, {})}
        return ForeignTool(call, found.description or "", found.input_schema, **options)

    async def _call(self, name: str, given: dict[str, Any]) -> Any:
        call = current_call()

        async def hear(progress: float, total: float | None = None, message: str | None = None) -> None:
            if call is not None and call.open and message:
                call.write(message + "\n")

        async def ask(client: "Client") -> "CallToolResult":
            return await client.call_tool(name, given, progress_callback=hear)

        return await result_of_call(await self._connection.use(ask), None if call is None else call.execution)
