"""The public names of `import runyard`. Adding or removing a name is a decision, so this list changes too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import runyard

SOURCE = Path(runyard.__file__).parent
CLASSES = [
    "Agent",
    "App",
    "Client",
    "Context",
    "DataPart",
    "Documents",
    "File",
    "Hit",
    "Image",
    "Message",
    "Node",
    "NodeContext",
    "Output",
    "Settings",
    "Task",
    "TextPart",
    "Timeouts",
    "Tool",
    "WorkedRun",
]
ERRORS = [
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
]
FUNCTIONS = [
    "agent",
    "claude",
    "client_tool",
    "create_app",
    "langchain_tool",
    "langgraph",
    "mcp",
    "openai_agents",
    "plan",
    "pydantic_ai",
    "remote",
    "scripted",
    "stream_output",
    "tool",
    "work_once",
]
BUILTINS = ["read_file", "run_python", "search_documents", "write_file"]
NAMES = [*CLASSES, *ERRORS, *FUNCTIONS, *BUILTINS, "__version__", "errors"]


def test_the_public_names_are_these_and_all_of_them_are_there() -> None:
    assert sorted(runyard.__all__) == sorted(NAMES)
    assert dir(runyard) == sorted(NAMES)
    for name in NAMES:
        assert getattr(runyard, name) is not None


def test_a_name_that_is_not_public_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Agents'"):
        _ = runyard.Agents  # type: ignore[attr-defined]


@pytest.mark.req("S0.34")
def test_only_the_journal_writes_into_logs() -> None:
    """`Store.append` is the one way for agents' events, and one module calls it."""
    callers = set()
    for path in SOURCE.rglob("*.py"):
        if path.is_relative_to(SOURCE / "stores") or path.is_relative_to(SOURCE / "encryption"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == "append" and "store" in ast.unparse(node.value).lower():
                callers.add(path.relative_to(SOURCE).as_posix())
    assert callers == {"engine/log/journal.py"}


@pytest.mark.req("S0.35", "S0.14")
def test_only_the_stream_reads_logs_for_clients() -> None:
    """No face and nothing in web holds a store: what they send comes from a follower of the log."""
    for folder in ("faces", "web"):
        for path in (SOURCE / folder).rglob("*.py"):
            names = {
                node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)
            }
            assert not names & {"store", "_store", "journal"}, path.name
