"""Tools as an MCP server inside of this process, for runtimes that take their tools that way.

A call keeps the id that the client gives it (`toolUseId` in the request's `_meta`), so that a call that comes again is
known; without one it gets a number. Needs the package `mcp`.
"""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from runyard.agents.calls import code_of
from runyard.agents.tools import Tool
from runyard.agents.values import plain
from runyard.errors import InvalidInput, ToolFailed

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

USE_ID = "toolUseId"


def served(name: str, run_id: str, tools: Sequence[Tool[..., Any]]) -> "Server[Any]":
    """These tools, bound to the run that they were made for."""
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent
    from mcp.types import Tool as Described

    known = {tool.name: tool for tool in tools}
    numbers = count(1)

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
        call_id = dict(params.meta or {}).get(USE_ID) or f"mcp#{next(numbers)}"
        try:
            result = await tool.run(params.arguments or {}, None, f"{run_id}:{call_id}")
        except (ToolFailed, InvalidInput) as error:
            return ended(error.message, error=True)
        except Exception as error:
            return ended(code_of(error), error=True)
        return ended(msgspec.json.encode(plain(result)).decode())

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)
