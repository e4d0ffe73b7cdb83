"""The runs that the messages of a conversation started, and how far people have read."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from runyard.domain.conversations.thread import Conversation, ThreadKind, Unread
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import Wait
from runyard.engine.queries.views import checked_id
from runyard.errors import NotFound
from runyard.store import Store

CONVERSATIONS = 200
WAITS = 200


class ConversationRun(Struct, frozen=True):
    """A run that a message started. `wait`: what a person or a client has to answer before it continues, if it waits
    for that."""

    run: Run
    wait: Wait | None


class ConversationActivity:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def runs(
        self, caller: str, thread_id: str, kind: ThreadKind, before: str | None, limit: int
    ) -> Sequence[ConversationRun]:
        """Return the runs of a conversation that the caller sees, newest first."""
        thread = (await self._conversation(caller, thread_id, kind)).thread
        found = await self._store.list_runs(thread.owner, {"thread_id": thread.id}, before, limit)
        waits = await self._waits_of([run.id for run in found if run.status is Status.WAITING], thread.owner)
        return [ConversationRun(run, waits.get(run.id)) for run in found]

    async def _waits_of(self, run_ids: Sequence[str], owner: str) -> Mapping[str, Wait]:
        """Return the newest open wait of each of these runs that has one: one query, unless the owner has very many."""
        if not run_ids:
            return {}
        newest = await self._store.list_waits(owner, None, WAITS)
        found = {wait.run_id: wait for wait in reversed(newest)}
        if len(newest) == WAITS:
            for run_id in run_ids:
                for wait in [] if run_id in found else await self._store.list_waits(owner, None, 1, run_id):
                    found[run_id] = wait
        return found

    async def mark_read(self, caller: str, thread_id: str, kind: ThreadKind, message_id: str) -> None:
        """Store that the caller has read a conversation up to this message."""
        await self._conversation(caller, thread_id, kind)
        await self._store.mark_read(caller, thread_id, checked_id(message_id, "message"))

    async def unread(self, caller: str) -> Sequence[Unread]:
        """Return how far the caller has read the newest conversations."""
        return await self._store.unread(caller, CONVERSATIONS)

    async def _conversation(self, caller: str, thread_id: str, kind: ThreadKind) -> Conversation:
        here = await self._store.get_conversation(caller, checked_id(thread_id, "conversation"))
        if here.thread.kind != kind:
            raise NotFound("There is no conversation of that kind with that id.")
        return here
