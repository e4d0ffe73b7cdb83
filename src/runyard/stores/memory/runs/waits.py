"""Waits and their answers, and the events that machines deliver."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from runyard.domain.events import PROGRESS, Draft
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import FROM_CLIENTS, KeptEvent, Wait, WaitStatus, child_target
from runyard.errors import AlreadyDecided, NotFound, RunEnded
from runyard.stores.memory.runs.transitions import Transitions


class Waits(Transitions):
    async def get_wait(self, owner: str | None, wait_id: str) -> Wait:
        wait = self._waits.get(wait_id)
        if wait is None or owner not in (None, self._runs[wait.run_id].owner):
            raise NotFound
        return wait

    async def list_waits(self, owner: str, before: str | None, limit: int, run_id: str | None = None) -> Sequence[Wait]:
        pending = [
            wait
            for wait in self._pending()
            if wait.kind in FROM_CLIENTS
            and run_id in (None, wait.run_id)
            and self._runs[wait.run_id].owner == owner
            and (before is None or (before in self._waits and _age(wait) < _age(self._waits[before])))
        ]
        return sorted(pending, key=_age, reverse=True)[:limit]

    async def answer(
        self,
        owner: str | None,
        wait_id: str,
        state: WaitStatus,
        by: str,
        event: Draft,
        taken: KeptEvent | None = None,
    ) -> Wait:
        wait = await self.get_wait(owner, wait_id)
        if wait.state != "pending":
            raise RunEnded if wait.state == "void" else AlreadyDecided
        if taken is not None:
            self._kept_events[taken.owner, taken.id] = (taken, True)
        return self._answer(wait, state, by, event, self._now())

    async def expire(
        self, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> tuple[Sequence[Wait], int | None]:
        dated = sorted((wait for wait in self._pending() if wait.expires_at is not None), key=_expiry)
        late = [wait for wait in dated if _expiry(wait)[0] <= self._now()][:limit]
        if not late:
            return [], _expiry(dated[0])[0] - self._now() if dated else None
        expired = []
        for wait in late:
            state, draft = event(wait)
            expired.append(self._answer(wait, state, None, draft, _expiry(wait)[0]))
        return expired, 0

    def _answer(self, wait: Wait, state: WaitStatus, by: str | None, event: Draft, ready_at: int) -> Wait:
        answered = replace(wait, state=state, answered_by=by, answered_at=self._now())
        self._waits[wait.id] = answered
        run = self._runs[wait.run_id]
        self._outbox.reopen(run.id)
        run = self._write(run, [event], attempts=0 if event.type in PROGRESS else run.attempts)
        if run.status is Status.WAITING:
            self._requeue(run, "decision", ready_at - self._now())
        return answered

    def _pending(self) -> list[Wait]:
        return [wait for wait in self._waits.values() if wait.state == "pending"]

    # --- children

    async def ended_children(self, limit: int, child: str | None = None) -> Sequence[tuple[str, Run]]:
        waiting = {wait.target: wait for wait in sorted(self._pending(), key=_age) if wait.kind == "child"}
        ended = {
            child_target(run.id): run
            for run in self._runs.values()
            if run.status.is_terminal and child in (None, run.id)
        }
        return [(wait.id, ended[target]) for target, wait in waiting.items() if target in ended][:limit]

    async def orphaned_children(self, limit: int, parent: str | None = None) -> Sequence[Run]:
        alive = [run for run in self._runs.values() if not run.status.is_terminal and run.cancel_requested_at is None]
        ended = {run.id for run in self._runs.values() if run.status.is_terminal and parent in (None, run.id)}
        return sorted((run for run in alive if run.parent_run_id in ended), key=lambda run: run.id)[:limit]

    # --- events of machines

    async def keep_event(self, event: KeptEvent, keep_ms: int) -> bool:
        if (event.owner, event.id) in self._kept_events:
            return False
        now = self._now()
        self._kept_events[event.owner, event.id] = (replace(event, created_at=now, expires_at=now + keep_ms), False)
        return True

    async def matched_events(self, limit: int, target: str | None = None) -> Sequence[tuple[Wait, KeptEvent]]:
        oldest: dict[str, KeptEvent] = {}
        for event, is_taken in self._kept_events.values():
            if not is_taken and event.expires_at > self._now():
                known = oldest.setdefault(event.target, event)
                if (event.created_at, event.id) < (known.created_at, known.id):
                    oldest[event.target] = event
        waiting = [wait for wait in sorted(self._pending(), key=_age) if wait.kind == "event"]
        waiting = [wait for wait in waiting if target in (None, wait.target)]
        return [(wait, oldest[wait.target]) for wait in waiting if wait.target in oldest][:limit]

    async def forget_events(self) -> None:
        for key in [key for key, (event, _) in self._kept_events.items() if event.expires_at <= self._now()]:
            del self._kept_events[key]


def _age(wait: Wait) -> tuple[int, str]:
    return wait.created_at, wait.id


def _expiry(wait: Wait) -> tuple[int, str]:
    return wait.expires_at or 0, wait.id
