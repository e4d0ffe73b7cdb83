"""What can be looked at: threads, messages, runs, approvals, and the state of a run at any seq. Changes nothing but
what `delete_thread` removes."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from runyard.clock import Clock, SystemClock
from runyard.domain.approval import Approval
from runyard.domain.events import Event, RunOutput, clean
from runyard.domain.fold import State, fold
from runyard.domain.run import Run, Status
from runyard.domain.thread import Message, Thread
from runyard.engine.control.deleted_files import DeletedFiles
from runyard.engine.control.retention import DAY_MS
from runyard.engine.running.worker import Worker
from runyard.errors import Gone, Invalid, NotFound, RunyardError
from runyard.ids import is_id, made_at
from runyard.store import Document, RunColumn, Store

READ_EVENTS = 5000
READ_RUNS = 500
GONE = "The run is so old that it was dropped; `snapshot` says what is still known of it."


class Progress(Struct, frozen=True):
    """How far a run is: its last event, the next one to be published, and when it last got anywhere."""

    last_seq: int
    next_seq: int
    updated_at: int


class Views:
    def __init__(
        self,
        store: Store,
        worker: Worker | None,
        whole: Collection[str] = (),
        clock: Clock | None = None,
        kept_days: float | None = None,
        deleted_files: DeletedFiles | None = None,
    ) -> None:
        """`whole`: the agents that record whole messages, so that pieces of reasoning are told again in full;
        `kept_days`: for how long runs are kept, if not for ever; `deleted_files`: removes the files of a deleted
        thread."""
        self._deleted_files = deleted_files
        self._clock = clock or SystemClock()
        self._kept_ms = None if kept_days is None else int(kept_days * DAY_MS)
        self._store = store
        self._worker = worker
        self._whole = frozenset(whole)

    async def ping(self) -> None:
        await self._store.ping()

    async def ready(self) -> None:
        """Raise Unavailable if the database is away, DiskFull if it cannot take what clients send."""
        await self._store.ping()
        await self._store.check_disk()

    async def thread(self, owner: str, thread_id: str) -> Thread:
        thread = await self._store.get_thread(owner, known(thread_id, "thread"))
        if thread.kind != "chat":
            raise NotFound("There is no thread with that id.")
        return thread

    async def named_thread(self, owner: str, name: str) -> Thread:
        """By the name that its client gave it, or by our own id."""
        try:
            return await self._store.get_named_thread(owner, clean(name))
        except NotFound:
            return await self.thread(owner, name)

    async def threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        return await self._store.list_threads(owner, position(before), limit)

    async def messages(self, thread: Thread, before: str | None, limit: int) -> Sequence[Message]:
        """The newest messages of a thread below an id, in the order they were said."""
        return await self._store.recent_messages(thread.id, position(before), limit)

    async def question(self, run: Run) -> str:
        """What the run answers."""
        return (await self.questions([run])).get(run.id, "")

    async def questions(self, runs: Sequence[Run]) -> Mapping[str, str]:
        """What each of these runs answers, by its id."""
        said = await self._store.get_messages([run.trigger_message_id for run in runs if run.trigger_message_id])
        causes = {run.id: said.get(run.trigger_message_id or "") for run in runs}
        return {run_id: message.text for run_id, message in causes.items() if message is not None}

    async def thread_runs(self, thread: Thread) -> list[Run]:
        """All runs of a thread, oldest first."""
        found: list[Run] = []
        while page := await self._store.list_runs(
            thread.owner, {"thread_id": thread.id}, found[-1].id if found else None, READ_RUNS
        ):
            found += page
        return found[::-1]

    async def log(self, run: Run) -> AsyncIterator[Sequence[Event]]:
        """The run's events so far, piece by piece."""
        last = 0
        while last < run.last_seq and (events := await self._store.read(run.id, last, READ_EVENTS)):
            last = events[-1].seq
            yield events

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        """Delete a thread with everything that belongs to it. Files that cannot be removed now are removed later."""
        await self._store.delete_thread(owner, known(thread_id, "thread"))
        if self._deleted_files is not None:
            with suppress(RunyardError):
                await self._deleted_files.round()

    async def run(self, owner: str, run_id: str) -> Run:
        known(run_id, "run")
        try:
            return await self._store.get_run(owner, run_id)
        except NotFound:
            await self._say_if_gone(owner, run_id)
            raise

    async def _say_if_gone(self, owner: str, run_id: str) -> None:
        """Gone, with what is still known of it; also if nothing is, but an id of that age would be gone by now."""
        try:
            stone = await self._store.get_tombstone(owner, run_id)
        except NotFound:
            if self._kept_ms is not None and is_id(run_id) and made_at(run_id) < self._forgotten_before(self._kept_ms):
                raise Gone(GONE) from None
        else:
            raise Gone(GONE, snapshot=msgspec.structs.asdict(stone))

    async def visible(self, owner: str, run_id: str) -> str:
        """The id of a run that this owner may follow; one that is running here is known without asking the store."""
        if self._worker is not None and self._worker.owner_of(run_id) == owner:
            return run_id
        return (await self.run(owner, run_id)).id

    def _forgotten_before(self, kept_ms: int) -> int:
        return self._clock.now_ms() - 2 * kept_ms

    async def run_named(self, owner: str, external_id: str) -> Run:
        """The run that a client gave this name."""
        name = clean(external_id)
        try:
            return await self._store.get_named_run(owner, name)
        except NotFound:
            await self._say_if_gone(owner, name)
            raise

    def repeats_its_thinking(self, agent: str) -> bool:
        """Whether what this agent thinks is also told in whole messages."""
        return agent in self._whole

    async def sources(self, owner: str, run_id: str) -> Sequence[tuple[str, Document]]:
        """The documents that the run's answer names as its sources, each after the name of its collection."""
        run = await self.run(owner, run_id)
        last = [event.payload for event in await self._store.read(run.id, max(0, run.last_seq - 2), 2)]
        return await self._store.get_documents(
            [name for said in last if isinstance(said, RunOutput) for name in said.sources]
        )

    async def progress(self, run: Run) -> Progress:
        head = (await self._store.heads([run.id])).get(run.id)
        last = await self._store.read(run.id, head.last_seq - 1, 1) if head is not None else ()
        if head is None or not last:
            raise NotFound("The run has been deleted.")
        return Progress(head.last_seq, head.published + 1, max(last[0].ts, run.finished_at or 0))

    async def runs(
        self,
        owner: str,
        before: str | None,
        limit: int,
        *,
        status: Status | None = None,
        agent: str | None = None,
        thread_id: str | None = None,
    ) -> Sequence[Run]:
        """An owner's runs, newest first. Runs that wait for a decision are running."""
        if status is Status.RUNNING:
            at_work = await self._runs(owner, before, limit, status, agent, thread_id)
            waiting = await self._runs(owner, before, limit, Status.WAITING, agent, thread_id)
            by_id = {run.id: run for run in (*at_work, *waiting)}  # a run may have changed between the two reads
            return [by_id[run_id] for run_id in sorted(by_id, reverse=True)[:limit]]
        return await self._runs(owner, before, limit, status, agent, thread_id)

    async def _runs(
        self,
        owner: str,
        before: str | None,
        limit: int,
        status: Status | None,
        agent: str | None,
        thread_id: str | None,
    ) -> Sequence[Run]:
        where: dict[RunColumn, str] = {}
        if status is not None:
            where["status"] = status.value
        if agent is not None:
            where["agent"] = clean(agent)
        if thread_id is not None:
            where["thread_id"] = position(thread_id) or ""
        return await self._store.list_runs(owner, where, position(before), limit)

    async def approvals(self, owner: str, before: str | None, limit: int) -> Sequence[Approval]:
        return await self._store.list_approvals(owner, None if before is None else clean(before), limit)

    async def state(self, owner: str, run_id: str, at: int | None) -> State:
        """The run after the event `at`, or after the last one."""
        run = await self.run(owner, run_id)
        last = run.last_seq if at is None else at
        if not 0 <= last <= run.last_seq:
            raise Invalid("There is no event with that seq yet.")
        state = State(agent=run.agent)
        while state.last_seq < last:
            events = await self._store.read(run_id, state.last_seq, min(READ_EVENTS, last - state.last_seq))
            if not events:
                raise NotFound("The run has been deleted.")
            state = fold(events, state)
        return state


def known(given: str, kind: str) -> str:
    """An id from outside. What is not an id cannot be the id of anything."""
    if not is_id(given):
        raise NotFound(f"There is no {kind} with that id.")
    return given


def position(given: str | None) -> str | None:
    """An id from outside that says where a page begins, or what to filter by."""
    if given is not None and not is_id(given):
        raise Invalid("That is not an id.")
    return given
