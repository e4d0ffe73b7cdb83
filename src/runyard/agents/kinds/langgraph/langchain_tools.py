"""Make a tool of LangChain from a tool of Runyard. LangChain is imported when the function is called."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from runyard.agents.declared.agent import Agent
from runyard.agents.tools.tool import Tool
from runyard.agents.tools.waiting_tools import AgentTool
from runyard.errors import Invalid

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def langchain_tool(tool: Tool[..., Any] | Agent) -> "BaseTool":
    """Make a tool of LangChain from a tool of Runyard, for nodes of a graph that `runyard.langgraph` runs.

    A call is recorded: after a crash it is not made again, and `effects`, `approval`, `timeout` and `rate_limit` of the
    tool apply. If a model requested the call, the model gets failures and rejections as text. If a node calls the tool
    itself (`await tool.ainvoke({...})`), they are raised.

    Args:
        tool: A function decorated with `runyard.tool`, a client tool, or an agent of the app, which then works in a
            child run.

    Raises:
        Invalid: If `tool` is something else, or LangChain is not installed.

    Example:
        >>> @runyard.tool(effects="once", approval="always")
        ... async def refund(order: str) -> str:
        ...     "Pay the price of an order back."
        ...     return f"refunded {order}"
        >>> runyard.langchain_tool(refund).description
        'Pay the price of an order back.'
    """
    if isinstance(tool, Agent):
        tool = AgentTool(tool.name, tool.description or f"Ask the agent {tool.name}.")
    if not isinstance(tool, Tool):
        raise Invalid("langchain_tool takes a function decorated with @runyard.tool, or an agent.")
    if find_spec("langchain_core") is None:
        raise Invalid("langchain_tool needs LangChain: pip install 'runyard[langgraph]'.")
    from runyard.agents.kinds.langgraph.recorded_tools import RunyardTool

    return RunyardTool(
        name=tool.name,
        description=tool.description or tool.name,
        args_schema=tool.schema,
        handle_tool_error=True,
        runyard_tool=tool,
    )
