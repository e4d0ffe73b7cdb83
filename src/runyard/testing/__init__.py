"""Tests of agents without a server, a database or a network.

`run_agent` runs an agent in the engine that serves it in production, over a store in memory.
"""

from runyard.testing.answers import UnansweredWait
from runyard.testing.decisions import Decision, Decisions, UndecidedApproval
from runyard.testing.memory_store import MemoryStore
from runyard.testing.result import AskedApproval, RecordedStep, ResultFile, RunFailure, RunResult, ToolCall
from runyard.testing.running import run_agent, run_agent_sync

__all__ = [
    "AskedApproval",
    "Decision",
    "Decisions",
    "MemoryStore",
    "RecordedStep",
    "ResultFile",
    "RunFailure",
    "RunResult",
    "ToolCall",
    "UnansweredWait",
    "UndecidedApproval",
    "run_agent",
    "run_agent_sync",
]
