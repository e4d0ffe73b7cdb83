"""Threads, messages, runs, approvals, and the state of a run at any seq. Read-only, except for `delete_thread`."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runyard.base.clock import Clock, SystemClock
from runyard.base.ids import IdKind, is_id, made_at
from runyard.domain.conversations.thread import Message, Thread
from runyard.domain.events import RunOutput, clean
from runyard.domain.runs.run import Run, Status
from runyard.domain.runs.thread_head import ThreadHead
from runyard.domain.state.run_state import State
from runyard.engine.control.deleted_files import DeletedFiles
from runyard.engine.control.retention import DAY_MS
from runyard.engine.log.snapshots import F, FoldedLog, FoldKind, Snapshots
from runyard.errors import Gone, Invalid, NotFound, RunyardError, Unreadable
from runyard.store import Document, RunColumn, RunFilter, Store

if TYPE_CHECKING:
    from runyard.engine.running.worker import Worker

READ_RUNS = 500
MOST_IDS = 11  # that a part of an id finds
GONE = "The run was deleted by the retention policy. `snapshot` holds what is still known of it."


class Progress(Struct, frozen=True):
    """How far a run is: its last event, the next event to publish, and the time of its last change."""

    last_seq: int
    next_seq: int
    updated_at: int


class Views:
    def __init__(
        self,
        store: Store,
        worker: "Worker | None",
        *,
        whole_message_agents: Collection[str] = (),
        clock: Clock | None = None,
        retention_days: float | None = None,
        deleted_files: DeletedFiles | None = None,
        snapshots: Snapshots | None = None,
    ) -> None:
        """`whole_message_agents`: the agents that record whole messages in addition to their pieces.
        `retention_days`: None keeps runs for ever. `deleted_files` removes the files of a deleted thread."""
        self._deleted_files = deleted_files
        self._clock = clock or SystemClock()
        self._retention_ms = None if retention_days is None else int(retention_days * DAY_MS)
        self._store = store
        self._snapshots = snapshots or Snapshots(store)
        self._worker = worker
        self._whole_message_agents = frozenset(whole_message_agents)

    async def ping(self) -> None:
        await self._store.ping()

    async def check_ready(self) -> None:
        """Raise Unavailable if the database does not answer, DiskFull if it cannot store requests of clients."""
        await self._store.ping()
        await self._store.check_disk()

    async def thread(self, owner: str, thread_id: str) -> Thread:
        thread = await self._store.get_thread(owner, checked_id(thread_id, "thread"))
        if thread.kind != "chat":
            raise NotFound("There is no thread with that id.")
        return thread

    async def named_thread(self, owner: str, name: str) -> Thread:
        """Return a thread by the name that its client gave it, or by its id."""
        return await self._store.get_named_thread(owner, clean(name))

    async def thread_head(self, owner: str, name: str) -> ThreadHead:
        """Return the thread that `named_thread` returns, with its last run, or an empty head if there is none. Raises
        Gone if the retention policy deleted the run."""
        head = await self._store.get_thread_head(owner, clean(name))
        if head.thread is not None and head.run is None and head.thread.head_run_id is not None:
            return replace(head, run=await self.run(owner, head.thread.head_run_id))
        return head

    async def threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        return await self._store.list_threads(owner, checked_cursor(before), limit)

    async def active_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        """Return threads by their last activity, newest first."""
        return await self._store.list_active_threads(owner, checked_cursor(before), limit)

    async def messages(self, thread: Thread, before: str | None, limit: int) -> Sequence[Message]:
        """Return the newest messages of a thread below an id, oldest first."""
        return await self._store.recent_messages(thread.id, checked_cursor(before), limit)

    async def message(self, message_id: str) -> Message | None:
        """Return a message. It has no owner: the caller must have read its run."""
        return (await self._store.get_messages([message_id])).get(message_id)

    async def question(self, run: Run) -> str:
        """Return the text of the message that the run answers, or an empty text."""
        return (await self.questions([run])).get(run.id, "")

    async def questions(self, runs: Sequence[Run]) -> Mapping[str, str]:
        """Return the text of the message that each of these runs answers, by run id."""
        return {run_id: message.text for run_id, message in (await self.triggers(runs)).items()}

    async def triggers(self, runs: Sequence[Run]) -> Mapping[str, Message]:
        """Return the message that each of these runs answers, by run id."""
        messages = await self._store.get_messages([run.trigger_message_id for run in runs if run.trigger_message_id])
        causes = {run.id: messages.get(run.trigger_message_id or "") for run in runs}
        return {run_id: message for run_id, message in causes.items() if message is not None}

    async def readable_questions(self, runs: Sequence[Run]) -> Mapping[str, str]:
        """Return questions as `questions` does, without those that cannot be decrypted: a list shows the other runs."""
        try:
            return await self.questions(runs)
        except Unreadable:
            found: dict[str, str] = {}
            for run in runs:
                with suppress(Unreadable):
                    found |= await self.questions([run])
            return found

    async def thread_runs(self, thread: Thread) -> list[Run]:
        """Return all runs of a thread, oldest first."""
        where: RunFilter = {"thread_id": thread.id}
        found: list[Run] = []
        while page := await self._store.list_runs(thread.owner, where, found[-1].id if found else None, READ_RUNS):
            found += page
            if len(page) < READ_RUNS:
                break
        return found[::-1]

    async def open_runs(self, owner: str, thread_id: str) -> Sequence[Run]:
        """Return the runs of a thread that have not ended, oldest first."""
        return await self._store.open_runs(owner, thread_id)

    async def folded(self, run: Run, kinds: Sequence[FoldKind[Any]]) -> list[FoldedLog[Any]]:
        """Fold the run's events so far, in several ways at once."""
        return await self._snapshots.folded(run, kinds)

    async def fold(self, run: Run, kind: FoldKind[F]) -> F:
        """Fold the run's events so far in one way."""
        [folded] = await self.folded(run, [kind])
        found: F = folded.fold
        return found

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        """Delete a thread with everything that belongs to it. Files that cannot be removed now are removed later."""
        await self._store.delete_thread(owner, checked_id(thread_id, "thread"))
        if self._deleted_files is not None:
            with suppress(RunyardError):
                await self._deleted_files.round()

    async def run(self, owner: str, run_id: str) -> Run:
        checked_id(run_id, "run")
        try:
            return await self._store.get_run(owner, run_id)
        except NotFound:
            await self._raise_if_gone(owner, run_id)
            raise

    async def find_ids(self, owner: str, kind: IdKind, part: str) -> Sequence[str]:
        """Return the ids of the owner's runs, threads or waits that start or end with this part: the newest of them."""
        return await self._store.find_ids(owner, kind, clean(part), MOST_IDS)

    async def runs_by_id(self, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
        """Return those of these runs that the owner has, by id."""
        return await self._store.get_runs(owner, list(dict.fromkeys(run_ids)))

    async def _raise_if_gone(self, owner: str, run_id: str) -> None:
        """Raise Gone with the run's tombstone; without one, if a run of that age would have been deleted."""
        try:
            tombstone = await self._store.get_tombstone(owner, run_id)
        except NotFound:
            if self._retention_ms is None or not is_id(run_id):
                return
            if made_at(run_id) < self._clock.now_ms() - 2 * self._retention_ms:
                raise Gone(GONE) from None
        else:
            raise Gone(GONE, snapshot=msgspec.structs.asdict(tombstone))

    def ended_within(self, run: Run, seconds: float) -> bool:
        """Whether a run has ended, and not longer ago than that."""
        return run.finished_at is not None and run.finished_at >= self._clock.now_ms() - seconds * 1000

    async def visible_run(self, owner: str, run_id: str) -> str:
        """Return the id of a run that this owner may follow. For a run that this process executes, the store is not
        asked."""
        if self._worker is not None and self._worker.owner_of(run_id) == owner:
            return run_id
        return (await self.run(owner, run_id)).id

    async def named_run(self, owner: str, external_id: str) -> Run:
        """Return the run that a client gave this name."""
        name = clean(external_id)
        try:
            return await self._store.get_named_run(owner, name)
        except NotFound:
            await self._raise_if_gone(owner, name)
            raise

    def has_whole_messages(self, agent: str) -> bool:
        """Whether this agent records whole messages in addition to their pieces."""
        return agent in self._whole_message_agents

    async def sources(self, owner: str, run_id: str) -> Sequence[tuple[str, Document]]:
        """Return the documents that the run's answer names as its sources, each with its collection's name."""
        run = await self.run(owner, run_id)
        last = [event.payload for event in await self._store.read(run.id, max(0, run.last_seq - 2), 2)]
        return await self._store.get_documents(
            [name for payload in last if isinstance(payload, RunOutput) for name in payload.sources]
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
        error: str | None = None,
    ) -> Sequence[Run]:
        """Return an owner's runs, newest first. The status `running` includes runs that wait for a decision."""
        where = _where(status, agent, thread_id, error)
        if status is Status.RUNNING:
            at_work = await self._runs(owner, before, limit, where)
            waiting = await self._runs(owner, before, limit, {**where, "status": Status.WAITING.value})
            by_id = {run.id: run for run in (*at_work, *waiting)}  # a run may have changed between the two reads
            return [by_id[run_id] for run_id in sorted(by_id, reverse=True)[:limit]]
        return await self._runs(owner, before, limit, where)

    async def ended_runs(
        self,
        owner: str,
        before: tuple[int, str] | None,
        limit: int,
        *,
        status: Status | None = None,
        agent: str | None = None,
        thread_id: str | None = None,
    ) -> Sequence[Run]:
        """Return an owner's ended runs, last ended first: those with a time and an id below `before`."""
        return await self._store.list_ended_runs(owner, _where(status, agent, thread_id, None), before, limit)

    async def _runs(self, owner: str, before: str | None, limit: int, where: RunFilter) -> Sequence[Run]:
        return await self._store.list_runs(owner, where, checked_cursor(before), limit)

    async def state(self, owner: str, run_id: str, at: int | None) -> State:
        """Return the state of a run after the event `at`, or after the last one."""
        run = await self.run(owner, run_id)
        last = run.last_seq if at is None else at
        if not 0 <= last <= run.last_seq:
            raise Invalid(f"The run has no event with that seq. Its last seq is {run.last_seq}.")
        state = await self._snapshots.state(run, last)
        if state.last_seq < last:
            raise NotFound("The run has been deleted.")
        return state


def checked_id(given: str, kind: str) -> str:
    """Return an id that a client sent. Raises NotFound if it is not a valid id."""
    if not is_id(given):
        raise NotFound(f"There is no {kind} with that id.")
    return given


def checked_cursor(given: str | None) -> str | None:
    """Return an id that a client sent as the start of a page or as a filter. Raises Invalid if it is not valid."""
    if given is not None and not is_id(given):
        raise Invalid("This is not a valid id. Use the id of an object that the API returned.")
    return given


def _where(status: Status | None, agent: str | None, thread_id: str | None, error: str | None) -> dict[RunColumn, str]:
    """Return the filter of a list of runs. Only failed runs have an error, and an index finds their status."""
    where: dict[RunColumn, str] = {}
    if status is not None or error is not None:
        where["status"] = (status or Status.ERROR).value
    if agent is not None:
        where["agent"] = clean(agent)
    if thread_id is not None:
        where["thread_id"] = checked_cursor(thread_id) or ""
    if error is not None:
        where["error_code"] = clean(error)
    return where
