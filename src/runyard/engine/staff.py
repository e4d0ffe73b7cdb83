"""The agents of the office: their rows, what they remember, and the prompt they get.

Agents that code declares are there too, under their names, and can be retired and given a memory like any other; what
they are made of changes in the code alone."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from runyard.agents.agent import Agent
from runyard.agents.office_prompt import LAST_MESSAGES, Line, Place, Prompt, build
from runyard.clock import Clock
from runyard.domain.events import clean
from runyard.domain.memory import Block, Passage
from runyard.domain.profile import Profile
from runyard.domain.run import Run
from runyard.domain.thread import Message, Thread
from runyard.engine.views import known
from runyard.errors import Conflict, Invalid, NotFound
from runyard.ids import new_id
from runyard.office import Office

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

CODE = frozenset({"persona", "model", "max_turns", "max_usd"})  # of a declared agent: not to be changed from outside


class Staff:
    def __init__(
        self, store: Office, clock: Clock, declared: Mapping[str, Agent], redactor: "Redactor | None" = None
    ) -> None:
        self._redactor = redactor
        self._store = store
        self._clock = clock
        self._declared = declared

    async def declare(self) -> None:
        """Every agent of the code has its row."""
        now = self._clock.now_ms()
        await self._store.declare_agents([_profile_of(agent, now) for agent in self._declared.values()])

    async def agent(self, name: str) -> Agent | None:
        """What runs under this name: declared in code, or made of a row."""
        if name in self._declared:
            return self._declared[name]
        profile = await self._store.find_agent(name)
        return None if profile is None or profile.owner is None else _agent_of(profile)

    # --- rows

    async def get(self, caller: str, agent: str) -> Profile:
        return await self._store.get_agent(caller, clean(agent))

    async def page(self, caller: str, after: str | None, limit: int, inactive: bool) -> Sequence[Profile]:
        return await self._store.list_agents(caller, None if after is None else clean(after), limit, inactive)

    async def create(self, caller: str, agent: str, **given: Any) -> Profile:
        now = self._clock.now_ms()
        profile = self._cleaned(Profile(id=agent, owner=caller, created_at=now, updated_at=now, **given))
        _agent_of(profile)
        return await self._store.create_agent(profile)

    async def change(self, caller: str, agent: str, **changes: Any) -> Profile:
        profile = await self.get(caller, agent)
        if profile.owner is None and CODE & changes.keys():
            raise Conflict("This agent is declared in code; what it is made of is changed there.")
        changed = self._cleaned(replace(profile, **changes, updated_at=self._clock.now_ms()))
        if changed.owner is not None:
            _agent_of(changed)
        return await self._store.change_agent(caller, changed)

    async def retire(self, caller: str, agent: str) -> None:
        """From now on nobody wakes it; what it did, and what it remembers, stays."""
        await self.change(caller, agent, is_active=False)

    # --- memory

    async def blocks(self, caller: str, agent: str) -> Sequence[Block]:
        return await self._store.blocks((await self.get(caller, agent)).id)

    async def remember(self, caller: str, agent: str, label: str, content: str, is_shared: bool | None = None) -> Block:
        profile = await self.get(caller, agent)
        return await self.update_memory(profile.id, label, content, is_shared)

    async def forget(self, caller: str, agent: str, label: str) -> None:
        await self._store.drop_block((await self.get(caller, agent)).id, self._kept(label))

    async def link(self, caller: str, agent: str, label: str, reader: str) -> None:
        owner, other = await self.get(caller, agent), await self.get(caller, reader)
        await self._store.link_block(owner.id, self._kept(label), other.id)

    async def unlink(self, caller: str, agent: str, label: str, reader: str) -> None:
        await self._store.unlink_block((await self.get(caller, agent)).id, self._kept(label), clean(reader))

    async def passages(
        self, caller: str, agent: str, query: str | None, before: str | None, limit: int
    ) -> Sequence[Passage]:
        profile = await self.get(caller, agent)
        if query is not None:
            return await self.search_memory(profile.id, query, limit)
        return await self._store.passages(profile.id, before, limit)

    async def put_away(self, caller: str, agent: str, content: str, tags: Sequence[str]) -> Passage:
        return await self.store_memory((await self.get(caller, agent)).id, content, tags)

    async def drop(self, caller: str, agent: str, passage_id: str) -> None:
        await self._store.drop_passage((await self.get(caller, agent)).id, known(passage_id, "passage"))

    # --- what agents do with their own memory, through their tools

    async def update_memory(self, agent: str, label: str, content: str, is_shared: bool | None = None) -> Block:
        block = Block(
            id=new_id(),
            agent=agent,
            label=self._kept(label),
            content=self._kept(content),
            updated_at=self._clock.now_ms(),
        )
        return await self._store.put_block(block, is_shared)

    async def search_memory(self, agent: str, query: str, limit: int) -> Sequence[Passage]:
        return await self._store.find_passages(agent, clean(query), limit)

    async def store_memory(
        self, agent: str, content: str, tags: Sequence[str] = (), cause: str | None = None
    ) -> Passage:
        """`cause` is the call, `run_id:call_id`: what it has stored, it stores once."""
        passage = Passage(
            id=new_id(),
            agent=agent,
            content=self._kept(content),
            tags=[self._kept(tag) for tag in tags],
            created_at=self._clock.now_ms(),
            cause=cause,
        )
        return await self._store.put_passage(passage)

    def _kept(self, text: str) -> str:
        """As it is stored: what is sensitive by its name."""
        return clean(text) if self._redactor is None else self._redactor.text(clean(text))

    def _cleaned(self, profile: Profile) -> Profile:
        """The profile as it is stored. The name of a model is no content."""
        texts = {name: getattr(profile, name) for name in ("display_name", "title", "avatar_color", "persona")}
        kept = {name: self._kept(text) for name, text in texts.items() if text is not None}
        return replace(profile, **kept, model=None if profile.model is None else clean(profile.model))

    # --- the prompt

    async def preview(self, caller: str, agent: str, thread_id: str | None) -> Prompt:
        """The prompt that this agent would get now, in this conversation."""
        profile = await self.get(caller, agent)
        if thread_id is None:
            return build(profile.persona, await self._store.blocks(profile.id), [])
        here = await self._store.get_conversation(caller, known(thread_id, "conversation"))
        return await self.prompt(profile, here.thread)

    async def prompt(self, profile: Profile, thread: Thread) -> Prompt:
        """Persona, memory, and the last messages of this conversation and no other."""
        blocks = await self.loaded_blocks(profile)
        said = await self._store.recent_messages(thread.id, None, LAST_MESSAGES)
        return self.built_prompt(profile, blocks, thread, said)

    # --- the same, step by step, for whoever runs the agent

    async def loaded(self, run: Run) -> Profile:
        """The agent of this run."""
        profile = await self._store.find_agent(run.agent)
        if profile is None:
            raise NotFound("There is no agent with that id.")
        return profile

    async def keep_session(self, profile: Profile, session_id: str) -> None:
        if profile.session_id != session_id:
            await self._store.keep_session(profile.id, session_id)

    async def loaded_blocks(self, profile: Profile) -> Sequence[Block]:
        return await self._store.blocks(profile.id)

    def built_prompt(
        self, profile: Profile, blocks: Sequence[Block], thread: Thread, said: Sequence[Message]
    ) -> Prompt:
        lines = [Line(m.id, m.sender or "", m.text, m.parent_id is not None) for m in said]
        title = f"#{thread.name}" if thread.kind == "channel" else "a direct message"
        return build(profile.persona, blocks, lines, Place(thread.id, title))


def _profile_of(agent: Agent, now: int) -> Profile:
    mind = agent.mind or agent.claude
    return Profile(
        id=agent.name,
        display_name=agent.name,
        persona=agent.instructions,
        model=None if mind is None else mind.model,
        max_turns=5 if mind is None else mind.max_turns,
        max_usd=0.10 if mind is None else mind.max_usd,
        created_at=now,
        updated_at=now,
    )


def _agent_of(profile: Profile) -> Agent:
    """What a row runs as; Invalid if it cannot."""
    if not profile.model:
        raise Invalid("An agent needs a model.")
    return Agent(
        profile.id,
        model=profile.model,
        instructions=profile.persona,
        max_turns=profile.max_turns,
        max_usd=profile.max_usd,
    )
