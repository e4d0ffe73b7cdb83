"""Runyard: one run, one log, every client. The public names.

They are loaded when first used, so that `import runyard` (and with it the command line) costs nothing: no web
framework, no database driver. No submodule has one of these names, because importing it would put the module in the
name's place: the code behind `runyard.agent` lives in `runyard.agents`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.agents.context import Context
    from runyard.agents.declared.agent import Agent, Output, agent, claude, plan, remote
    from runyard.agents.declared.documents import Documents
    from runyard.agents.declared.nodes import Node
    from runyard.agents.mcp.servers import mcp
    from runyard.agents.plan.node_context import NodeContext
    from runyard.agents.tools.builtins.code import run_python
    from runyard.agents.tools.builtins.documents import search_documents
    from runyard.agents.tools.builtins.files import read_file, write_file
    from runyard.agents.tools.tool import Tool, tool
    from runyard.agents.user_code.current_call import stream_output
    from runyard.app.asgi import create_app
    from runyard.client import Client
    from runyard.errors import InvalidTask, ToolError

    __version__: str

__all__ = [
    "Agent",
    "Client",
    "Context",
    "Documents",
    "InvalidTask",
    "Node",
    "NodeContext",
    "Output",
    "Tool",
    "ToolError",
    "__version__",
    "agent",
    "claude",
    "create_app",
    "mcp",
    "plan",
    "read_file",
    "remote",
    "run_python",
    "search_documents",
    "stream_output",
    "tool",
    "write_file",
]

_HOMES = {
    "Agent": "runyard.agents.declared.agent",
    "Client": "runyard.client",
    "Context": "runyard.agents.context",
    "Documents": "runyard.agents.declared.documents",
    "InvalidTask": "runyard.errors",
    "Node": "runyard.agents.declared.nodes",
    "NodeContext": "runyard.agents.plan.node_context",
    "Output": "runyard.agents.declared.agent",
    "Tool": "runyard.agents.tools.tool",
    "ToolError": "runyard.errors",
    "agent": "runyard.agents.declared.agent",
    "claude": "runyard.agents.declared.agent",
    "create_app": "runyard.app.asgi",
    "mcp": "runyard.agents.mcp.servers",
    "stream_output": "runyard.agents.user_code.current_call",
    "plan": "runyard.agents.declared.agent",
    "read_file": "runyard.agents.tools.builtins.files",
    "remote": "runyard.agents.declared.agent",
    "run_python": "runyard.agents.tools.builtins.code",
    "search_documents": "runyard.agents.tools.builtins.documents",
    "tool": "runyard.agents.tools.tool",
    "write_file": "runyard.agents.tools.builtins.files",
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every misspelt name for real

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("runyard")
        elif name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module 'runyard' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
