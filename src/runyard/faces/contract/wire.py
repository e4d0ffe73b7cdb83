"""Requests and responses of the contract face. `runyard.contract.wire` defines them for clients and servers."""

import re
from typing import Any

from runyard.contract.wire import (
    RUN_HEADER,
    AgentError,
    AgentRunRequest,
    AgentRunResponse,
    Budgets,
    GroundingPack,
    TerminalName,
    schema,
)
from runyard.domain.task import Budget, Task
from runyard.telemetry.spans import is_traceparent

__all__ = [
    "RUN_HEADER",
    "AgentError",
    "AgentRunRequest",
    "AgentRunResponse",
    "GroundingPack",
    "TerminalName",
    "is_id",
    "request_id",
    "schema",
    "task_of",
]
_ID = re.compile(r"[A-Za-z0-9_.:@/+-]{1,128}", re.ASCII)
REQUEST_ID = "request_id"


def is_id(given: str) -> bool:
    """Tell whether a value looks like an id. Only ids may appear in a log line; a sentence may be content."""
    return _ID.fullmatch(given) is not None


def task_of(request: AgentRunRequest, timeout_ms: int, traceparent: str | None = None) -> Task:
    """Convert a request to a task. `timeout_ms` is the default timeout. An invalid `traceparent` is left out."""
    given: dict[str, Any] = vars(request)
    names = (REQUEST_ID, "workflow_id", "stage_id", "user_id", "mode", "risk_tier", "domain_id")
    labels = {name: given[name] for name in names if given[name] is not None}
    trace = traceparent if traceparent is not None and is_traceparent(traceparent) else None
    return Task(request.task_type, request.inputs, labels, _budget(request.budgets, timeout_ms), trace)


def _budget(budgets: Budgets, timeout_ms: int) -> Budget:
    return Budget(
        max_output_tokens=budgets.max_output_tokens,
        max_context_tokens=budgets.max_context_tokens,
        max_escalations=budgets.max_escalations,
        timeout_ms=budgets.timeout_ms or timeout_ms,
    )


def request_id(task: Task) -> str:
    return task.labels.get(REQUEST_ID, "")
