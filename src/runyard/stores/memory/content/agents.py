"""Agents as rows, and their memory. An agent without a row has no memory."""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.domain.content.memory import EVERY_OWNER, Block, Passage
from runyard.domain.content.profile import Profile
from runyard.errors import Conflict, NotFound
from runyard.store import Document
from runyard.stores.memory.content.documents import search
from runyard.stores.memory.rows import Rows, page


class Agents(Rows):
    async def declare_agents(self, profiles: Sequence[Profile]) -> None:
        for profile in profiles:
            known = self._agents.get(profile.id)
            if known is None:
                self._agents[profile.id] = replace(profile, owner=None, created_at=profile.updated_at)
                continue
            same = ("persona", "model", "max_turns", "max_usd")
            if known.owner is not None or any(getattr(known, name) != getattr(profile, name) for name in same):
                made_of = {name: getattr(profile, name) for name in (*same, "updated_at")}
                self._agents[profile.id] = replace(known, owner=None, **made_of)

    async def create_agent(self, profile: Profile) -> Profile:
        if profile.id in self._agents:
            raise Conflict
        self._agents[profile.id] = profile
        return profile

    async def get_agent(self, caller: str, agent: str) -> Profile:
        profile = self._agents.get(agent)
        if profile is None or profile.owner not in (None, caller):
            raise NotFound
        return profile

    async def find_agent(self, agent: str) -> Profile | None:
        return self._agents.get(agent)

    async def list_agents(
        self, caller: str, after: str | None, limit: int, inactive: bool = False
    ) -> Sequence[Profile]:
        mine = [each for each in self._agents.values() if each.owner in (None, caller) and (each.is_active or inactive)]
        return sorted((e for e in mine if after is None or e.id > after), key=lambda each: each.id)[:limit]

    async def change_agent(self, caller: str, profile: Profile) -> Profile:
        known = await self.get_agent(caller, profile.id)
        kept = {"owner": known.owner, "created_at": known.created_at}
        changed = self._agents[profile.id] = replace(profile, **kept)
        return changed

    async def session(self, agent: str, thread_id: str) -> str | None:
        return self._sessions.get((agent, thread_id))

    async def save_session(self, agent: str, thread_id: str, session_id: str) -> None:
        if agent in self._agents and thread_id in self._threads:
            self._sessions[agent, thread_id] = session_id

    def _is_active(self, agent: str, owner: str) -> bool:
        profile = self._agents.get(agent)
        return profile is not None and profile.is_active and profile.owner in (None, owner)

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        own = [block for block in self._blocks.values() if (block.agent, block.owner) == (agent, owner)]
        others = [block for block in self._blocks.values() if self._is_lent(block, agent, owner)]
        return [*sorted(own, key=lambda b: b.label), *sorted(others, key=lambda b: (b.label, b.agent))]

    def _is_lent(self, block: Block, agent: str, owner: str) -> bool:
        linked = block.is_shared and (block.id, agent, owner) in self._links
        return linked and block.agent != agent and block.owner in (owner, EVERY_OWNER)

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        if block.agent not in self._agents:
            raise NotFound
        place = (block.agent, block.owner, block.label)
        known = self._blocks.get(place, replace(block, is_shared=False))
        shared = known.is_shared if is_shared is None else is_shared
        block = self._blocks[place] = replace(block, id=known.id, is_shared=shared)
        return block

    async def drop_block(self, agent: str, owner: str, label: str) -> None:
        if (agent, owner, label) not in self._blocks:
            raise NotFound
        gone = self._blocks.pop((agent, owner, label))
        self._links = {link for link in self._links if link[0] != gone.id}

    async def link_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        block = self._blocks.get((agent, owner, label))
        if block is None or not block.is_shared or reader not in self._agents:
            raise NotFound
        self._links.add((block.id, reader, reader_owner))

    async def unlink_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        block = self._blocks.get((agent, owner, label))
        if block is not None:
            self._links.discard((block.id, reader, reader_owner))

    async def put_passage(self, passage: Passage) -> Passage:
        if passage.agent not in self._agents:
            raise NotFound
        for known in self._passages.values():
            if passage.cause is not None and known.cause == passage.cause:
                return known
        self._passages[passage.id] = passage
        return passage

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        return page(self._put_away(agent, owner), before, limit)

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        text, mine = query.strip().lower(), list(self._put_away(agent, owner))
        if not text:
            return []
        by_words = [hit.id for hit in search([Document(p.id, " ".join(p.tags), p.content) for p in mine], query)]
        containing = {p.id for p in mine if text in p.content.lower()}
        found = dict.fromkeys([*by_words, *sorted(containing)])
        return [self._passages[each] for each in sorted(found, key=lambda each: each not in containing)[:limit]]

    async def drop_passage(self, agent: str, owner: str, passage_id: str) -> None:
        if passage_id not in {each.id for each in self._put_away(agent, owner)}:
            raise NotFound
        del self._passages[passage_id]

    def _put_away(self, agent: str, owner: str) -> list[Passage]:
        return [each for each in self._passages.values() if (each.agent, each.owner) == (agent, owner)]
