"""The log: parts of several runs, each judged before it is written; and the publication cursors."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.events import Event
from runyard.domain.runs.append import Appended, Finish, Outcome, Park, Part, Release, judge
from runyard.domain.runs.publication import Backlog, CursorAdvance
from runyard.domain.runs.run import Run, Status
from runyard.store import Head
from runyard.stores.memory.runs.transitions import Transitions


class Log(Transitions):
    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        return [self._append(part) for part in parts]

    def _append(self, part: Part) -> Outcome:
        run = self._runs.get(part.run_id)
        outcome = judge(part, run, answered=isinstance(part.move, Park) and self._any_answered(part.move))
        if run is None or not isinstance(outcome, Appended):
            return outcome
        self._waits.update({wait.id: wait for wait in part.waits})
        if part.ledger is not None:
            self._ledgers.add(part.ledger)
        attempts = 0 if part.makes_progress else run.attempts
        asked = run.asked + len(part.waits)
        for message_id in part.takes:
            self._steered[message_id] = self._steered[message_id]._replace(state="taken")
        unread = run.unread - len(part.takes)
        run = self._write(run, part.drafts, last_batch=part.batch, attempts=attempts, asked=asked, unread=unread)
        match part.move:
            case Finish() as move:
                self._finish(run, move)
            case Park() as move:
                self._park(run, move)
            case Release() as move:
                self._release(run, move)
            case None:
                return outcome
        return replace(outcome, lane_ready=self._lanes[run.lane_key].has_work)

    def _any_answered(self, move: Park) -> bool:
        known = [self._waits[wait_id] for wait_id in move.waits if wait_id in self._waits]
        return any(wait.state != "pending" for wait in known)

    def _finish(self, run: Run, move: Finish) -> None:
        if move.answer is not None:
            self._messages[move.answer.id] = move.answer
        self._end(run, move)

    def _park(self, run: Run, move: Park) -> None:
        at_rest = {"worker_id": None, "detach_deadline": None}
        first = move.first_token_ms or run.first_token_ms
        self._change(run, status=Status.WAITING, fence=run.fence + 1, attempts=0, first_token_ms=first, **at_rest)
        if not move.hold:
            self._lanes[run.lane_key].free(run, self._now())
        self._release_next(run)

    def _release(self, run: Run, move: Release) -> None:
        self._requeue(run, "drain", move.delay_ms, attempts=max(0, run.attempts - 1))

    async def maintain(self) -> None:
        pass

    async def read(self, run_id: str, after: int, limit: int) -> Sequence[Event]:
        return [event for event in self._events.get(run_id, ()) if event.seq > after][:limit]

    async def read_logs(self, run_ids: Sequence[str], upto: int) -> Mapping[str, Sequence[Event]]:
        logs = {run_id: self._events.get(run_id, [])[:upto] for run_id in run_ids}
        return {run_id: events for run_id, events in logs.items() if events}

    async def heads(self, run_ids: Sequence[str]) -> Mapping[str, Head]:
        return {run_id: self._head(self._runs[run_id]) for run_id in run_ids if run_id in self._runs}

    def _head(self, run: Run) -> Head:
        detached = run.detach_deadline is not None
        return Head(run.last_seq, run.status.is_terminal, self._outbox.published(run.id), detached)

    async def unpublished(self, quiet_ms: int, limit: int) -> Sequence[Backlog]:
        return self._outbox.backlog(self._runs, quiet_ms)[:limit]

    async def publish(self, marks: Sequence[CursorAdvance]) -> Sequence[str]:
        for mark in marks:
            self._outbox.advance(mark)
            run = self._runs.get(mark.run_id)
            if run is not None and mark.state is not None and run.state == "started":
                self._change(run, state=mark.state)
        return []
