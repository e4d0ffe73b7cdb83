"""Conversations and their members."""

from collections.abc import Sequence

from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import Change, Conversation, Thread, ThreadKind
from runyard.errors import Conflict, Invalid, NotFound
from runyard.store import IdempotencyKey
from runyard.stores import rows as _rows
from runyard.stores.transactions.queue import keys
from runyard.stores.transactions.tx import Tx

NO_CONVERSATION = "There is no conversation with that id."


async def open_channel(
    tx: Tx, thread: Thread, members: Sequence[Participant], key: IdempotencyKey | None = None
) -> Conversation:
    known = await keys.take(tx, key, thread.id)
    if known is not None:
        return await get(tx, thread.owner, known)
    if not await _insert(tx, thread, members):
        raise Conflict("The channel name is taken. Choose another name.")
    return await get(tx, thread.owner, thread.id)


async def open_dm(tx: Tx, thread: Thread, members: Sequence[Participant]) -> Conversation:
    if not await _insert(tx, thread, members):
        [row] = await tx.rows(tx.q.get_named_conversation, thread.owner, "dm", thread.name)
        return await get(tx, thread.owner, str(row["id"]))
    return await get(tx, thread.owner, thread.id)


async def _insert(tx: Tx, thread: Thread, members: Sequence[Participant]) -> bool:
    await _check_agents(tx, thread.owner, members)
    values = (thread.id, thread.owner, thread.kind, thread.name, thread.topic, thread.is_private, thread.created_at)
    if not await tx.rows(tx.q.insert_conversation, *values):
        return False
    if members:
        await tx.many(tx.q.add_members, [(thread.id, party.id, party.kind) for party in members])
    return True


async def _check_agents(tx: Tx, owner: str, members: Sequence[Participant]) -> None:
    wanted = {party.id for party in members if party.kind == "agent"}
    if wanted - await active(tx, owner, wanted):
        raise Invalid("One of the agents does not exist or is not active.")


async def active(tx: Tx, owner: str, agents: set[str]) -> set[str]:
    if not agents:
        return set()
    return {row["id"] for row in await tx.rows(tx.q.active_agents, sorted(agents), owner)}


async def get(tx: Tx, caller: str, thread_id: str) -> Conversation:
    found = await read(tx, thread_id)
    if found is None or not found.is_seen_by(caller):
        raise NotFound(NO_CONVERSATION)
    return found


async def read(tx: Tx, thread_id: str, lock: bool = False) -> Conversation | None:
    """Return a conversation. With `lock` it cannot be deleted before the end of the transaction."""
    for row in await tx.rows(tx.q.lock_conversation if lock else tx.q.read_conversation, thread_id):
        return Conversation(_rows.thread(row), (await _members(tx, [thread_id])).get(thread_id, []))
    return None


async def _members(tx: Tx, thread_ids: list[str]) -> dict[str, list[Participant]]:
    found: dict[str, list[Participant]] = {}
    for row in await tx.rows(tx.q.list_members, thread_ids):
        found.setdefault(str(row["thread_id"]), []).append(Participant(row["member"], row["kind"]))
    return found


async def list_page(tx: Tx, caller: str, kind: ThreadKind, before: str | None, limit: int) -> Sequence[Conversation]:
    found = [_rows.thread(row) for row in await tx.rows(tx.q.list_conversations, caller, kind, before, limit)]
    members = await _members(tx, [thread.id for thread in found]) if found else {}
    return [Conversation(thread, members.get(thread.id, [])) for thread in found]


async def change_channel(tx: Tx, owner: str, thread_id: str, change: Change) -> Conversation:
    if change.name is not None:
        for row in await tx.rows(tx.q.get_named_conversation, owner, "channel", change.name):
            if str(row["id"]) != thread_id:
                raise Conflict("The channel name is taken. Choose another name.")
    if not await tx.rows(tx.q.change_channel, owner, thread_id, change.name, change.topic, change.is_private):
        raise NotFound(NO_CONVERSATION)
    return await get(tx, owner, thread_id)


async def add_member(tx: Tx, owner: str, thread_id: str, party: Participant) -> Conversation:
    await _own_channel(tx, owner, thread_id)
    await _check_agents(tx, owner, [party])
    await tx.many(tx.q.add_members, [(thread_id, party.id, party.kind)])
    return await get(tx, owner, thread_id)


async def remove_member(tx: Tx, owner: str, thread_id: str, party: Participant) -> Conversation:
    await _own_channel(tx, owner, thread_id)
    if not await tx.rows(tx.q.remove_member, thread_id, party.id, party.kind):
        raise NotFound("The channel has no such member.")
    return await get(tx, owner, thread_id)


async def _own_channel(tx: Tx, owner: str, thread_id: str) -> None:
    rows = await tx.rows(tx.q.lock_thread, owner, thread_id)
    if not rows or rows[0]["kind"] != "channel":
        raise NotFound(NO_CONVERSATION)
