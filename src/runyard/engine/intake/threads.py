"""Creates, changes and forks threads. Queues nothing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from runyard.base.clock import Clock
from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Thread
from runyard.domain.events import clean, cleaned
from runyard.engine.intake.fork import copy_beginning
from runyard.errors import Conflict, Invalid, NotFound
from runyard.store import IdempotencyKey, Store

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

MOST_METADATA_BYTES = 16_384


class ThreadIntake:
    """The part of the intake that makes threads."""

    _store: Store
    _clock: Clock
    _redactor: "Redactor"

    def _check_agent(self, agent: str | None) -> None:
        raise NotImplementedError

    async def open_thread(
        self,
        owner: str,
        user_id: str | None,
        agent: str | None,
        key: IdempotencyKey | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Thread:
        """Create a thread, perhaps with a name and values of its client. Conflict if the name is taken."""
        self._check_agent(agent)
        thread = Thread(
            id=new_id(),
            owner=owner,
            user_id=None if user_id is None else clean(user_id),
            agent=agent,
            created_at=self._clock.now_ms(),
            external_id=None if name is None else clean(name),
            metadata=None if metadata is None else self._stored_metadata(metadata),
        )
        return await self._store.create_thread(thread, key)

    async def change_thread(self, thread: Thread, metadata: Mapping[str, Any]) -> Thread:
        """Replace the values that a client stores with a thread."""
        return await self._store.change_thread(thread.owner, thread.id, self._stored_metadata(metadata))

    def _stored_metadata(self, metadata: Mapping[str, Any]) -> str:
        stored = msgspec.json.encode(self._redactor.value(cleaned(dict(metadata))))
        if len(stored) > MOST_METADATA_BYTES:
            raise Invalid(f"The metadata of a thread has at most {MOST_METADATA_BYTES} bytes. Store less.")
        return stored.decode()

    async def fork(
        self,
        owner: str,
        thread: Thread,
        run_id: str | None,
        key: IdempotencyKey | None = None,
        at_seq: int | None = None,
    ) -> Thread:
        """Create a thread that continues after this run, or after the last run of the thread; with `at_seq`, after
        that event of the run."""
        if run_id is None and thread.head_run_id is None:
            raise Conflict("The thread has no run to fork. Post a message first.")
        run = await self._store.get_run(owner, run_id or thread.head_run_id or "")
        if run.thread_id != thread.id:
            raise NotFound("There is no run with that id in the thread.")
        fork = Thread(
            id=new_id(),
            owner=owner,
            user_id=thread.user_id,
            agent=thread.agent,
            created_at=self._clock.now_ms(),
            metadata=thread.metadata,
        )
        copy = None if at_seq is None else await copy_beginning(self._store, self._clock, run, at_seq, fork)
        return await self._store.fork_thread(fork, run.id, key, copy)
