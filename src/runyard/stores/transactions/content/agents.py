"""Agents as rows, and their sessions in conversations."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from runyard.domain.content.profile import Profile
from runyard.errors import Conflict, NotFound
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx

NO_AGENT = "There is no agent with that id."


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
    if profiles:
        await tx.many(tx.q.declare_agents, [(p.id, None, *_described(p), p.updated_at) for p in profiles])


async def create(tx: Tx, profile: Profile) -> Profile:
    values = (profile.id, profile.owner, *_described(profile), profile.is_active)
    if not await tx.rows(tx.q.insert_agent, *values, profile.created_at, profile.updated_at):
        raise Conflict("The agent id is taken. Choose another id.")
    return profile


async def get(tx: Tx, caller: str, agent: str) -> Profile:
    for row in await tx.rows(tx.q.get_agent, caller, agent):
        return _profile(row)
    raise NotFound(NO_AGENT)


async def check(tx: Tx, agent: str) -> None:
    """Raise NotFound if there is no agent with this id."""
    if await find(tx, agent) is None:
        raise NotFound(NO_AGENT)


async def find(tx: Tx, agent: str) -> Profile | None:
    for row in await tx.rows(tx.q.find_agent, agent):
        return _profile(row)
    return None


async def list_page(tx: Tx, caller: str, after: str | None, limit: int, inactive: bool = False) -> Sequence[Profile]:
    return [_profile(row) for row in await tx.rows(tx.q.list_agents, caller, after, limit, inactive)]


async def change(tx: Tx, caller: str, profile: Profile) -> Profile:
    known = await get(tx, caller, profile.id)
    await tx.rows(tx.q.change_agent, profile.id, *_described(profile), profile.is_active, profile.updated_at)
    return replace(profile, owner=known.owner, created_at=known.created_at)


async def session(tx: Tx, agent: str, thread_id: str) -> str | None:
    for row in await tx.rows(tx.q.get_session, agent, thread_id):
        return str(row["session_id"])
    return None


async def save_session(tx: Tx, agent: str, thread_id: str, session_id: str) -> None:
    await tx.rows(tx.q.save_session, agent, thread_id, session_id)
