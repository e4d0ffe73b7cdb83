"""Transitions of a run: back into the queue, or to its end. Waits, lane, ledger and feed follow."""

from typing import Any, Literal

from msgspec.structs import replace

from runyard.domain.conversations.feed import Entry, Kind
from runyard.domain.runs.append import END_OF, Finish
from runyard.domain.runs.run import ResumeWhy, Run, Status
from runyard.store import Ending
from runyard.stores.memory.runs.reply_order import ReplyOrder


class Transitions(ReplyOrder):
    def _requeue(self, run: Run, why: ResumeWhy, delay_ms: int = 0, **changes: Any) -> None:
        self._lanes[run.lane_key].rejoin(run, self._now() + delay_ms)
        fence = run.fence + 1
        self._change(run, status=Status.QUEUED, resume_why=why, fence=fence, worker_id=None, **changes)

    def _give_up(self, run: Run, fate: Literal["poison", "cancel"], ending: Ending) -> Run:
        """End a run that has no worker."""
        return self._end(self._write(run, ending(run, fate), fence=run.fence + 1), END_OF[fate])

    def _end(self, run: Run, finish: Finish) -> Run:
        for wait in [wait for wait in self._waits.values() if wait.run_id == run.id and wait.state == "pending"]:
            self._waits[wait.id] = replace(wait, state="void")
        self._lanes[run.lane_key].free(run, self._now())
        self._release_next(run)
        self._ledgers.close(run.id, self._now(), finish.status is Status.ERROR)
        if run.started_at is not None:
            self._tell_of(run, "agent_done")
        ended = self._change(
            run,
            status=finish.status,
            stop_reason=finish.stop_reason,
            error_code=finish.error_code,
            error=finish.error,
            usage=finish.usage,
            first_token_ms=finish.first_token_ms or run.first_token_ms,
            worker_id=None,
            finished_at=self._now(),
            unread=0,
        )
        self._start_left(ended)
        return ended

    def _start_left(self, run: Run) -> None:
        """Start a run for each message that came for an ended run and was not taken."""
        raise NotImplementedError

    def _tell_of(self, run: Run, kind: Kind) -> None:
        """Write a feed entry about a run in a mailbox."""
        if run.in_mailbox:
            self._feed.append(
                Entry(
                    no=0,
                    kind=kind,
                    thread_id=run.thread_id or "",
                    thread_kind=self._threads[run.thread_id or ""].kind,
                    actor=run.agent,
                    role="assistant",
                    message_id=run.trigger_message_id,
                    run_id=run.id,
                    created_at=self._now(),
                )
            )
