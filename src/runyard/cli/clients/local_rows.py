"""The objects of `runyard.Client`, made from rows of the database."""

from typing import TYPE_CHECKING

from runyard.client.wire import ApprovalInfo, KeyInfo, LogEvent, RunInfo, WaitInfo, decode_event
from runyard.domain.run import Run, Status
from runyard.domain.times import iso
from runyard.faces.native.translate import envelope

if TYPE_CHECKING:
    from runyard.domain.api_key import ApiKey
    from runyard.domain.events import Event
    from runyard.domain.wait import Wait


def log_event(event: "Event") -> LogEvent:
    return decode_event(envelope(event))


def run_info(run: Run) -> RunInfo:
    return RunInfo(
        run_id=run.id,
        thread_id=run.thread_id,
        agent=run.agent,
        status=status_name(run.status),
        waiting=run.status is Status.WAITING,
        stop_reason=run.stop_reason,
        attempts=run.attempts,
        last_seq=run.last_seq,
        created_at=iso(run.created_at) or "",
        started_at=iso(run.started_at),
        finished_at=iso(run.finished_at),
        error_code=run.error_code,
        error=run.error,
        retry_of=run.retry_of,
        superseded_by=run.superseded_by,
    )


def status_name(status: Status) -> str:
    """Return the status as the HTTP API names it: a waiting run is running."""
    return Status.RUNNING.value if status is Status.WAITING else status.value


def wait_info(wait: "Wait") -> WaitInfo:
    asked = {"input": wait.input} if wait.is_approval else dict(wait.input or {})
    return WaitInfo(
        wait_id=wait.id,
        run_id=wait.run_id,
        call_id=wait.call_id,
        kind=wait.kind,
        name=wait.name,
        prompt=asked.get("prompt"),
        input=asked.get("input"),
        answer_schema=asked.get("schema"),
        state=wait.state,
        created_at=iso(wait.created_at) or "",
        expires_at=iso(wait.expires_at),
    )


def approval_info(approval: "Wait") -> ApprovalInfo:
    return ApprovalInfo(
        approval_id=approval.id,
        run_id=approval.run_id,
        call_id=approval.call_id,
        kind="question" if approval.kind == "confirmation" else approval.kind,
        tool=approval.name,
        input=approval.input,
        state=approval.state,
        created_at=iso(approval.created_at) or "",
    )


def key_info(key: "ApiKey", text: str | None = None) -> KeyInfo:
    return KeyInfo(
        key_id=key.id,
        owner=key.owner,
        label=key.label,
        scopes=sorted(key.scopes),
        created_at=iso(key.created_at) or "",
        expires_at=iso(key.expires_at),
        last_used_at=iso(key.last_used_at),
        revoked_at=iso(key.revoked_at),
        key=text,
    )
