"""The objects of `runyard.Client`, made from rows of the database."""

from typing import TYPE_CHECKING

import msgspec

from runyard.client.wire import (
    AgentInfo,
    ApprovalInfo,
    BlockInfo,
    ChannelInfo,
    FoundMessage,
    KeyInfo,
    LogEvent,
    MemberInfo,
    PassageInfo,
    RunInfo,
    ThreadInfo,
    UsageInfo,
    WaitInfo,
    decode_event,
)
from runyard.domain.run import Run, Status
from runyard.domain.times import iso
from runyard.faces.native.translate import envelope

if TYPE_CHECKING:
    from runyard.domain.api_key import ApiKey
    from runyard.domain.events import Event
    from runyard.domain.memory import Block, Passage
    from runyard.domain.profile import Profile
    from runyard.domain.thread import Conversation, Thread
    from runyard.domain.wait import Wait
    from runyard.engine.queries.finding import MessageHit

QUESTION_CHARS = 300  # as in the HTTP API


def log_event(event: "Event") -> LogEvent:
    return decode_event(envelope(event))


def run_info(run: Run, question: str | None = None) -> RunInfo:
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
        parent_run_id=run.parent_run_id,
        question=None if question is None else question[:QUESTION_CHARS],
        usage=UsageInfo() if run.usage is None else UsageInfo(*msgspec.structs.astuple(run.usage)),
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


def thread_info(thread: "Thread", title: str | None) -> ThreadInfo:
    return ThreadInfo(
        thread_id=thread.id,
        kind=thread.kind,
        agent=thread.agent,
        head_run_id=thread.head_run_id,
        created_at=iso(thread.created_at) or "",
        title=title,
    )


def found_message(hit: "MessageHit") -> FoundMessage:
    return FoundMessage(
        thread_id=hit.message.thread_id,
        message_id=hit.message.id,
        role=hit.message.role,
        created_at=iso(hit.message.created_at) or "",
        text=hit.excerpt.text,
        marks=hit.excerpt.marks,
        title=hit.title,
        run_id=hit.message.run_id,
    )


def channel_info(here: "Conversation") -> ChannelInfo:
    thread, members = here.thread, [MemberInfo(party.id, party.kind) for party in here.members]
    is_dm = thread.kind == "dm"
    return ChannelInfo(
        id=thread.id,
        name="" if is_dm else thread.name or "",
        kind="dm" if is_dm else "private" if thread.is_private else "public",
        topic=thread.topic,
        members=[] if is_dm else members,
        participants=members if is_dm else [],
        created_at=iso(thread.created_at) or "",
    )


def agent_info(profile: "Profile") -> AgentInfo:
    return AgentInfo(
        id=profile.id,
        display_name=profile.display_name,
        title=profile.title,
        model_id=profile.model,
        max_turns=profile.max_turns,
        max_budget_usd=profile.max_usd,
        system_prompt=profile.persona,
        is_active=profile.is_active,
        is_declared=profile.owner is None,
        created_at=iso(profile.created_at) or "",
        updated_at=iso(profile.updated_at) or "",
    )


def block_info(block: "Block") -> BlockInfo:
    return BlockInfo(
        label=block.label,
        content=block.content,
        is_shared=block.is_shared,
        owner_id=block.agent,
        updated_at=iso(block.updated_at) or "",
    )


def passage_info(passage: "Passage") -> PassageInfo:
    return PassageInfo(
        id=passage.id,
        content=passage.content,
        tags=list(passage.tags),
        created_at=iso(passage.created_at) or "",
    )
