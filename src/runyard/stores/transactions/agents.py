"""Agents' rows, and what they remember."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from runyard.domain.memory import Block, Passage
from runyard.domain.profile import Profile
from runyard.errors import Conflict, NotFound
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx

NO_AGENT = "There is no agent with that id."
NO_BLOCK = "There is no block of that label."


def _profile(row: _rows.Row) -> Profile:
    return Profile(
        id=row["id"],
        owner=row["owner"],
        display_name=row["display_name"],
        title=row["title"],
        avatar_color=row["avatar_color"],
        persona=row["persona"],
        model=row["model"],
        max_turns=row["max_turns"],
        max_usd=row["max_usd"],
        is_active=bool(row["is_active"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _described(p: Profile) -> tuple[Any, ...]:
    return p.display_name, p.title, p.avatar_color, p.persona, p.model, p.max_turns, p.max_usd


async def declare(tx: Tx, profiles: Sequence[Profile]) -> None:
    await tx.many(tx.q.declare_agents, [(p.id, None, *_described(p), p.updated_at) for p in profiles])


async def create(tx: Tx, p: Profile) -> Profile:
    values = (p.id, p.owner, *_described(p), p.is_active, p.created_at, p.updated_at)
    if not await tx.rows(tx.q.insert_agent, *values):
        raise Conflict("There is an agent with that id already.")
    return p


async def get(tx: Tx, caller: str, agent: str) -> Profile:
    for row in await tx.rows(tx.q.get_agent, caller, agent):
        return _profile(row)
    raise NotFound(NO_AGENT)


async def find(tx: Tx, agent: str) -> Profile | None:
    for row in await tx.rows(tx.q.find_agent, agent):
        return _profile(row)
    return None


async def list_page(tx: Tx, caller: str, after: str | None, limit: int, inactive: bool) -> Sequence[Profile]:
    return [_profile(row) for row in await tx.rows(tx.q.list_agents, caller, after, limit, inactive)]


async def change(tx: Tx, caller: str, profile: Profile) -> Profile:
    known = await get(tx, caller, profile.id)
    await tx.rows(tx.q.change_agent, profile.id, *_described(profile), profile.is_active, profile.updated_at)
    return replace(profile, owner=known.owner, created_at=known.created_at)


async def session(tx: Tx, agent: str, thread_id: str) -> str | None:
    for row in await tx.rows(tx.q.get_session, agent, thread_id):
        return str(row["session_id"])
    return None


async def keep_session(tx: Tx, agent: str, thread_id: str, session_id: str) -> None:
    await tx.rows(tx.q.keep_session, agent, thread_id, session_id)


# --- memory


def _block(row: _rows.Row) -> Block:
    return Block(
        id=str(row["id"]),
        agent=row["agent"],
        owner=row["owner"],
        label=row["label"],
        content=row["content"],
        is_shared=bool(row["is_shared"]),
        updated_at=row["updated_at"],
    )


async def blocks(tx: Tx, agent: str, owner: str) -> Sequence[Block]:
    return [_block(row) for row in await tx.rows(tx.q.read_blocks, agent, owner)]


async def put_block(tx: Tx, block: Block, is_shared: bool | None) -> Block:
    await _known(tx, block.agent)
    values = (block.id, block.agent, block.owner, block.label, block.content, is_shared, block.updated_at)
    [row] = await tx.rows(tx.q.put_block, *values)
    return _block(row)


async def drop_block(tx: Tx, agent: str, owner: str, label: str) -> None:
    if not await tx.rows(tx.q.drop_block, agent, owner, label):
        raise NotFound(NO_BLOCK)


async def link_block(tx: Tx, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
    await _known(tx, reader)
    if not await tx.rows(tx.q.link_block, agent, owner, label, reader, reader_owner):
        raise NotFound("There is no shared block of that label.")


async def unlink_block(tx: Tx, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
    await tx.rows(tx.q.unlink_block, agent, owner, label, reader, reader_owner)


async def _known(tx: Tx, agent: str) -> None:
    if await find(tx, agent) is None:
        raise NotFound(NO_AGENT)


def _passage(row: _rows.Row) -> Passage:
    return Passage(
        id=str(row["id"]),
        agent=row["agent"],
        owner=row["owner"],
        content=row["content"],
        tags=msgspec.json.decode(row["tags"], type=list[str]),
        created_at=row["created_at"],
        cause=row["cause"],
    )


async def put_passage(tx: Tx, passage: Passage) -> Passage:
    await _known(tx, passage.agent)
    tags = msgspec.json.encode(passage.tags).decode()
    values = (passage.id, passage.agent, passage.owner, passage.content, tags, passage.created_at, passage.cause)
    if not await tx.rows(tx.q.put_passage, *values) and passage.cause is not None:
        [row] = await tx.rows(tx.q.caused_passage, passage.cause)
        return _passage(row)
    return passage


async def passages(tx: Tx, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
    return [_passage(row) for row in await tx.rows(tx.q.list_passages, agent, owner, before, limit)]


async def find_passages(tx: Tx, agent: str, owner: str, words: str, text: str, limit: int) -> Sequence[Passage]:
    return [_passage(row) for row in await tx.rows(tx.q.find_passages, agent, owner, words, limit, text)]


async def drop_passage(tx: Tx, agent: str, owner: str, passage_id: str) -> None:
    if not await tx.rows(tx.q.drop_passage, agent, owner, passage_id):
        raise NotFound("There is no passage with that id.")
