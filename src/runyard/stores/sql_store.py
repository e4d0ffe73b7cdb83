"""What the two SQL stores share: every operation of `Store` as a transaction script on the right connection.

A database brings `_write` (a script in a transaction of its own), `_read`, and `_append_fast`, the hot path of the
log: parts that move nothing, or that plainly end their run. `Channel` names the connection that Postgres keeps for a
purpose, so that a heartbeat never queues behind a slow commit; SQLite has one writer and does not care.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

from runyard.domain.api_key import ApiKey
from runyard.domain.append import Appended, Finish, Outcome, Part
from runyard.domain.approval import Approval
from runyard.domain.events import Draft, Event
from runyard.domain.publication import Backlog, Mark
from runyard.domain.run import MAILBOX, Run
from runyard.domain.thread import Message, Thread
from runyard.errors import QueueFull, RunyardError
from runyard.store import (
    NO_VERSIONS,
    Accepted,
    Beat,
    Claim,
    Document,
    Ending,
    Excerpt,
    Head,
    Hit,
    IdempotencyKey,
    Overview,
    Post,
    Reaped,
    Removal,
    Room,
    RunFilter,
    Snapshot,
    Swept,
    Tombstone,
    WorkerRow,
)
from runyard.stores.full_disk import FullDisk
from runyard.stores.transactions import (
    api_keys,
    checkpoints,
    claims,
    control,
    intake,
    log,
    outbox,
    overview,
    rates,
    retention,
    runs,
    search,
    snapshots,
    threads,
)
from runyard.stores.transactions.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")
Script = Callable[Concatenate[Tx, P], Awaitable[T]]
Channel = Literal["log", "intake", "claims", "lease", "outbox", "other"]


class Tip(NamedTuple):
    """Where a part was written: after `base`."""

    base: int
    cancel_requested: bool
    lane_ready: bool


class SqlStore:
    _full_disk: FullDisk

    async def open(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def scrub(self) -> None:
        """Where the database is a file of ours: leave no trace in it of what was replaced."""

    async def _write(self, channel: Channel, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a script in one transaction and commit it."""
        raise NotImplementedError

    async def _write_one(self, channel: Channel, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a script of a single statement, which needs no transaction around it."""
        return await self._write(channel, script, *args, **kwargs)

    async def _read(self, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a script that only reads."""
        raise NotImplementedError

    async def _append_fast(self, parts: Sequence[Part]) -> Mapping[int, Tip]:
        """Write parts that have no move or a Finish; those that are missing from the answer were not written."""
        raise NotImplementedError

    def _match(self, words: Sequence[str]) -> str:
        """Any of these words, in the words of the full-text search."""
        raise NotImplementedError

    async def ping(self) -> None:
        await self._read(log.heads, [])

    async def check_room(self) -> None:
        self._full_disk.check()

    async def overview(self, most: int) -> Overview:
        return await self._read(overview.look, most)

    # --- threads and messages

    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        if key is None:
            return await self._write_one("other", threads.create, thread, None)
        return await self._write("other", threads.create, thread, key)

    async def get_thread(self, owner: str, thread_id: str) -> Thread:
        return await self._read(threads.get, owner, thread_id)

    async def get_named_thread(self, owner: str, external_id: str) -> Thread:
        return await self._read(threads.get_named, owner, external_id)

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, excerpt: Excerpt | None = None
    ) -> Thread:
        return await self._write("other", threads.fork, thread, run_id, key, excerpt)

    async def list_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        return await self._read(threads.list_page, owner, before, limit)

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        await self._write("other", threads.delete, owner, thread_id)

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        return await self._read(threads.messages, thread_id)

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        return await self._read(threads.some_messages, message_ids)

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        return await self._read(threads.history, run_id, limit)

    # --- intake

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        results: dict[int, Accepted | RunyardError] = {}
        left = list(range(len(posts)))
        while left:
            try:
                accepted = await self._write("intake", intake.accept, [posts[n] for n in left], room)
            except intake.ThreadsMissing as missing:
                lost = [left[n] for n in missing.posts if posts[left[n]].thread is None]
                results |= {n: intake.not_found() for n in lost}
                left = [n for n in left if n not in lost]  # one that makes its thread does so when it is deleted
            except intake.LanesFull as full:
                lost = [left[n] for n in full.posts]
                results |= {n: QueueFull() for n in lost}
                left = [n for n in left if n not in lost]
            else:
                results |= dict(zip(left, accepted, strict=True))
                break
        return [results[n] for n in range(len(posts))]

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        return await self._write("intake", intake.retry, owner, post, run_id)

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        return await self._write("intake", intake.edit, owner, post, run_id)

    async def count_queued(self, owner: str, most: int) -> int:
        return await self._read(intake.count_queued, owner, most)

    async def forget_keys(self, older_than_ms: int) -> None:
        await self._write("other", _run, "forget_keys", older_than_ms)

    async def take_call(self, owner: str, agent: str, tool: str, most: int, window_ms: int) -> int:
        return await self._write("other", rates.take, owner, agent, tool, most, window_ms)

    async def forget_calls(self, older_than_ms: int) -> None:
        await self._write("other", rates.forget, older_than_ms)

    # --- workers and claims

    async def register(self, worker_id: str, label: str, ttl_ms: int) -> None:
        await self._write("lease", claims.register, worker_id, label, ttl_ms)

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        return await self._write("lease", claims.heartbeat, worker_id, ttl_ms)

    async def cancels(self, worker_id: str) -> Sequence[str]:
        return await self._read(claims.cancels, worker_id)

    async def list_workers(self) -> Sequence[WorkerRow]:
        return await self._read(claims.list_workers)

    async def retire(self, worker_id: str) -> None:
        await self._write("lease", claims.retire, worker_id)

    async def claim(
        self, worker_id: str, limit: int, suspects: bool, versions: Mapping[str, str] = NO_VERSIONS
    ) -> Sequence[Claim]:
        return await self._write("claims", claims.claim, worker_id, limit, suspects, versions)

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        return await self._write("other", claims.reap, limit, max_attempts, ending)

    async def unstick(self) -> int:
        return await self._read(claims.unstick)

    # --- runs that nobody follows

    async def detach(self, run_id: str, grace_ms: int) -> None:
        await self._write_one("other", control.detach, run_id, grace_ms)

    async def attach(self, run_ids: Sequence[str]) -> None:
        await self._write_one("other", control.attach, run_ids)

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        return await self._write("other", control.abandon, limit, grace_ms, ending)

    # --- the log

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        """The fast way first; what it does not take is judged one by one, and told why it is refused."""
        outcomes: dict[int, Outcome] = {}
        simple = sorted((n for n, part in enumerate(parts) if _is_simple(part)), key=lambda n: parts[n].run_id)
        if simple:
            for n, tip in (await self._append_fast([parts[n] for n in simple])).items():
                last = tip.base + len(parts[simple[n]].drafts)
                outcomes[simple[n]] = Appended(tip.base + 1, last, tip.cancel_requested, tip.lane_ready)
        left = [n for n in range(len(parts)) if n not in outcomes]
        if left:
            judged = await self._write("log", log.append, [parts[n] for n in left])
            outcomes |= dict(zip(left, judged, strict=True))
        return [outcomes[n] for n in range(len(parts))]

    async def tend(self) -> None:
        await self._write("other", _run, "tend_log")

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        return await self._read(log.read, run_id, after, limit)

    async def heads(self, run_ids: Sequence[str]) -> Mapping[str, Head]:
        return await self._read(log.heads, run_ids)

    # --- publication

    async def unpublished(self, quiet_ms: int, limit: int) -> Sequence[Backlog]:
        return await self._read(outbox.unpublished, quiet_ms, limit)

    async def publish(self, marks: Sequence[Mark]) -> Sequence[str]:
        raise NotImplementedError

    # --- runs, cancel, approvals

    async def get_run(self, owner: str, run_id: str) -> Run:
        return await self._read(runs.get, owner, run_id)

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        return await self._read(runs.get_named, owner, external_id)

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        return await self._read(runs.list_page, owner, where, before, limit)

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        return await self._write("other", control.cancel, owner, run_id, grace_ms, ending)

    async def get_approval(self, owner: str, approval_id: str) -> Approval:
        return await self._read(control.get_approval, owner, approval_id)

    async def list_approvals(
        self, owner: str, before: str | None, limit: int, run_id: str | None = None
    ) -> Sequence[Approval]:
        return await self._read(control.list_approvals, owner, before, limit, run_id)

    async def decide(
        self, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
    ) -> Approval:
        return await self._write("other", control.decide, owner, approval_id, state, by, event)

    async def expire(self, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
        return await self._write("other", control.expire, limit, event)

    # --- checkpoints

    async def unsaved(self, limit: int) -> Sequence[Run]:
        return await self._read(checkpoints.unsaved, limit)

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        return await self._write("other", checkpoints.save, run, data)

    async def checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        return await self._read(checkpoints.read, thread_id, run_id)

    # --- snapshots

    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        await self._write_one("other", snapshots.save, run_id, kind, snapshot)

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        return await self._read(snapshots.newest, run_id, kind, upto)

    # --- retention

    async def sweep(self, horizon: int, after: str | None, limit: int) -> Swept:
        return await self._write("other", retention.sweep, horizon, after, limit)

    async def removals(self, since: int, after: str | None, limit: int) -> Sequence[Removal]:
        return await self._read(retention.removals, since, after, limit)

    async def forget_removals(self, before: int) -> None:
        await self._write("other", _run, "forget_removals", before)

    async def drop_logs(self, horizon: int, tombstones: int) -> int:
        return await self._write("other", retention.drop_logs, horizon, tombstones)

    async def get_tombstone(self, owner: str, run_id: str) -> Tombstone:
        return await self._read(retention.get_tombstone, owner, run_id)

    # --- API keys

    async def create_api_key(self, key: ApiKey) -> None:
        await self._write("other", api_keys.create, key)

    async def get_api_key(self, key_id: str) -> ApiKey:
        return await self._read(api_keys.get, key_id)

    async def list_api_keys(self, owner: str | None, before: str | None, limit: int) -> Sequence[ApiKey]:
        return await self._read(api_keys.list_page, owner, before, limit)

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        return await self._write("other", api_keys.revoke, key_id)

    async def touch_api_keys(self, key_ids: Sequence[str], quiet_ms: int) -> None:
        await self._write_one("other", api_keys.touch, key_ids, quiet_ms)

    # --- search

    async def put_documents(self, collection: str, documents: Sequence[Document]) -> None:
        await self._write("other", search.put, collection, documents)

    async def get_documents(self, ids: Sequence[str]) -> Sequence[tuple[str, Document]]:
        return await self._read(search.get, ids) if ids else []

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        words = search.words_of(query)
        return await self._read(search.search, collection, self._match(words), limit) if words else []


def _is_simple(part: Part) -> bool:
    """Plain writing, and plain ends: not of a run in a mailbox, whose end lets another have its turn."""
    ends = isinstance(part.move, Finish) and not part.lane_key.startswith(MAILBOX)
    return (part.move is None or ends) and part.expected_seq is None and not part.approvals and part.ledger is None


async def _run(tx: Tx, name: str, *params: Any) -> None:
    await tx.rows(getattr(tx.q, name), *params)
