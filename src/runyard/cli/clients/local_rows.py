"""The objects of `runyard.Client`, made from rows of the database."""

from typing import TYPE_CHECKING, NamedTuple

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
    WaitInfo,
    decode_event,
)
from runyard.domain.times import iso
from runyard.faces.native import rows
from runyard.faces.native.translate import envelope

if TYPE_CHECKING:
    from runyard.domain.api_key import ApiKey
    from runyard.domain.content.memory import Block, Passage
    from runyard.domain.content.profile import Profile
    from runyard.domain.conversations.thread import Conversation, Thread
    from runyard.domain.events import Event
    from runyard.domain.runs.run import Feedback, Run
    from runyard.domain.wait import Wait
    from runyard.engine.queries.thread_search import MessageHit


def log_event(event: "Event") -> LogEvent:
    return decode_event(envelope(event))


def run_info(run: "Run", question: str | None = None, feedback: "Feedback | None" = None) -> RunInfo:
    return msgspec.convert(rows.run_fields(run, question, feedback), RunInfo)


class Asked(NamedTuple):
    """A wait with its run, and the message that the run answers."""

    wait: "Wait"
    run: "Run | None"
    question: str | None


def wait_info(asked: Asked, *, whole: bool = False) -> WaitInfo:
    """`whole`: with the whole message, not only its beginning."""
    question = asked.question if whole else rows.shortened(asked.question)
    return WaitInfo(**rows.wait_fields(asked.wait, asked.wait.input, asked.run, question))


def approval_info(asked: Asked) -> ApprovalInfo:
    return ApprovalInfo(**rows.approval_fields(asked.wait, asked.run, asked.question))


def key_info(key: "ApiKey", text: str | None = None) -> KeyInfo:
    return msgspec.convert({**rows.key_fields(key), "key": text}, KeyInfo)


def thread_info(thread: "Thread", title: str | None) -> ThreadInfo:
    return msgspec.convert(rows.thread_fields(thread, title), ThreadInfo)


def found_message(hit: "MessageHit") -> FoundMessage:
    return FoundMessage(
        thread_id=hit.message.thread_id,
        message_id=hit.message.id,
        role=hit.message.role,
        created_at=iso(hit.message.created_at) or "",
        text=hit.excerpt.text,
        marks=hit.excerpt.marks,
        kind=hit.kind,
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
