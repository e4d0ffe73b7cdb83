"""Append parts of several runs in one commit, each judged under its run's lock; and read logs."""

from collections.abc import Mapping, Sequence

from runyard.domain.events import Event
from runyard.domain.runs.append import Appended, Busy, Finish, Move, Outcome, Park, Part, Release, judge
from runyard.domain.runs.lane import Lane, extended, finished, parked, replace, requeued
from runyard.domain.runs.run import Run, Status
from runyard.store import Head
from runyard.stores import rows as _rows
from runyard.stores.transactions.queue import left_messages
from runyard.stores.transactions.runs import ledger, reply_order
from runyard.stores.transactions.tx import Tx


async def append(tx: Tx, parts: Sequence[Part]) -> list[Outcome]:
    lanes = await _lock_lanes(tx, parts)
    outcomes: list[Outcome] = [Busy() for _ in parts]
    alone = len(parts) == 1  # it has waited for its lane, so a missing lane is deleted
    free = [n for n, part in enumerate(parts) if alone or part.move is None or part.lane_key in lanes]
    rows = await tx.rows(tx.q.lock_runs, sorted(parts[n].run_id for n in free)) if free else []
    locked = {str(row["id"]): (_rows.run(row), int(row["now"])) for row in rows}
    changes = _Changes(lanes)
    for n in free:
        part = parts[n]
        run, now = locked.get(part.run_id, (None, 0))
        run = changes.runs.get(part.run_id, run)  # a group may hold two parts of one run
        outcome = outcomes[n] = judge(part, run, await _is_answered(tx, part.move))
        if run is not None and isinstance(outcome, Appended):
            outcomes[n] = changes.take(part, run, outcome, now)
    await changes.write(tx)
    return outcomes


async def _lock_lanes(tx: Tx, parts: Sequence[Part]) -> dict[str, Lane]:
    """Lock the lanes of parts with a move. A group does not wait: parts with a locked lane come with the next group."""
    keys = sorted({part.lane_key for part in parts if part.move is not None})
    if not keys:
        return {}
    lock = tx.q.lock_lanes if len(parts) == 1 else tx.q.lock_free_lanes
    return {row["key"]: _rows.lane(row) for row in await tx.rows(lock, keys)}


async def _is_answered(tx: Tx, move: Move | None) -> bool:
    if not isinstance(move, Park):
        return False
    [row] = await tx.rows(tx.q.count_answered, list(move.waits))
    return bool(row["n"])


class _Changes:
    """The writes of a group, collected part by part. `runs` has each run after the parts so far."""

    def __init__(self, lanes: dict[str, Lane]) -> None:
        self._lanes = lanes
        self._moved: dict[str, Lane] = {}
        self.runs: dict[str, Run] = {}
        self._parts: list[tuple[Part, Appended]] = []
        self._ended: list[str] = []
        self._done: list[Run] = []
        self._left: list[Run] = []
        self._unread: list[Run] = []

    def take(self, part: Part, run: Run, outcome: Appended, now: int) -> Appended:
        asked, taken = len(part.waits), len(part.takes)
        run = extended(run, len(part.drafts), part.batch, part.makes_progress, asked, taken)
        unread = run.unread
        lane = self._lanes.get(part.lane_key)
        if lane is not None and part.move is not None:
            match part.move:
                case Finish() as finish:
                    if run.asked:
                        self._ended.append(run.id)
                    run, lane = finished(run, finish, now), lane.left(run.id, now)
                    if unread:
                        self._unread.append(run)
                    self._done.append(run)
                    self._left.append(run)
                case Park(hold=hold, first_token_ms=first):
                    run, lane = parked(run, first), lane if hold else lane.left(run.id, now)
                    self._left.append(run)
                case Release(delay_ms=delay):
                    run = requeued(run, "drain")
                    lane = lane.returned(run, now + delay)
            self._lanes[lane.key] = self._moved[lane.key] = lane
        self.runs[run.id] = run
        self._parts.append((part, outcome))
        has_left = unread > 0 and run.status.is_terminal
        return replace(outcome, lane_ready=lane is not None and (lane.is_ready or has_left))

    async def write(self, tx: Tx) -> None:
        events = [
            row
            for part, at in self._parts
            for row in _rows.event_values(part.run_id, part.fence, at.first_seq, part.drafts)
        ]
        waits = [_rows.wait_values(asked) for part, _ in self._parts for asked in part.waits]
        answers = [
            _rows.message_values(part.move.answer)
            for part, _ in self._parts
            if isinstance(part.move, Finish) and part.move.answer is not None
        ]
        steps, lines = ledger.values([part.ledger for part, _ in self._parts if part.ledger is not None])
        await tx.together(
            (tx.q.write_events, events),
            (tx.q.insert_waits, waits),
            (tx.q.save_runs, [_rows.run_values(run) for run in self.runs.values()]),
            (tx.q.save_lanes, [_rows.lane_values(lane) for lane in self._moved.values()]),
            (tx.q.insert_messages, answers),
            (tx.q.save_steps, steps),
            (tx.q.insert_ledger_messages, lines),
        )
        if taken := [message_id for part, _ in self._parts for message_id in part.takes]:
            await tx.rows(tx.q.take_messages, taken)
        await left_messages.start_runs(tx, self._unread)
        if self._ended:
            await tx.rows(tx.q.void_waits, self._ended)
        failed = {run.id for run in self._done if run.status is Status.ERROR}
        await reply_order.release_next(tx, self._left, self._done, failed)


async def read(tx: Tx, run_id: str, after: int, limit: int) -> Sequence[Event]:
    return [_rows.event(run_id, row) for row in await tx.rows(tx.q.read_events, run_id, after, limit)]


async def read_logs(tx: Tx, run_ids: Sequence[str], upto: int) -> Mapping[str, Sequence[Event]]:
    logs: dict[str, list[Event]] = {}
    for row in await tx.rows(tx.q.read_logs, list(run_ids), upto):
        run_id = str(row["run_id"])
        logs.setdefault(run_id, []).append(_rows.event(run_id, row))
    return logs


async def heads(tx: Tx, run_ids: Sequence[str]) -> Mapping[str, Head]:
    rows = await tx.rows(tx.q.heads, list(run_ids))
    return {str(row["id"]): _head(row) for row in rows}


def _head(row: _rows.Row) -> Head:
    return Head(row["last_seq"], bool(row["finished"]), row["published"], bool(row["detached"]))
