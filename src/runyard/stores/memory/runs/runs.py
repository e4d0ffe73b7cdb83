"""Look up runs and ledgers, delete runs, and keep the feedback on them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from runyard.domain.conversations.thread import Message
from runyard.domain.events import Usage
from runyard.domain.runs.ledger import Day, FirstTokens, Ledger, QueueState, RunGroup
from runyard.domain.runs.run import Feedback, Run, Status
from runyard.errors import NotFound
from runyard.store import RunFilter
from runyard.stores.memory.rows import Rows, page


class Runs(Rows):
    async def get_run(self, owner: str, run_id: str) -> Run:
        run = self._runs.get(run_id)
        if run is None or run.owner != owner:
            raise NotFound
        return run

    async def get_named_run(self, owner: str, external_id: str) -> Run:
        run = self._named(owner, external_id)
        if run is None:
            raise NotFound
        return run

    def _named(self, owner: str, external_id: str) -> Run | None:
        mine = (run for run in self._runs.values() if run.owner == owner)
        return next((run for run in mine if run.external_id == external_id), None)

    async def get_runs(self, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
        found = {each: self._runs[each] for each in run_ids if each in self._runs}
        return {each: run for each, run in found.items() if run.owner == owner}

    async def ancestors(self, run_id: str, limit: int) -> Sequence[Run]:
        found: list[Run] = []
        run = self._runs.get(run_id)
        while run is not None and (run := self._runs.get(run.parent_id or "")) is not None and len(found) < limit:
            found.append(run)
        return found

    async def list_runs(self, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
        fitting = (run for run in self._runs.values() if all(getattr(run, name) == where[name] for name in where))
        return page((run for run in fitting if run.owner == owner), before, limit)

    async def open_runs(self, owner: str, thread_id: str) -> Sequence[Run]:
        found = [run for run in self._runs.values() if run.thread_id == thread_id and run.owner == owner]
        return sorted((run for run in found if not run.status.is_terminal), key=lambda run: run.id)

    async def list_ended_runs(
        self, owner: str, where: RunFilter, before: tuple[int, str] | None, limit: int
    ) -> Sequence[Run]:
        fitting = [run for run in self._runs.values() if all(getattr(run, name) == where[name] for name in where)]
        ended = [
            (run.finished_at, run.id, run) for run in fitting if run.owner == owner and run.finished_at is not None
        ]
        older = [each for each in ended if before is None or each[:2] < before]
        return [run for *_, run in sorted(older, key=lambda each: each[:2], reverse=True)[:limit]]

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        return page(self._mailbox(owner, agent), before, limit)

    async def holding_runs(self, run_ids: Sequence[str]) -> frozenset[str]:
        runs = [self._runs[run_id] for run_id in run_ids if run_id in self._runs]
        return frozenset(run.id for run in runs if self._lanes[run.lane_key].active_run == run.id)

    async def read_ledger(self, run_id: str) -> Ledger:
        return self._ledgers.of(run_id)

    async def usage_by_day(self, owner: str, agent: str, limit: int) -> Sequence[Day]:
        return self._ledgers.by_day([run.id for run in self._mailbox(owner, agent)])[:limit]

    async def run_groups(
        self, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
    ) -> Sequence[RunGroup]:
        groups: dict[Any, RunGroup] = {}
        for run in self._runs.values():
            if run.id < since or owner not in (None, run.owner) or agent not in (None, run.agent):
                continue
            one = _group_of(run, durations)
            alike = (one.day, one.agent, one.status, one.error_code, one.waited, one.took)
            known = groups.get(alike)
            groups[alike] = one if known is None else replace(known, runs=known.runs + 1, usage=known.usage + one.usage)
        return sorted(groups.values(), key=lambda group: (group.day, group.agent))

    async def first_tokens(
        self, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
    ) -> Sequence[FirstTokens]:
        counts: Counter[tuple[int, str, int]] = Counter()
        for run in self._runs.values():
            if run.first_token_ms is None or run.id < since or owner not in (None, run.owner):
                continue
            if agent in (None, run.agent):
                place = bisect_right(durations, run.first_token_ms)
                counts[run.created_at // 86_400_000, run.agent, place] += 1
        return [FirstTokens(day=day, agent=of, place=at, runs=n) for (day, of, at), n in sorted(counts.items())]

    async def queue_state(self, owner: str | None, agent: str | None, limit: int) -> QueueState:
        queued = [run for run in self._runs.values() if run.status is Status.QUEUED and run.started_at is None]
        mine = [run for run in queued if owner in (None, run.owner) and agent in (None, run.agent)][:limit]
        oldest = min((run.created_at for run in mine), default=None)
        return QueueState(len(mine), None if oldest is None else max(0, self._now() - oldest))

    async def put_feedback(self, feedback: Feedback) -> Feedback:
        if feedback.run_id not in self._runs:
            raise NotFound
        made = self._feedback[feedback.run_id] = replace(feedback, created_at=self._now())
        return made

    async def drop_feedback(self, run_id: str) -> None:
        self._feedback.pop(run_id, None)

    async def read_feedback(self, run_ids: Sequence[str]) -> Mapping[str, Feedback]:
        return {each: self._feedback[each] for each in run_ids if each in self._feedback}

    def _mailbox(self, owner: str, agent: str) -> list[Run]:
        return [run for run in self._runs.values() if (run.owner, run.agent, run.face) == (owner, agent, "channels")]

    def _trigger(self, run: Run) -> Message | None:
        return self._messages.get(run.trigger_message_id) if run.trigger_message_id is not None else None

    def _held_runs(self) -> list[Run]:
        return [run for run in self._runs.values() if run.held and run.status is Status.QUEUED]

    def _is_waited_for(self, run: Run) -> bool:
        return any(each.after_run == run.id for each in self._held_runs())

    def _drop(self, run: Run) -> None:
        """Delete a run with everything that refers to its id."""
        for wait in [wait for wait in self._waits.values() if wait.run_id == run.id]:
            del self._waits[wait.id]
        for message_id in [key for key, each in self._steered.items() if each.run_id == run.id]:
            del self._steered[message_id]
        del self._runs[run.id], self._events[run.id]
        self._checkpoints.pop(run.id, None)
        self._snapshots.pop(run.id, None)
        self._pushes.pop(run.id, None)
        self._feedback.pop(run.id, None)
        self._outbox.drop(run.id)
        self._ledgers.drop(run.id)


def _group_of(run: Run, durations: Sequence[int]) -> RunGroup:
    started, finished = run.started_at, run.finished_at
    return RunGroup(
        day=run.created_at // 86_400_000,
        agent=run.agent,
        status=run.status,
        error_code=run.error_code,
        waited=None if started is None else bisect_right(durations, started - run.created_at),
        took=None if started is None or finished is None else bisect_right(durations, finished - started),
        runs=1,
        usage=run.usage if run.usage is not None and run.parent_run_id is None else Usage(),
    )
