"""Seal and open the content of domain values. Ids, names, times, counts and codes stay plain, because the database
searches them."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from runyard.domain.content.file import StoredFile
from runyard.domain.content.memory import Block, Passage
from runyard.domain.conversations.feed import Entry
from runyard.domain.conversations.thread import Message
from runyard.domain.events import Draft, Event
from runyard.domain.push import Push
from runyard.domain.runs.append import GIVEN_UP, Finish, Part
from runyard.domain.runs.ledger import Ledger, LedgerMessage
from runyard.domain.runs.run import Fate, Feedback, Run
from runyard.domain.wait import KeptEvent, Wait, WaitStatus
from runyard.encryption.cipher import KeyRing
from runyard.encryption.columns import (
    BLOCK_CONTENT,
    CHECKPOINT_DATA,
    CHUNK_DATA,
    EVENT_DATA,
    FEEDBACK_COMMENT,
    FILE_NAME,
    KEPT_EVENT_DATA,
    LEDGER_CONTENT,
    LEDGER_INPUT,
    MESSAGE_PARTS,
    MESSAGE_SOURCES,
    MESSAGE_TEXT,
    PASSAGE_CONTENT,
    PASSAGE_TAGS,
    PUSH_DATA,
    RUN_ERROR,
    SNAPSHOT_DATA,
    THREAD_TITLE,
    WAIT_INPUT,
)
from runyard.errors import Unreadable
from runyard.store import Accepted, Claim, Ending, LogCopy, Post, Snapshot


class Seals:
    """Seal values on their way into the store, and open them on their way out."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring

    # --- events and runs

    def seal_drafts(self, run_id: str, drafts: Sequence[Draft]) -> list[Draft]:
        sealed = self._ring.seal_all([(d.data, f"{EVENT_DATA.name} {d.id}") for d in drafts], run_id)
        return [Draft(d.id, d.ts, d.type, data, d.name, d.fn, d.source) for d, data in zip(drafts, sealed, strict=True)]

    def seal_draft(self, run_id: str, draft: Draft) -> Draft:
        return self.seal_drafts(run_id, [draft])[0]

    def open_event(self, e: Event) -> Event:
        data = self._ring.open(e.data, e.run_id, f"{EVENT_DATA.name} {e.id}")
        return Event(e.run_id, e.seq, e.id, e.ts, e.type, data, e.name, e.fn, e.source, e.v)

    def open_run(self, run: Run) -> Run:
        if run.error is None or run.error == GIVEN_UP:
            return run  # the database itself writes this one sentence, unsealed
        return replace(run, error=RUN_ERROR.open(self._ring, run.error, run.id))

    def seal_ending(self, ending: Ending) -> Ending:
        def sealed(run: Run, fate: Fate) -> Sequence[Draft]:
            return self.seal_drafts(run.id, ending(self.open_run(run), fate))

        return sealed

    def seal_part(self, part: Part) -> Part:
        run_id, move = part.run_id, part.move
        if isinstance(move, Finish):
            move = replace(
                move,
                error=None if move.error is None else RUN_ERROR.seal(self._ring, move.error, run_id),
                answer=None if move.answer is None else self.seal_message(move.answer),
            )
        return replace(
            part,
            drafts=self.seal_drafts(run_id, part.drafts),
            waits=[self._seal_wait(wait) for wait in part.waits],
            ledger=None if part.ledger is None else self._seal_ledger(part.ledger),
            move=move,
        )

    # --- messages and posts

    def seal_message(self, message: Message) -> Message:
        return replace(
            message,
            text=MESSAGE_TEXT.seal(self._ring, message.text, message.id),
            sources=MESSAGE_SOURCES.seal(self._ring, message.sources, message.id),
            parts=None if message.parts is None else MESSAGE_PARTS.seal(self._ring, message.parts, message.id),
        )

    def seal_text(self, message_id: str, text: str) -> str:
        return MESSAGE_TEXT.seal(self._ring, text, message_id)

    def open_message(self, kept: Message) -> Message:
        return replace(
            kept,
            text=MESSAGE_TEXT.open(self._ring, kept.text, kept.id),
            sources=MESSAGE_SOURCES.open(self._ring, kept.sources, kept.id),
            parts=None if kept.parts is None else MESSAGE_PARTS.open(self._ring, kept.parts, kept.id),
        )

    def open_entry(self, entry: Entry) -> Entry:
        return entry if entry.message is None else replace(entry, message=self.open_message(entry.message))

    def seal_log_copy(self, log_copy: LogCopy) -> LogCopy:
        message = None if log_copy.message is None else self.seal_message(log_copy.message)
        return LogCopy(log_copy.run, message, self.seal_drafts(log_copy.run.id, log_copy.drafts))

    def seal_post(self, post: Post) -> Post:
        return replace(
            post,
            message=None if post.message is None else self.seal_message(post.message),
            queued=lambda agent: self.seal_draft(post.run_id, post.queued(agent)),
            push=None if post.push is None else self.seal_push(post.push),
        )

    def open_accepted(self, accepted: Accepted) -> Accepted:
        event, claim = accepted.event, accepted.claim
        return replace(
            accepted,
            event=None if event is None else self.open_event(event),
            interrupted=None if accepted.interrupted is None else self.open_run(accepted.interrupted),
            claim=None if claim is None else self.open_claim(claim),
        )

    def open_claim(self, claim: Claim) -> Claim:
        """Open the message of a claim. A message that does not open becomes the claim's `problem`, so that one bad row
        stops one run and no others."""
        if claim.message is None:
            return claim
        try:
            return replace(claim, message=self.open_message(claim.message))
        except Unreadable as error:
            return Claim(claim.run, None, error)

    # --- waits

    def _seal_wait(self, wait: Wait) -> Wait:
        return replace(wait, input=WAIT_INPUT.seal(self._ring, wait.input, wait.id))

    def open_wait(self, kept: Wait) -> Wait:
        return replace(kept, input=WAIT_INPUT.open(self._ring, kept.input, kept.id))

    def seal_expiry(
        self, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> Callable[[Wait], tuple[WaitStatus, Draft]]:
        def sealed(wait: Wait) -> tuple[WaitStatus, Draft]:
            state, draft = event(self.open_wait(wait))
            return state, self.seal_draft(wait.run_id, draft)

        return sealed

    def seal_kept_event(self, event: KeptEvent) -> KeptEvent:
        return replace(event, data=KEPT_EVENT_DATA.seal(self._ring, event.data, event.owner, event.id))

    def open_kept_event(self, kept: KeptEvent) -> KeptEvent:
        return replace(kept, data=KEPT_EVENT_DATA.open(self._ring, kept.data, kept.owner, kept.id))

    def seal_push(self, push: Push) -> Push:
        return replace(push, data=PUSH_DATA.seal(self._ring, push.data, push.run_id, push.id))

    def open_push(self, kept: Push) -> Push:
        return replace(kept, data=PUSH_DATA.open(self._ring, kept.data, kept.run_id, kept.id))

    def seal_feedback(self, feedback: Feedback) -> Feedback:
        comment = feedback.comment
        sealed = None if comment is None else FEEDBACK_COMMENT.seal(self._ring, comment, feedback.run_id)
        return replace(feedback, comment=sealed)

    def open_feedback(self, kept: Feedback) -> Feedback:
        comment = kept.comment
        opened = None if comment is None else FEEDBACK_COMMENT.open(self._ring, comment, kept.run_id)
        return replace(kept, comment=opened)

    # --- checkpoints

    def seal_checkpoint(self, run_id: str, data: bytes) -> bytes:
        return CHECKPOINT_DATA.seal(self._ring, data, run_id)

    def open_checkpoint(self, run_id: str, kept: bytes) -> bytes:
        return CHECKPOINT_DATA.open(self._ring, kept, run_id)

    # --- snapshots

    def seal_snapshot(self, run_id: str, kind: str, snapshot: Snapshot) -> Snapshot:
        sealed = SNAPSHOT_DATA.seal(self._ring, snapshot.data, run_id, f"{kind} {snapshot.seq}")
        return Snapshot(snapshot.seq, sealed)

    def open_snapshot(self, run_id: str, kind: str, kept: Snapshot) -> Snapshot | None:
        try:
            return Snapshot(kept.seq, SNAPSHOT_DATA.open(self._ring, kept.data, run_id, f"{kind} {kept.seq}"))
        except Unreadable:
            return None

    # --- the ledger

    def _seal_ledger(self, ledger: Ledger) -> Ledger:
        return Ledger(ledger.steps, [self._seal_ledger_message(message) for message in ledger.messages])

    def _seal_ledger_message(self, message: LedgerMessage) -> LedgerMessage:
        content = LEDGER_CONTENT.seal(self._ring, message.content, message.run_id, message.id)
        given = (
            None if message.input is None else LEDGER_INPUT.seal(self._ring, message.input, message.run_id, message.id)
        )
        return replace(message, content=content, input=given)

    def open_ledger(self, kept: Ledger) -> Ledger:
        return Ledger(kept.steps, [self._open_ledger_message(message) for message in kept.messages])

    def _open_ledger_message(self, kept: LedgerMessage) -> LedgerMessage:
        # tool calls of older versions have an empty content, unsealed
        content = LEDGER_CONTENT.open(self._ring, kept.content, kept.run_id, kept.id) if kept.content else ""
        given = None if kept.input is None else LEDGER_INPUT.open(self._ring, kept.input, kept.run_id, kept.id)
        return replace(kept, content=content, input=given)

    # --- files

    def seal_title(self, thread_id: str, title: str) -> str:
        return THREAD_TITLE.seal(self._ring, title, thread_id)

    def open_title(self, thread_id: str, kept: str) -> str:
        return THREAD_TITLE.open(self._ring, kept, thread_id)

    def seal_file(self, file: StoredFile) -> StoredFile:
        return replace(file, name=FILE_NAME.seal(self._ring, file.name, file.id))

    def open_file(self, kept: StoredFile) -> StoredFile:
        return replace(kept, name=FILE_NAME.open(self._ring, kept.name, kept.id))

    def digest(self, owner: str, digest: str) -> str:
        return self._ring.fingerprint(digest, owner)

    def seal_chunk(self, content_id: str, no: int, data: bytes) -> bytes:
        return CHUNK_DATA.seal(self._ring, data, content_id, str(no))

    def open_chunk(self, content_id: str, no: int, kept: bytes) -> bytes:
        return CHUNK_DATA.open(self._ring, kept, content_id, str(no))

    # --- memory

    def seal_block(self, block: Block) -> Block:
        return replace(block, content=BLOCK_CONTENT.seal(self._ring, block.content, block.agent, block.label))

    def open_block(self, kept: Block) -> Block:
        return replace(kept, content=BLOCK_CONTENT.open(self._ring, kept.content, kept.agent, kept.label))

    def seal_passage(self, passage: Passage) -> Passage:
        return replace(
            passage,
            content=PASSAGE_CONTENT.seal(self._ring, passage.content, passage.id),
            tags=PASSAGE_TAGS.seal(self._ring, list(passage.tags), passage.id),
        )

    def open_passage(self, kept: Passage) -> Passage:
        return replace(
            kept,
            content=PASSAGE_CONTENT.open(self._ring, kept.content, kept.id),
            tags=PASSAGE_TAGS.open(self._ring, list(kept.tags), kept.id),
        )
