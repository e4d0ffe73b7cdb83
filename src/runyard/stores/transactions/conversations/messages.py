"""Messages of conversations, their reactions, and the runs that messages start."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from runyard.domain.conversations.feed import Kind
from runyard.domain.conversations.recipients import Audience, Participant, recipients
from runyard.domain.conversations.thread import (
    MOST_UNREAD,
    Conversation,
    Message,
    Reaction,
    Unread,
)
from runyard.errors import NotFound
from runyard.store import NewMessage, PostedMessage
from runyard.stores import rows as _rows
from runyard.stores.transactions.conversations import channels
from runyard.stores.transactions.queue import intake, keys
from runyard.stores.transactions.tx import Tx

NO_MESSAGE = "There is no message with that id."


async def post_message(tx: Tx, new: NewMessage) -> PostedMessage:
    said = new.message
    known = await _said_before(tx, new)
    if known is not None:
        [thread] = await tx.rows(tx.q.read_conversation, known.thread_id)
        return PostedMessage(known, _rows.thread(thread), repeated=True)
    here = await channels.read(tx, said.thread_id, lock=True)
    if here is None or not _may_say(here, new.caller, said.party):
        raise NotFound(channels.NO_CONVERSATION)
    parent = await _parent(tx, said)
    said = replace(said, parent_id=parent)
    woken = recipients(said.party, await _audience(tx, here, parent), new.depth)
    write, started = await _wake(tx, new, here.thread.owner, woken)
    values = (*_rows.message_values(said), said.sender, said.parent_id, new.cause)
    entry = ("message_created", said.thread_id, said.id, said.run_id, said.sender, said.role, None)
    await write.commit(tx, (tx.q.insert_channel_message, [values]), (tx.q.insert_feed, [entry]))
    return PostedMessage(said, here.thread, started)


async def _said_before(tx: Tx, new: NewMessage) -> Message | None:
    if new.cause is not None:
        for row in await tx.rows(tx.q.caused_message, new.cause):
            return _rows.message(row)
    known = await keys.take(tx, new.key, new.message.id)
    return None if known is None else await _message(tx, known)


def _may_say(here: Conversation, caller: str, sender: Participant) -> bool:
    return here.may_speak(sender.id, caller) if sender.kind == "agent" else here.is_seen_by(caller)


async def _parent(tx: Tx, said: Message) -> str | None:
    """Return the parent of a reply: always a message that is not a reply itself."""
    if said.parent_id is None:
        return None
    parent = await _message(tx, said.parent_id)
    if parent.thread_id != said.thread_id:
        raise NotFound(NO_MESSAGE)
    return parent.parent_id or parent.id


async def _audience(tx: Tx, here: Conversation, parent: str | None) -> Audience:
    spoken: list[Participant] | None = None
    if parent is not None:
        rows = await tx.rows(tx.q.reply_participants, parent)
        spoken = [Participant(row["sender"], "user" if row["role"] == "user" else "agent") for row in rows]
    agents = {party.id for party in [*here.members, *(spoken or ())] if party.kind == "agent"}
    return Audience(
        kind="dm" if here.thread.kind == "dm" else "channel",
        is_private=here.thread.is_private,
        members=here.members,
        active=await channels.active(tx, here.thread.owner, agents),
        spoken=spoken,
    )


async def _wake(tx: Tx, new: NewMessage, owner: str, woken: Sequence[str]) -> tuple[intake.Write, list[Any]]:
    """Queue the runs of these agents, each held behind the previous one."""
    posts = []
    before: str | None = None
    for agent in woken:
        posts.append(new.wake(agent, owner, before))
        before = posts[-1].run_id
    write = intake.Write(await intake.open_lanes(tx, posts), None)
    return write, [write.run(post, agent, None, None) for post, agent in zip(posts, woken, strict=True)]


async def recent(
    tx: Tx, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
) -> Sequence[Message]:
    rows = await tx.rows(tx.q.recent_messages, thread_id, before, limit, parent_id)
    return [_rows.message(row) for row in reversed(rows)]


async def _message(tx: Tx, message_id: str) -> Message:
    for row in await tx.rows(tx.q.find_message, message_id):
        return _rows.message(row)
    raise NotFound(NO_MESSAGE)


async def _seen(tx: Tx, caller: str, message_id: str, lock: bool = False) -> tuple[Message, Conversation]:
    message = await _message(tx, message_id)
    here = await channels.read(tx, message.thread_id, lock)
    if here is None or not here.is_seen_by(caller):
        raise NotFound(NO_MESSAGE)
    return message, here


async def get_message(tx: Tx, caller: str, message_id: str) -> Message:
    return (await _seen(tx, caller, message_id))[0]


async def change_message(tx: Tx, caller: str, message_id: str, text: str) -> Message:
    message, _ = await _seen(tx, caller, message_id, lock=True)
    changed = (
        await tx.rows(tx.q.change_message, message_id, text) if message.party == Participant(caller, "user") else []
    )
    if not changed:
        raise NotFound(NO_MESSAGE)
    await _report(tx, "message_updated", message, caller)
    return replace(message, text=text, edited_at=changed[0]["edited_at"])


async def delete_message(tx: Tx, caller: str, message_id: str, text: str) -> None:
    message, here = await _seen(tx, caller, message_id, lock=True)
    if caller != here.thread.owner and message.party != Participant(caller, "user"):
        raise NotFound(NO_MESSAGE)
    if await tx.rows(tx.q.delete_message, message_id, text):
        await tx.rows(tx.q.delete_reactions, message_id)
        await _report(tx, "message_deleted", message, caller)


async def _report(tx: Tx, kind: Kind, message: Message, caller: str, emoji: str | None = None) -> None:
    """Write the feed entry of what a person did to a message."""
    await tx.many(tx.q.insert_feed, [(kind, message.thread_id, message.id, None, caller, "user", emoji)])


async def react(tx: Tx, caller: str, reaction: Reaction) -> bool:
    message = await _message(tx, reaction.message_id)
    here = await channels.read(tx, message.thread_id, lock=True)
    party = Participant(reaction.sender, "user" if reaction.role == "user" else "agent")
    if here is None or not _may_say(here, caller, party) or message.deleted_at is not None:
        raise NotFound(NO_MESSAGE)
    values = (reaction.message_id, reaction.sender, reaction.role, reaction.emoji, reaction.created_at)
    if not await tx.rows(tx.q.insert_reaction, *values):
        return False
    entry = ("reaction_added", message.thread_id, message.id, None, reaction.sender, reaction.role, reaction.emoji)
    await tx.many(tx.q.insert_feed, [entry])
    return True


async def remove_reaction(tx: Tx, caller: str, reaction: Reaction) -> None:
    message, _ = await _seen(tx, caller, reaction.message_id, lock=True)
    values = (reaction.message_id, reaction.sender, reaction.role, reaction.emoji)
    if await tx.rows(tx.q.remove_reaction, *values):
        await _report(tx, "reaction_removed", message, caller, reaction.emoji)


async def reactions(tx: Tx, message_ids: Sequence[str]) -> Mapping[str, Sequence[Reaction]]:
    found: dict[str, list[Reaction]] = {}
    for row in await tx.rows(tx.q.list_reactions, list(message_ids)):
        message_id = str(row["message_id"])
        found.setdefault(message_id, []).append(
            Reaction(
                message_id=message_id,
                emoji=row["emoji"],
                role=row["role"],
                sender=row["sender"],
                created_at=row["created_at"],
            )
        )
    return found


# --- read positions


async def mark_read(tx: Tx, caller: str, thread_id: str, message_id: str) -> None:
    message, _ = await _seen(tx, caller, message_id)
    if message.thread_id != thread_id:
        raise NotFound(NO_MESSAGE)
    await tx.rows(tx.q.mark_read, thread_id, caller, message_id)


async def unread(tx: Tx, caller: str, limit: int) -> Sequence[Unread]:
    return [
        Unread(thread_id=str(row["id"]), kind=row["kind"], read_id=_rows.text_id(row["read_id"]), count=row["unread"])
        for row in await tx.rows(tx.q.list_unread, caller, limit, MOST_UNREAD)
    ]
