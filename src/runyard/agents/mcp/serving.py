"""Tools as an MCP server inside of this process, for runtimes that take their tools that way.

`make` makes a call; what it raises is told to the client, as far as that is meant for it. It is given the id that the
client has for the call (`toolUseId` in the request's `_meta`), if it says any. Needs the package `mcp`.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from runyard.agents.json_values import plain
from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.current_call import code_of
from runyard.errors import InvalidInput, ToolFailed

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

USE_ID = "toolUseId"
Make = Callable[[Tool[..., Any], dict[str, Any], str | None], Awaitable[Any]]


def directly(run_id: str) -> Make:
    """Call a tool for this run under the client's id, so that a call that comes again is known; without one it gets a
    number."""
    numbers = count(1)

    async def make(tool: Tool[..., Any], given: dict[str, Any], use_id: str | None) -> Any:
        return await tool.run(given, None, f"{run_id}:{use_id or f'mcp#{next(numbers)}'}")

    return make


def served(name: str, tools: Sequence[Tool[..., Any]], make: Make) -> "Server[Any]":
    """These tools, bound to the run that they were made for."""
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent
    from mcp.types import Tool as Described

    known = {tool.name: tool for tool in tools}

    def ended(text: str, error: bool = False) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=error)

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(
            tools=[Described(name=t.name, description=t.description, input_schema=t.schema) for t in tools]
        )

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        tool = known.get(params.name)
        if tool is None:
            return ended("There is no tool of that name.", error=True)
        try:
            result = await make(tool, params.arguments or {}, _use_id(params.meta))
        except (ToolFailed, InvalidInput) as error:
            return ended(error.message, error=True)
        except Exception as error:
            return ended(code_of(error), error=True)
        return ended(msgspec.json.encode(plain(result)).decode())

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


def _use_id(meta: Any) -> str | None:
    """Clients put a prefix of their own before the name."""
    return next((str(value) for key, value in dict(meta or {}).items() if key.rpartition("/")[2] == USE_ID), None)
