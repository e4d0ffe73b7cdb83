"""Runyard: one run, one log, every client. The public names.

They are loaded when they are first used, so that `import runyard` (and with it the command line) loads no web framework
and no database driver. No submodule has the name of a public function or class, because importing the submodule would
replace it: the code behind `runyard.agent` lives in `runyard.agents`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard import errors
    from runyard.agents.context.context import Context
    from runyard.agents.declared.agent import Agent, Output
    from runyard.agents.declared.documents import Documents
    from runyard.agents.declared.frameworks import claude, langgraph, openai_agents, pydantic_ai
    from runyard.agents.declared.kinds import agent, plan, remote, scripted
    from runyard.agents.declared.loading import App
    from runyard.agents.declared.nodes import Node
    from runyard.agents.kinds.langgraph.langchain_tools import langchain_tool
    from runyard.agents.kinds.plan.node_context import NodeContext
    from runyard.agents.mcp.servers import mcp
    from runyard.agents.tools.builtins.code import run_python
    from runyard.agents.tools.builtins.documents import search_documents
    from runyard.agents.tools.builtins.files import read_file, write_file
    from runyard.agents.tools.tool import Tool, tool
    from runyard.agents.tools.waiting_tools import client_tool
    from runyard.agents.user_code.current_call import stream_output
    from runyard.app.asgi import create_app
    from runyard.app.on_demand import WorkedRun, work_once
    from runyard.client import Client
    from runyard.contract.timeouts import Timeouts
    from runyard.domain.content.document import Hit
    from runyard.domain.content.parts import DataPart, File, Image, TextPart
    from runyard.domain.conversations.thread import Message
    from runyard.domain.task import Task
    from runyard.errors import (
        AgentError,
        AlreadyDecided,
        AnswerTimedOut,
        ChildFailed,
        Conflict,
        Invalid,
        InvalidInput,
        InvalidTask,
        KeyRequired,
        KeyReused,
        NestedCall,
        NodeFailed,
        NoSandbox,
        NotFound,
        Rejected,
        RemoteFailed,
        RunActive,
        RunyardError,
        ScopeMissing,
        StartupError,
        StepFailed,
        TooLarge,
        ToolError,
        ToolFailed,
        TooManyChildren,
        Unavailable,
        UnknownOutcome,
        WrongThread,
        WrongType,
    )
    from runyard.settings import Settings

    __version__: str

__all__ = [
    "Agent",
    "AgentError",
    "AlreadyDecided",
    "AnswerTimedOut",
    "App",
    "ChildFailed",
    "Client",
    "Conflict",
    "Context",
    "DataPart",
    "Documents",
    "File",
    "Hit",
    "Image",
    "Invalid",
    "InvalidInput",
    "InvalidTask",
    "KeyRequired",
    "KeyReused",
    "Message",
    "NestedCall",
    "NoSandbox",
    "Node",
    "NodeContext",
    "NodeFailed",
    "NotFound",
    "Output",
    "Rejected",
    "RemoteFailed",
    "RunActive",
    "RunyardError",
    "ScopeMissing",
    "Settings",
    "StartupError",
    "StepFailed",
    "Task",
    "TextPart",
    "Timeouts",
    "TooLarge",
    "TooManyChildren",
    "Tool",
    "ToolError",
    "ToolFailed",
    "Unavailable",
    "UnknownOutcome",
    "WorkedRun",
    "WrongThread",
    "WrongType",
    "__version__",
    "agent",
    "claude",
    "client_tool",
    "create_app",
    "errors",
    "langchain_tool",
    "langgraph",
    "mcp",
    "openai_agents",
    "plan",
    "pydantic_ai",
    "read_file",
    "remote",
    "run_python",
    "scripted",
    "search_documents",
    "stream_output",
    "tool",
    "work_once",
    "write_file",
]

_NAMES_BY_MODULE = {
    "runyard.agents.context.context": ["Context"],
    "runyard.agents.declared.agent": ["Agent", "Output"],
    "runyard.agents.declared.documents": ["Documents"],
    "runyard.agents.declared.frameworks": ["claude", "langgraph", "openai_agents", "pydantic_ai"],
    "runyard.agents.declared.kinds": ["agent", "plan", "remote", "scripted"],
    "runyard.agents.declared.loading": ["App"],
    "runyard.agents.declared.nodes": ["Node"],
    "runyard.agents.kinds.langgraph.langchain_tools": ["langchain_tool"],
    "runyard.agents.mcp.servers": ["mcp"],
    "runyard.agents.kinds.plan.node_context": ["NodeContext"],
    "runyard.agents.tools.builtins.code": ["run_python"],
    "runyard.agents.tools.builtins.documents": ["search_documents"],
    "runyard.agents.tools.builtins.files": ["read_file", "write_file"],
    "runyard.agents.tools.tool": ["Tool", "tool"],
    "runyard.agents.tools.waiting_tools": ["client_tool"],
    "runyard.agents.user_code.current_call": ["stream_output"],
    "runyard.app.asgi": ["create_app"],
    "runyard.app.on_demand": ["WorkedRun", "work_once"],
    "runyard.client": ["Client"],
    "runyard.contract.timeouts": ["Timeouts"],
    "runyard.domain.content.document": ["Hit"],
    "runyard.domain.content.parts": ["DataPart", "File", "Image", "TextPart"],
    "runyard.domain.conversations.thread": ["Message"],
    "runyard.domain.task": ["Task"],
    "runyard.errors": [
        "AgentError",
        "AlreadyDecided",
        "AnswerTimedOut",
        "ChildFailed",
        "Conflict",
        "Invalid",
        "InvalidInput",
        "InvalidTask",
        "KeyRequired",
        "KeyReused",
        "NestedCall",
        "NoSandbox",
        "NodeFailed",
        "NotFound",
        "Rejected",
        "RemoteFailed",
        "RunActive",
        "RunyardError",
        "ScopeMissing",
        "StartupError",
        "StepFailed",
        "TooLarge",
        "TooManyChildren",
        "ToolError",
        "ToolFailed",
        "Unavailable",
        "UnknownOutcome",
        "WrongThread",
        "WrongType",
    ],
    "runyard.settings": ["Settings"],
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ accepts every misspelt name

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("runyard")
        elif name == "errors":
            value = import_module("runyard.errors")
        elif name in _MODULES:
            value = getattr(import_module(_MODULES[name]), name)
        else:
            raise AttributeError(f"module 'runyard' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
