"""Convert rows to values and back, for both databases: column names are equal, ids are UUID objects or text."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from runyard.domain.api_key import ApiKey
from runyard.domain.content.file import StoredFile
from runyard.domain.conversations.thread import Message, Share, Thread
from runyard.domain.events import Draft, Event, Usage
from runyard.domain.push import Push
from runyard.domain.runs.append import Finish, Move
from runyard.domain.runs.branch import BranchRun
from runyard.domain.runs.lane import Lane
from runyard.domain.runs.run import Feedback, Run, Status
from runyard.domain.wait import KeptEvent, Wait
from runyard.store import Claim, Hit

_json = msgspec.json.Encoder().encode


class Row(Protocol):
    def __getitem__(self, key: str, /) -> Any: ...


def text_id(value: Any) -> str | None:
    return None if value is None else str(value)


def thread(row: Row) -> Thread:
    return Thread(
        id=str(row["id"]),
        owner=row["owner"],
        kind=row["kind"],
        external_id=row["external_id"],
        user_id=row["user_id"],
        agent=row["agent"],
        head_run_id=text_id(row["head_run_id"]),
        created_at=row["created_at"],
        forked_from=text_id(row["forked_from"]),
        name=row["name"],
        topic=row["topic"],
        is_private=bool(row["is_private"]),
        metadata=row["metadata"],
    )


def thread_values(made: Thread) -> tuple[Any, ...]:
    """Return the values of a new thread, in the order of `insert_thread`."""
    return made.id, made.owner, made.kind, made.external_id, made.user_id, made.agent, made.created_at, made.metadata


def message(row: Row) -> Message:
    return Message(
        id=str(row["id"]),
        thread_id=str(row["thread_id"]),
        run_id=text_id(row["run_id"]),
        role=row["role"],
        text=row["text"],
        sources=msgspec.json.decode(row["sources"], type=list[str]),
        created_at=row["created_at"],
        sender=row["sender"],
        parent_id=text_id(row["parent_id"]),
        parts=row["parts"],
        edited_at=row["edited_at"],
        deleted_at=row["deleted_at"],
    )


def message_values(said: Message) -> tuple[Any, ...]:
    sources = _json(said.sources).decode()
    return said.id, said.thread_id, said.run_id, said.role, said.text, sources, said.created_at, said.parts


def run(row: Row) -> Run:
    usage = row["usage"]
    return Run(
        id=str(row["id"]),
        owner=row["owner"],
        face=row["face"],
        lane_key=row["lane_key"],
        pos=row["pos"],
        agent=row["agent"],
        agent_version=row["agent_version"],
        thread_id=text_id(row["thread_id"]),
        trigger_message_id=text_id(row["trigger_message_id"]),
        parent_id=text_id(row["parent_id"]),
        retry_of=text_id(row["retry_of"]),
        superseded_by=text_id(row["superseded_by"]),
        status=Status(row["status"]),
        stop_reason=row["stop_reason"],
        error_code=row["error_code"],
        error=row["error"],
        usage=None if usage is None else msgspec.json.decode(usage, type=Usage),
        fence=row["fence"],
        last_seq=row["last_seq"],
        last_batch=row["last_batch"],
        attempts=row["attempts"],
        resume_why=row["resume_why"],
        worker_id=text_id(row["worker_id"]),
        asked=row["asked"],
        cancel_requested_at=row["cancel_requested_at"],
        cancel_deadline=row["cancel_deadline"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        external_id=row["external_id"],
        state=row["state"],
        detach_deadline=row["detach_deadline"],
        held=bool(row["held"]),
        after_run=text_id(row["after_run"]),
        depth=row["depth"],
        parent_run_id=text_id(row["parent_run_id"]),
        has_client_tools=bool(row["has_client_tools"]),
        unread=row["unread"],
        first_token_ms=row["first_token_ms"],
    )


def new_run_values(new: Run, pause_ms: int | None) -> tuple[Any, ...]:
    """Return the values of a new run, in the order of `insert_runs`."""
    return (
        new.id,
        new.owner,
        new.face,
        new.lane_key,
        new.pos,
        new.agent,
        new.thread_id,
        new.trigger_message_id,
        new.parent_id,
        new.retry_of,
        new.created_at,
        new.agent_version,
        new.status.value,
        new.fence,
        new.attempts,
        new.worker_id,
        new.started_at,
        new.external_id,
        new.held,
        new.after_run,
        pause_ms,
        new.depth,
        new.parent_run_id,
        new.has_client_tools,
    )


def run_values(now: Run) -> tuple[Any, ...]:
    """Return the values of a run that can change, in the order of `save_runs`."""
    return (
        now.id,
        now.status.value,
        now.agent_version,
        now.stop_reason,
        now.error_code,
        now.error,
        None if now.usage is None else _json(now.usage).decode(),
        now.fence,
        now.last_seq,
        now.last_batch,
        now.attempts,
        now.resume_why,
        now.worker_id,
        now.asked,
        now.cancel_requested_at,
        now.cancel_deadline,
        now.started_at,
        now.finished_at,
        now.detach_deadline,
        now.unread,
        now.first_token_ms,
    )


def finish_values(move: Move | None) -> tuple[str | int | None, ...]:
    """Return the end of a run: status, stop_reason, error_code, error, usage and the time to its first token; all None
    if the move does not end it."""
    if not isinstance(move, Finish):
        return None, None, None, None, None, None
    usage = None if move.usage is None else _json(move.usage).decode()
    return move.status.value, move.stop_reason, move.error_code, move.error, usage, move.first_token_ms


def branch_run(row: Row) -> BranchRun:
    return BranchRun(str(row["id"]), text_id(row["parent_id"]), Status(row["status"]), text_id(row["superseded_by"]))


def lane(row: Row) -> Lane:
    return Lane(
        key=row["key"],
        next_pos=row["next_pos"],
        runnable=row["runnable"],
        active_run=text_id(row["active_run"]),
        ready_at=row["ready_at"],
        suspect=bool(row["suspect"]),
    )


def lane_values(now: Lane) -> tuple[Any, ...]:
    return now.key, now.runnable, now.active_run, now.ready_at, now.suspect


def claim(row: Row, mine: Run) -> Claim:
    if row["message_id"] is None or mine.thread_id is None:
        return Claim(mine, None)
    said = Message(
        id=str(row["message_id"]),
        thread_id=mine.thread_id,
        run_id=text_id(row["message_run"]),
        role=row["role"],
        text=row["text"],
        created_at=row["said_at"],
        sender=row["sender"],
        parent_id=text_id(row["reply_to"]),
        parts=row["parts"],
        edited_at=row["edited_at"],
        deleted_at=row["deleted_at"],
    )
    return Claim(mine, said)


def event(run_id: str, row: Row) -> Event:
    return Event(
        run_id,
        row["seq"],
        str(row["id"]),
        row["ts"],
        row["type"],
        row["data"],
        row["name"],
        row["fn"],
        row["source"],
        row["v"],
    )


def event_values(run_id: str, fence: int, first_seq: int, drafts: Sequence[Draft]) -> list[tuple[Any, ...]]:
    return [
        (run_id, first_seq + n, d.id, d.ts, d.type, d.source, d.name, d.fn, d.data, fence) for n, d in enumerate(drafts)
    ]


def wait(row: Row) -> Wait:
    return Wait(
        id=row["id"],
        run_id=str(row["run_id"]),
        call_id=row["call_id"],
        kind=row["kind"],
        name=row["name"],
        input=msgspec.json.decode(row["input"]),
        state=row["state"],
        answered_by=row["answered_by"],
        created_at=row["created_at"],
        answered_at=row["answered_at"],
        expires_at=row["expires_at"],
        target=row["target"],
    )


def kept_event(row: Row) -> KeptEvent:
    """Return the event of a row of `matched_events`."""
    return KeptEvent(
        id=row["event_id"],
        owner=row["event_owner"],
        name=row["event_name"],
        target=row["target"],
        data=msgspec.json.decode(row["event_data"]),
        created_at=row["event_created_at"],
        expires_at=row["event_expires_at"],
    )


def push(row: Row) -> Push:
    return Push(
        run_id=str(row["run_id"]),
        id=row["id"],
        kind=row["kind"],
        data=msgspec.json.decode(row["data"]),
        seq=row["seq"],
        failures=row["failures"],
        due_at=row["due_at"],
        created_at=row["created_at"],
    )


def wait_values(asked: Wait) -> tuple[Any, ...]:
    asked_for = _json(asked.input)
    return (
        asked.id,
        asked.run_id,
        asked.call_id,
        asked.kind,
        asked.name,
        asked_for,
        asked.created_at,
        asked.expires_at,
        asked.target,
    )


def file(row: Row) -> StoredFile:
    return StoredFile(
        id=str(row["id"]),
        owner=row["owner"],
        name=row["name"],
        type=row["type"],
        size=row["size"],
        content_id=str(row["content_id"]),
        created_at=row["created_at"],
        place=row["place"],
    )


def hit(row: Row) -> Hit:
    return Hit(row["id"], row["title"], row["text"], float(row["score"]))


def api_key(row: Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        owner=row["owner"],
        digest=row["digest"],
        scopes=frozenset(row["scopes"].split()),
        label=row["label"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
        revoked_at=row["revoked_at"],
    )


def feedback(row: Row) -> Feedback:
    return Feedback(run_id=str(row["run_id"]), value=row["value"], comment=row["comment"], created_at=row["created_at"])


def share(row: Row) -> Share:
    return Share(
        id=str(row["id"]),
        owner=row["owner"],
        thread_id=str(row["thread_id"]),
        digest=row["digest"],
        upto=str(row["upto"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
    )
