"""Rows of lists: the fields that a run, a thread, an approval and an API key have over HTTP.

The command line without a server shows the same fields, so this module knows no HTTP.
"""

from typing import TYPE_CHECKING, Any

from runyard.domain.events import Usage
from runyard.domain.runs.run import Run, Status
from runyard.domain.times import iso

if TYPE_CHECKING:
    from runyard.domain.api_key import ApiKey
    from runyard.domain.conversations.thread import Thread
    from runyard.domain.runs.run import Feedback
    from runyard.domain.wait import Wait

QUESTION_CHARS = 300  # of the message that led to a run or a wait


def status_name(status: Status) -> str:
    """Return the name of a status: a waiting run is running."""
    return Status.RUNNING.value if status is Status.WAITING else status.value


def shortened(question: str | None) -> str | None:
    """Return the beginning of a message, with a sign at its end if it is cut."""
    if question is None or len(question) <= QUESTION_CHARS:
        return question
    return question[:QUESTION_CHARS].rstrip() + "\u2026"


def run_fields(run: Run, question: str | None, feedback: "Feedback | None" = None) -> dict[str, Any]:
    usage = run.usage or Usage()
    return {
        "run_id": run.id,
        "thread_id": run.thread_id,
        "agent": run.agent,
        "status": status_name(run.status),
        "waiting": run.status is Status.WAITING,
        "stop_reason": run.stop_reason,
        "attempts": run.attempts,
        "last_seq": run.last_seq,
        "created_at": iso(run.created_at) or "",
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "error_code": run.error_code,
        "error": run.error,
        "retry_of": run.retry_of,
        "superseded_by": run.superseded_by,
        "parent_run_id": run.parent_run_id,
        "question": shortened(question),
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "usd": round(usage.usd, 6),
        },
        "feedback": None if feedback is None else feedback_fields(feedback),
    }


def feedback_fields(feedback: "Feedback") -> dict[str, Any]:
    return {
        "value": feedback.value,
        "comment": feedback.comment,
        "created_at": iso(feedback.created_at) or "",
    }


def thread_fields(thread: "Thread", title: str | None) -> dict[str, Any]:
    return {
        "thread_id": thread.id,
        "kind": thread.kind,
        "agent": thread.agent,
        "head_run_id": thread.head_run_id,
        "created_at": iso(thread.created_at) or "",
        "title": title,
    }


def wait_fields(wait: "Wait", tool_input: Any, run: Run | None, question: str | None) -> dict[str, Any]:
    """`tool_input`: the input that an approval shows. `question`: the message that the run answers, or its
    beginning."""
    asked = {"input": tool_input} if wait.is_approval else dict(wait.input or {})
    return {
        "wait_id": wait.id,
        "run_id": wait.run_id,
        "call_id": wait.call_id,
        "kind": wait.kind,
        "name": wait.name,
        "prompt": asked.get("prompt"),
        "input": asked.get("input"),
        "answer_schema": asked.get("schema"),
        "state": wait.state,
        "created_at": iso(wait.created_at) or "",
        "expires_at": iso(wait.expires_at),
        "agent": None if run is None else run.agent,
        "question": question,
    }


def approval_fields(wait: "Wait", run: Run | None, question: str | None) -> dict[str, Any]:
    return {
        "approval_id": wait.id,
        "run_id": wait.run_id,
        "call_id": wait.call_id,
        "kind": "question" if wait.kind == "confirmation" else wait.kind,
        "tool": wait.name,
        "input": wait.input,
        "state": wait.state,
        "created_at": iso(wait.created_at) or "",
        "agent": None if run is None else run.agent,
        "question": shortened(question),
    }


def key_fields(key: "ApiKey") -> dict[str, Any]:
    return {
        "key_id": key.id,
        "owner": key.owner,
        "label": key.label,
        "scopes": sorted(key.scopes),
        "created_at": iso(key.created_at) or "",
        "expires_at": iso(key.expires_at),
        "last_used_at": iso(key.last_used_at),
        "revoked_at": iso(key.revoked_at),
    }
