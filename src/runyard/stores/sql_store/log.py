"""The log: append, read, publish, snapshots, and pushes to clients.

A database adds `_append_fast`, the hot path of the log, for parts that have no move or only end their run.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from runyard.domain.push import Push
from runyard.domain.runs.append import Appended, Finish, Outcome, Part
from runyard.domain.runs.publication import CursorAdvance
from runyard.domain.runs.run import MAILBOX
from runyard.stores.operations import Transactions, query, statement, transaction
from runyard.stores.transactions.log import log, outbox, pushes, snapshots


class WrittenPart(NamedTuple):
    """A part that the hot path wrote after the seq `base`."""

    base: int
    cancel_requested: bool
    lane_ready: bool
    unread: int


class LogOperations(Transactions):
    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        raise NotImplementedError

    async def _append_fast(self, parts: Sequence[Part]) -> Mapping[int, WrittenPart]:
        """Write parts that have no move or a Finish. Parts that are missing from the result were not written."""
        raise NotImplementedError

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        """Try the hot path first. Parts that it does not write are judged one by one and refused with a reason."""
        outcomes: dict[int, Outcome] = {}
        simple = sorted((n for n, part in enumerate(parts) if _is_simple(part)), key=lambda n: parts[n].run_id)
        if simple:
            for n, written in (await self._append_fast([parts[n] for n in simple])).items():
                last = written.base + len(parts[simple[n]].drafts)
                outcomes[simple[n]] = Appended(
                    written.base + 1, last, written.cancel_requested, written.lane_ready, written.unread
                )
        left = [n for n in range(len(parts)) if n not in outcomes]
        if left:
            judged = await self._write("log", log.append, [parts[n] for n in left])
            outcomes |= dict(zip(left, judged, strict=True))
        return [outcomes[n] for n in range(len(parts))]

    read = query(log.read)
    read_logs = query(log.read_logs)
    heads = query(log.heads)
    unpublished = query(outbox.unpublished)

    # --- snapshots

    save_snapshot = statement("other", snapshots.save)
    snapshot = query(snapshots.newest)

    # --- pushes

    put_push = transaction("other", pushes.put)
    list_pushes = query(pushes.list_all)
    drop_push = statement("other", pushes.drop)

    async def claim_pushes(
        self, limit: int, lease_ms: int, run_ids: Sequence[str] | None = None
    ) -> tuple[Sequence[Push], bool]:
        is_live, is_due = await self._read(pushes.due, run_ids)
        return (await self._write("other", pushes.claim, limit, lease_ms, run_ids) if is_due else []), is_live

    settle_push = statement("other", pushes.settle_push)


def _is_simple(part: Part) -> bool:
    """Return whether the hot path can write a part: no move, or the end of a run outside mailboxes. The end of a
    mailbox run releases the run behind it."""
    ends = isinstance(part.move, Finish) and not part.lane_key.startswith(MAILBOX)
    return (part.move is None or ends) and part.expected_seq is None and not (part.waits or part.takes or part.ledger)
