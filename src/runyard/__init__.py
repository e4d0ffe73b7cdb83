"""Runyard: one run, one log, every client. The public names.

They are loaded when first used, so that `import runyard` (and with it the command line) costs nothing: no web
framework, no database driver. No submodule has one of these names, because importing it would put the module in the
name's place: the code behind `runyard.agent` lives in `runyard.agents`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.agents.agent import Agent, Output, agent, claude, plan, remote
    from runyard.agents.builtins.code import run_python
    from runyard.agents.builtins.documents import search_documents
    from runyard.agents.builtins.files import read_file, write_file
    from runyard.agents.calls import output
    from runyard.agents.context import Context
    from runyard.agents.documents import Documents
    from runyard.agents.mcp import mcp
    from runyard.agents.node_context import NodeContext
    from runyard.agents.nodes import Node
    from runyard.agents.tools import Tool, tool
    from runyard.asgi import create_app
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
    "output",
    "plan",
    "read_file",
    "remote",
    "run_python",
    "search_documents",
    "tool",
    "write_file",
]

_HOMES = {
    "Agent": "runyard.agents.agent",
    "Client": "runyard.client",
    "Context": "runyard.agents.context",
    "Documents": "runyard.agents.documents",
    "InvalidTask": "runyard.errors",
    "Node": "runyard.agents.nodes",
    "NodeContext": "runyard.agents.node_context",
    "Output": "runyard.agents.agent",
    "Tool": "runyard.agents.tools",
    "ToolError": "runyard.errors",
    "agent": "runyard.agents.agent",
    "claude": "runyard.agents.agent",
    "create_app": "runyard.asgi",
    "mcp": "runyard.agents.mcp",
    "output": "runyard.agents.calls",
    "plan": "runyard.agents.agent",
    "read_file": "runyard.agents.builtins.files",
    "remote": "runyard.agents.agent",
    "run_python": "runyard.agents.builtins.code",
    "search_documents": "runyard.agents.builtins.documents",
    "tool": "runyard.agents.tools",
    "write_file": "runyard.agents.builtins.files",
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
