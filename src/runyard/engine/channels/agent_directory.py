"""The agents that can be in channels: their profiles, their memory and their prompt.

Agents declared in code have a profile too. Their model and instructions change in the code only, and only an operator
can rename or retire them. Memory belongs to an agent and an owner (`domain/content/memory.py`)."""

from collections.abc import Collection, Mapping, Sequence
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from runyard.agents.channels.prompt import LAST_MESSAGES, Line, Place, Prompt, build_prompt
from runyard.agents.declared.agent import Agent
from runyard.base.clock import Clock
from runyard.base.ids import new_id
from runyard.domain.content.memory import EVERY_OWNER, Block, Passage
from runyard.domain.content.profile import Profile
from runyard.domain.conversations.thread import Message, Thread
from runyard.domain.events import clean
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.runs.run import Run
from runyard.engine.limits import AgentLimits, not_blank
from runyard.engine.queries.views import checked_id
from runyard.errors import Conflict, Invalid, ModelRefused, NotFound, ScopeMissing
from runyard.store import Store

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

NO_LIMITS = AgentLimits()
CODE = frozenset({"persona", "model", "max_turns", "max_usd"})  # fields that the API cannot change of declared agents


class AgentDirectory:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        declared: Mapping[str, Agent],
        default: str | None = None,
        redactor: "Redactor" = NO_REDACTION,
        limits: AgentLimits = NO_LIMITS,
    ) -> None:
        self._limits = limits
        self._redactor = redactor
        self._store = store
        self._clock = clock
        self._declared = declared
        self.default = default  # the agent that answers when a client names none

    async def declare(self) -> None:
        """Store a profile for every agent declared in code."""
        now = self._clock.now_ms()
        await self._store.declare_agents([_profile_of(agent, now) for agent in self._declared.values()])

    async def agent(self, name: str) -> Agent | None:
        """Look up an agent without an ownership check: declared in code, or made over the API. For workers only."""
        if name in self._declared:
            return self._declared[name]
        profile = await self._store.find_agent(name)
        if profile is None or profile.owner is None:
            return None
        agent, most = _agent_of(profile), self._limits.usd
        if agent.model_settings is not None and most is not None and agent.model_settings.max_usd > most:
            agent.model_settings = replace(agent.model_settings, max_usd=most)
        return agent

    def description(self, name: str) -> str:
        """Return the description of an agent declared in code, else the docstring of its function, else nothing."""
        agent = self._declared.get(name)
        if agent is None or agent.description or agent.fn is None:
            return "" if agent is None else agent.description
        return getdoc(agent.fn) or ""

    def samples(self, name: str) -> Sequence[str]:
        """Return the questions that an agent declared in code offers to begin with."""
        agent = self._declared.get(name)
        return () if agent is None else agent.samples

    def can_chat(self, name: str) -> bool:
        """Whether a person can begin a chat with the agent, as its declaration says."""
        agent = self._declared.get(name)
        return agent is None or agent.chat

    # --- profiles

    async def get(self, caller: str, agent: str) -> Profile:
        return await self._store.get_agent(caller, clean(agent))

    async def page(self, caller: str, after: str | None, limit: int, inactive: bool) -> Sequence[Profile]:
        return await self._store.list_agents(caller, None if after is None else clean(after), limit, inactive)

    async def create(self, caller: str, agent: str, **given: Any) -> Profile:
        now = self._clock.now_ms()
        profile = self._profile_as_stored(Profile(id=agent, owner=caller, created_at=now, updated_at=now, **given))
        self._check(profile, given.keys())
        return await self._store.create_agent(profile)

    async def change(self, caller: str, agent: str, *, operates: bool, **changes: Any) -> Profile:
        """Change an agent of the caller. A caller with the scope `operate` (`operates`) can also change how an agent
        declared in code is presented."""
        profile = await self.get(caller, agent)
        if profile.owner is None and not operates:
            raise ScopeMissing("This agent is declared in code and serves every owner. Use a key with scope `operate`.")
        if profile.owner is None and CODE & changes.keys():
            raise Conflict("This agent is declared in code. Change its persona, model and budget there.")
        changed = self._profile_as_stored(replace(profile, **changes, updated_at=self._clock.now_ms()))
        if changed.owner is not None:
            self._check(changed, changes.keys())
        return await self._store.change_agent(caller, changed)

    def _check(self, profile: Profile, given: Collection[str]) -> None:
        """Raise Invalid if the agent could not run, or if a given value is not allowed."""
        _agent_of(profile)
        if "model" in given:
            self._limits.check_model(profile.model or "")
        if "max_usd" in given:
            self._limits.check_usd(profile.max_usd)

    async def retire(self, caller: str, agent: str, *, operates: bool) -> None:
        """Deactivate an agent: messages no longer wake it. Its history and memory stay."""
        await self.change(caller, agent, operates=operates, is_active=False)

    # --- memory

    def memory_owner(self, agent: str, owner: str) -> str:
        """Return the owner of the agent's memory and mailbox when it works for this owner. Shared agents have one
        memory for all owners."""
        declared = self._declared.get(agent)
        return EVERY_OWNER if declared is not None and declared.shared else owner

    async def blocks(self, caller: str, agent: str) -> Sequence[Block]:
        return await self._store.blocks(*await self._memory(caller, agent))

    async def set_block(
        self, caller: str, agent: str, label: str, content: str, is_shared: bool | None = None
    ) -> Block:
        profile = await self.get(caller, agent)
        return await self.update_memory(profile.id, caller, label, content, is_shared)

    async def delete_block(self, caller: str, agent: str, label: str) -> None:
        await self._store.drop_block(*await self._memory(caller, agent), self._as_stored(label))

    async def link(self, caller: str, agent: str, label: str, reader: str) -> None:
        """Let another agent read a memory block."""
        (of, owner), (by, reads_for) = await self._memory(caller, agent), await self._memory(caller, reader)
        if reads_for == EVERY_OWNER != owner:
            raise Invalid("A shared agent serves every owner. Link blocks of shared agents to it only.")
        await self._store.link_block(of, owner, self._as_stored(label), by, reads_for)

    async def unlink(self, caller: str, agent: str, label: str, reader: str) -> None:
        of, owner = await self._memory(caller, agent)
        by = clean(reader)
        await self._store.unlink_block(of, owner, self._as_stored(label), by, self.memory_owner(by, caller))

    async def _memory(self, caller: str, agent: str) -> tuple[str, str]:
        """Return the id of an agent that the caller may use, and the owner of the memory that the caller sees."""
        profile = await self.get(caller, agent)
        return profile.id, self.memory_owner(profile.id, caller)

    async def passages(
        self, caller: str, agent: str, query: str | None, before: str | None, limit: int
    ) -> Sequence[Passage]:
        memory = await self._memory(caller, agent)
        if query is not None:
            return await self._store.find_passages(*memory, clean(query), limit)
        return await self._store.passages(*memory, before, limit)

    async def add_passage(self, caller: str, agent: str, content: str, tags: Sequence[str]) -> Passage:
        return await self.store_memory((await self.get(caller, agent)).id, caller, content, tags)

    async def delete_passage(self, caller: str, agent: str, passage_id: str) -> None:
        await self._store.drop_passage(*await self._memory(caller, agent), checked_id(passage_id, "passage"))

    # --- the memory tools of agents, for the owner of the run

    async def update_memory(
        self, agent: str, owner: str, label: str, content: str, is_shared: bool | None = None
    ) -> Block:
        block = Block(
            id=new_id(),
            agent=agent,
            owner=self.memory_owner(agent, owner),
            label=self._as_stored(label),
            content=self._as_stored(content),
            updated_at=self._clock.now_ms(),
        )
        return await self._store.put_block(block, is_shared)

    async def search_memory(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        return await self._store.find_passages(agent, self.memory_owner(agent, owner), clean(query), limit)

    async def store_memory(
        self, agent: str, owner: str, content: str, tags: Sequence[str] = (), cause: str | None = None
    ) -> Passage:
        """Store a passage. `cause` is the tool call, as `run_id:call_id`: a repeated call stores nothing."""
        passage = Passage(
            id=new_id(),
            agent=agent,
            owner=self.memory_owner(agent, owner),
            content=self._as_stored(not_blank(content)),
            tags=[self._as_stored(tag) for tag in tags],
            created_at=self._clock.now_ms(),
            cause=cause,
        )
        return await self._store.put_passage(passage)

    def _as_stored(self, text: str) -> str:
        """Return the text redacted, and without characters that a database cannot store."""
        return self._redactor.text(clean(text))

    def _profile_as_stored(self, profile: Profile) -> Profile:
        """Return the profile with its texts redacted. The name of the model is not content."""
        texts = {name: getattr(profile, name) for name in ("display_name", "title", "avatar_color", "persona")}
        stored = {name: self._as_stored(text) for name, text in texts.items() if text is not None}
        return replace(profile, **stored, model=None if profile.model is None else clean(profile.model))

    # --- the prompt

    async def preview(self, caller: str, agent: str, thread_id: str | None) -> Prompt:
        """Build the prompt that this agent would get now in a conversation of the caller. Conversations of other
        owners are refused: their prompt contains memory that a guest may not read."""
        profile = await self.get(caller, agent)
        blocks = await self.load_blocks(profile, caller)
        if thread_id is None:
            return build_prompt(profile.persona, blocks, [])
        here = await self._store.get_conversation(caller, checked_id(thread_id, "conversation"))
        if here.thread.owner != caller:
            raise NotFound("You have no conversation with that id.")
        last = await self._store.recent_messages(here.thread.id, None, LAST_MESSAGES)
        messages = [message for message in last if message.deleted_at is None]
        return self.build_prompt(profile, blocks, here.thread, messages)

    # --- the parts of the prompt, for the worker that runs the agent

    async def load_profile(self, run: Run) -> Profile:
        """Return the profile of a run's agent. Raises ModelRefused if the API made it and its model is not allowed."""
        profile = await self._store.find_agent(run.agent)
        if profile is None:
            raise NotFound("There is no agent with that id.")
        if profile.owner is not None:  # the allowed models may have changed since it was made
            try:
                self._limits.check_model(profile.model or "")
            except Invalid as error:
                raise ModelRefused(error.message) from None
        return profile

    async def session(self, run: Run) -> str | None:
        """Return the session that this run resumes: the agent's last one in the same conversation."""
        return None if run.thread_id is None else await self._store.session(run.agent, run.thread_id)

    async def save_session(self, run: Run, session_id: str) -> None:
        if run.thread_id is not None:
            await self._store.save_session(run.agent, run.thread_id, session_id)

    async def load_blocks(self, profile: Profile, owner: str) -> Sequence[Block]:
        return await self._store.blocks(profile.id, self.memory_owner(profile.id, owner))

    def build_prompt(
        self, profile: Profile, blocks: Sequence[Block], thread: Thread, messages: Sequence[Message]
    ) -> Prompt:
        lines = [Line(m.id, m.sender or "", m.text, m.parent_id is not None) for m in messages]
        title = f"#{thread.name}" if thread.kind == "channel" else "a direct message"
        return build_prompt(profile.persona, blocks, lines, Place(thread.id, title))


def _profile_of(agent: Agent, now: int) -> Profile:
    model_settings = agent.model_settings or agent.claude
    return Profile(
        id=agent.name,
        display_name=agent.name,
        persona=agent.instructions,
        model=None if model_settings is None else model_settings.model,
        max_turns=5 if model_settings is None else model_settings.max_turns,
        max_usd=0.10 if model_settings is None else model_settings.max_usd,
        created_at=now,
        updated_at=now,
    )


def _agent_of(profile: Profile) -> Agent:
    """Return the agent that runs from a profile. Raises Invalid if the profile has no model."""
    if not profile.model:
        raise Invalid("The agent has no model. Set `model`.")
    return Agent(
        profile.id,
        model=profile.model,
        instructions=profile.persona,
        max_turns=profile.max_turns,
        max_usd=profile.max_usd,
    )
