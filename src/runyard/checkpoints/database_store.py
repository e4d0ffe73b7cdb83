"""Stores checkpoints in the database."""

from msgspec.structs import replace

from runyard.checkpoints.store import IsGone
from runyard.domain.runs.run import Run
from runyard.domain.times import iso
from runyard.engine.engine import Engine
from runyard.errors import NotFound
from runyard.faces.chats.interaction_builder import InteractionBuilder, decoded, encoded
from runyard.faces.chats.lookup import run_in, thread_of
from runyard.faces.chats.translate import run_id_of
from runyard.faces.chats.wire import AgentState, Chat, Interaction


class DatabaseInteractionStore:
    """The `InteractionStore` of one owner, in the database."""

    def __init__(self, engine: Engine, owner: str) -> None:
        self._engine = engine
        self._owner = owner

    async def save_interaction(self, chat_id: str, interaction: Interaction) -> None:
        """Save an interaction. A copy that is older than an edit is dropped; the task saves a newer one."""
        run = await self._run(chat_id, interaction.id)
        replaced = run_id_of(interaction.superseded_by or "")
        await self._engine.checkpoints.save(replace(run, superseded_by=replaced), encoded(interaction))

    async def load_interaction(self, chat_id: str, interaction_id: str) -> Interaction:
        run = await self._run(chat_id, interaction_id)
        if await self._engine.checkpoints.of_run(run) is None:
            raise NotFound("There is no checkpoint of that interaction.")
        return await InteractionBuilder(self._engine).whole(run)

    async def load_chat(self, chat_id: str) -> Chat:
        thread = await thread_of(self._engine, self._owner, chat_id)
        kept = await self._engine.checkpoints.of_thread(thread.id)
        interactions = [decoded(data) for data in kept.values()]
        return Chat(id=chat_id, interactions=interactions, created_at=iso(thread.created_at) or "")

    async def get_previous_state(self, chat_id: str, interaction_id: str) -> AgentState | None:
        run = await self._run(chat_id, interaction_id)
        if run.parent_id is None:
            return None
        return AgentState(messages=await InteractionBuilder(self._engine).before(run))

    async def forget(self, chat_id: str, is_gone: IsGone) -> None:
        """Do nothing: the copies were deleted with the thread."""

    async def _run(self, chat_id: str, interaction_id: str) -> Run:
        return await run_in(self._engine, self._owner, chat_id, interaction_id)
