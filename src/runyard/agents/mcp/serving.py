"""Our tools as an MCP server inside this process, for runtimes that take their tools that way.

A `Make` function makes a call. Its exception becomes the error of the call; the model sees the message only if it is
written for a model. It also gets the client's id of the call (`toolUseId` in the request's `_meta`), if the client
sends one. Needs the package `mcp`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from runyard.agents.json_values import plain
from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.current_call import error_code
from runyard.errors import InvalidInput, ToolFailed

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

USE_ID = "toolUseId"
Make = Callable[[Tool[..., Any], dict[str, Any], str | None], Awaitable[Any]]


def mcp_server(name: str, tools: Sequence[Tool[..., Any]], make: Make) -> "Server[Any]":
    """Return an MCP server with these tools, bound to one run by `make`."""
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
            return ended(error_code(error), error=True)
        return ended(msgspec.json.encode(plain(result)).decode())

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


def _use_id(meta: Any) -> str | None:
    """Return the client's id of a call. Clients may put a prefix before the key."""
    return next((str(value) for key, value in dict(meta or {}).items() if key.rpartition("/")[2] == USE_ID), None)
