"""A store that seals content (`cipher.py`) before the store below keeps it, and opens it for callers.

It stands around a store and changes nothing but content on its way in and out: the data of events, what was said,
inputs of approvals, the error of a run, checkpoints. Ids, names, times, counts and codes stay as they are, because the
store looks for them. Without a key there is no such store, and nothing of it costs anything.

A claim whose message cannot be opened says so (`Claim.problem`), so that one bad row stops one run and no others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from runyard.domain.append import GIVEN_UP, Finish, Outcome, Part
from runyard.domain.approval import Approval
from runyard.domain.events import Draft, Event
from runyard.domain.ledger import Ledger, Line
from runyard.domain.run import Fate, Run
from runyard.domain.thread import Message, Thread
from runyard.encryption.cipher import KeyRing
from runyard.errors import RunyardError, Unreadable
from runyard.store import (
    NO_VERSIONS,
    Accepted,
    Beat,
    Claim,
    Ending,
    Excerpt,
    IdempotencyKey,
    Post,
    Reaped,
    Room,
    RunFilter,
    Snapshot,
    Store,
)

DATA, TEXT, SOURCES = "run_events.data", "messages.text", "messages.sources"
LINE, LINE_INPUT = "run_messages.content", "run_messages.tool_input"
INPUT, ERROR, COPY = "approvals.input", "runs.error", "checkpoints.data"
STATE = "run_snapshots.data"
_json = msgspec.json.Encoder().encode
_value = msgspec.json.decode


class SealedStore:
    def __init__(self, store: Store, ring: KeyRing) -> None:
        self._store = store
        self._ring = ring
        self.open, self.close, self.ping, self.tend = store.open, store.close, store.ping, store.tend
        self.overview, self.count_queued = store.overview, store.count_queued
        self.sweep, self.drop_logs, self.get_tombstone = store.sweep, store.drop_logs, store.get_tombstone
        self.check_room = store.check_room
        self.removals, self.forget_removals = store.removals, store.forget_removals
        self.create_thread, self.list_threads = store.create_thread, store.list_threads
        self.get_thread, self.get_named_thread = store.get_thread, store.get_named_thread
        self.delete_thread, self.forget_keys = store.delete_thread, store.forget_keys
        self.take_call, self.forget_calls = store.take_call, store.forget_calls
        self.register, self.retire, self.list_workers = store.register, store.retire, store.list_workers
        self.unstick = store.unstick
        self.cancels, self.detach, self.attach = store.cancels, store.detach, store.attach
        self.heads, self.unpublished, self.publish = store.heads, store.unpublished, store.publish
        self.create_api_key, self.get_api_key, self.touch_api_keys = (
            store.create_api_key, store.get_api_key, store.touch_api_keys,
        )  # fmt: skip
        self.list_api_keys, self.revoke_api_key = store.list_api_keys, store.revoke_api_key
        self.get_documents = store.get_documents
        self.put_documents, self.search = store.put_documents, store.search  # what an app ships in its own source

    # --- threads and messages

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        return [self._opened_message(said) for said in await self._store.list_messages(thread_id)]

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        found = await self._store.get_messages(message_ids)
        return {key: self._opened_message(said) for key, said in found.items()}

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        return [self._opened_message(said) for said in await self._store.history(run_id, limit)]

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, excerpt: Excerpt | None = None
    ) -> Thread:
        if excerpt is not None:
            said, drafts = excerpt.message, self._sealed_drafts(excerpt.run.id, excerpt.drafts)
            excerpt = Excerpt(excerpt.run, None if said is None else self._sealed_message(said), drafts)
        return await self._store.fork_thread(thread, run_id, key, excerpt)

    def _sealed_message(self, said: Message) -> Message:
        seal, sources = self._ring.seal_text, said.sources
        if sources:
            sources = [seal(_json(sources).decode(), said.id, SOURCES)]
        return replace(said, text=seal(said.text, said.id, TEXT), sources=sources)

    def _opened_message(self, kept: Message) -> Message:
        return replace(
            kept,
            text=self._ring.open_text(kept.text, kept.id, TEXT),
            sources=opened_sources(self._ring, kept.id, kept.sources),
        )

    # --- intake

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        results = await self._store.accept([self._sealed_post(post) for post in posts], room)
        return [one if isinstance(one, RunyardError) else self._accepted(one) for one in results]

    async def retry(self, owner: str, post: Post, run_id: str) -> Accepted:
        return self._accepted(await self._store.retry(owner, self._sealed_post(post), run_id))

    async def edit(self, owner: str, post: Post, run_id: str) -> Accepted:
        return self._accepted(await self._store.edit(owner, self._sealed_post(post), run_id))

    def _sealed_post(self, post: Post) -> Post:
        return replace(
            post,
            message=None if post.message is None else self._sealed_message(post.message),
            queued=lambda agent: self._sealed_draft(post.run_id, post.queued(agent)),
        )

    def _accepted(self, accepted: Accepted) -> Accepted:
        event, claim = accepted.event, accepted.claim
        return replace(
            accepted,
            event=None if event is None else self._opened_event(event),
            claim=None if claim is None else self._opened_claim(claim),
        )

    # --- workers and claims

    async def heartbeat(self, worker_id: str, ttl_ms: int) -> Beat:
        beat = await self._store.heartbeat(worker_id, ttl_ms)
        return replace(beat, holds=[self._opened_run(run) for run in beat.holds])

    async def claim(
        self, worker_id: str, limit: int, suspects: bool, versions: Mapping[str, str] = NO_VERSIONS
    ) -> Sequence[Claim]:
        return [self._opened_claim(one) for one in await self._store.claim(worker_id, limit, suspects, versions)]

    def _opened_claim(self, claim: Claim) -> Claim:
        if claim.message is None:
            return claim
        try:
            return replace(claim, message=self._opened_message(claim.message))
        except Unreadable as error:
            return Claim(claim.run, None, error)

    async def reap(self, limit: int, max_attempts: int, ending: Ending) -> Sequence[Reaped]:
        return await self._store.reap(limit, max_attempts, self._sealed_ending(ending))

    async def abandon(self, limit: int, grace_ms: int, ending: Ending) -> Sequence[Run]:
        stopped = await self._store.abandon(limit, grace_ms, self._sealed_ending(ending))
        return [self._opened_run(run) for run in stopped]

    def _sealed_ending(self, ending: Ending) -> Ending:
        def sealed(run: Run, fate: Fate) -> Sequence[Draft]:
            return self._sealed_drafts(run.id, ending(self._opened_run(run), fate))

        return sealed

    # --- the log

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        return await self._store.append([self._sealed_part(part) for part in parts])

    def _sealed_part(self, part: Part) -> Part:
        run_id, move = part.run_id, part.move
        if isinstance(move, Finish):
            move = replace(
                move,
                error=None if move.error is None else self._ring.seal_text(move.error, run_id, ERROR),
                answer=None if move.answer is None else self._sealed_message(move.answer),
            )
        return replace(
            part,
            drafts=self._sealed_drafts(run_id, part.drafts),
            approvals=[self._sealed_approval(asked) for asked in part.approvals],
            ledger=None if part.ledger is None else self._sealed_ledger(part.ledger),
            move=move,
        )

    def _sealed_ledger(self, ledger: Ledger) -> Ledger:
        def sealed(text: str, line: Line, place: str) -> str:
            return self._ring.seal_text(text, line.run_id, f"{place} {line.id}")

        def sealed_line(line: Line) -> Line:
            given = None if line.input is None else sealed(line.input, line, LINE_INPUT)
            return replace(line, content=sealed(line.content, line, LINE), input=given)

        return Ledger(ledger.steps, [sealed_line(line) for line in ledger.lines])

    def _sealed_draft(self, run_id: str, draft: Draft) -> Draft:
        return self._sealed_drafts(run_id, [draft])[0]

    def _sealed_drafts(self, run_id: str, drafts: Sequence[Draft]) -> list[Draft]:
        sealed = self._ring.seal_all([(d.data, f"{DATA} {d.id}") for d in drafts], run_id)
        return [Draft(d.id, d.ts, d.type, data, d.name, d.fn, d.source) for d, data in zip(drafts, sealed, strict=True)]

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        return [self._opened_event(event) for event in await self._store.read(run_id, after, limit)]

    def _opened_event(self, e: Event) -> Event:
        data = self._ring.open(e.data, e.run_id, f"{DATA} {e.id}")
        return Event(e.run_id, e.seq, e.id, e.ts, e.type, data, e.name, e.fn, e.source, e.v)

    # --- runs

    async def get_run(self, owner: str, run_id: str) -> Run:
        return self._opened_run(await self._store.get_run(owner, run_id))

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        return self._opened_run(await self._store.get_named_run(owner, external_id))

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        return [self._opened_run(run) for run in await self._store.list_runs(owner, where, before, limit)]

    async def cancel(self, owner: str, run_id: str, grace_ms: int, ending: Ending) -> Run:
        return self._opened_run(await self._store.cancel(owner, run_id, grace_ms, self._sealed_ending(ending)))

    async def unsaved(self, limit: int) -> Sequence[Run]:
        return [self._opened_run(run) for run in await self._store.unsaved(limit)]

    def _opened_run(self, run: Run) -> Run:
        if run.error is None or run.error == GIVEN_UP:
            return run  # the store itself writes the one sentence for a run that was given up
        return replace(run, error=self._ring.open_text(run.error, run.id, ERROR))

    # --- approvals

    async def get_approval(self, owner: str, approval_id: str) -> Approval:
        return self._opened_approval(await self._store.get_approval(owner, approval_id))

    async def list_approvals(
        self, owner: str, before: str | None, limit: int, run_id: str | None = None
    ) -> Sequence[Approval]:
        found = await self._store.list_approvals(owner, before, limit, run_id)
        return [self._opened_approval(approval) for approval in found]

    async def decide(
        self, owner: str, approval_id: str, state: Literal["approved", "rejected"], by: str, event: Draft
    ) -> Approval:
        run_id = (await self._store.get_approval(owner, approval_id)).run_id
        sealed = self._sealed_draft(run_id, event)
        return self._opened_approval(await self._store.decide(owner, approval_id, state, by, sealed))

    async def expire(self, limit: int, event: Callable[[Approval], Draft]) -> Sequence[Approval]:
        def sealed(approval: Approval) -> Draft:
            return self._sealed_draft(approval.run_id, event(self._opened_approval(approval)))

        return [self._opened_approval(approval) for approval in await self._store.expire(limit, sealed)]

    def _sealed_approval(self, asked: Approval) -> Approval:
        return replace(asked, input=self._ring.seal_text(_json(asked.input).decode(), asked.id, INPUT))

    def _opened_approval(self, kept: Approval) -> Approval:
        return replace(kept, input=opened_input(self._ring, kept.id, kept.input))

    # --- checkpoints

    async def save_checkpoint(self, run: Run, data: bytes | None) -> bool:
        return await self._store.save_checkpoint(run, None if data is None else self._ring.seal(data, run.id, COPY))

    async def checkpoints(self, thread_id: str, run_id: str | None = None) -> Mapping[str, bytes]:
        kept = await self._store.checkpoints(thread_id, run_id)
        return {key: self._ring.open(data, key, COPY) for key, data in kept.items()}

    # --- snapshots

    async def save_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> None:
        sealed = self._ring.seal(snapshot.data, run_id, f"{STATE} {kind} {snapshot.seq}")
        await self._store.save_snapshot(run_id, kind, Snapshot(snapshot.seq, sealed))

    async def snapshot(self, run_id: str, kind: str, upto: int) -> Snapshot | None:
        """A state that does not open is none: the log is the truth."""
        kept = await self._store.snapshot(run_id, kind, upto)
        if kept is None:
            return None
        try:
            return Snapshot(kept.seq, self._ring.open(kept.data, run_id, f"{STATE} {kind} {kept.seq}"))
        except Unreadable:
            return None


def opened_sources(ring: KeyRing, message_id: str, kept: list[str]) -> list[str]:
    """Open the sources of a message. Sealed they are one text, which holds all of them; none are stored as they are."""
    if len(kept) > 1:
        ring.refuse_plain()
    if len(kept) != 1:
        return kept
    plain = ring.open_text(kept[0], message_id, SOURCES)
    return kept if plain is kept[0] else msgspec.json.decode(plain, type=list[str])


def opened_input(ring: KeyRing, approval_id: str, kept: object) -> object:
    """Open the input of an approval. Sealed it is a text, which holds the JSON of it."""
    if not isinstance(kept, str):
        ring.refuse_plain()
        return kept
    plain = ring.open_text(kept, approval_id, INPUT)
    return kept if plain is kept else _value(plain)
