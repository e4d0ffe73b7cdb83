"""Delete old runs and messages, except those that live runs need. A deleted run leaves a tombstone."""

from collections.abc import Sequence

from runyard.base.ids import first_id_at
from runyard.domain.conversations.thread import Message
from runyard.domain.runs.run import Run
from runyard.store import Removal, Swept, Tombstone
from runyard.stores.memory.conversations.threads import Threads


class Retention(Threads):
    async def sweep(self, horizon: int, after: str | None, limit: int) -> Swept:
        old = [run for run in self._runs.values() if (after or "") < run.id < first_id_at(horizon)]
        old = sorted(old, key=lambda run: run.id)[:limit]
        alone = [run for run in old if run.thread_id is None or run.in_mailbox]
        dropped = [run for run in alone if _ended_before(run, horizon) and not self._is_waited_for(run)]
        for thread_id in {run.thread_id for run in old if run.thread_id is not None and not run.in_mailbox}:
            members = [run for run in self._runs.values() if run.thread_id == thread_id]
            forks = any(thread.forked_from == thread_id for thread in self._threads.values())
            if not forks and all(_ended_before(run, horizon) for run in members):
                dropped += members
                await self.delete_thread(members[0].owner, thread_id)
        for run in dropped:
            self._tombstones.bury(run, self._now())
            if run.id in self._runs:
                self._drop(run)
                if run.thread_id is None:
                    self._removals.append(Removal(run.id, run.owner, None, self._now()))
                if run.thread_id is None and run.superseded_by is None:
                    del self._lanes[run.lane_key]
        return Swept(len(old), len(dropped), old[-1].id if len(old) == limit else None)

    async def removals(self, since: int, after: str | None, limit: int) -> Sequence[Removal]:
        ordered = sorted(self._removals, key=lambda each: (each.removed_at, each.id))
        return [each for each in ordered if (each.removed_at, each.id) > (since, after or "")][:limit]

    async def forget_removals(self, before: int) -> None:
        self._removals = [each for each in self._removals if each.removed_at >= before]

    async def drop_logs(self, horizon: int, tombstones: int) -> int:
        self._tombstones.forget(tombstones)
        return 0

    async def get_tombstone(self, owner: str, run_id: str) -> Tombstone:
        return self._tombstones.find(owner, run_id)

    async def sweep_messages(self, horizon: int, after: str | None, limit: int) -> Swept:
        until = first_id_at(horizon)
        old = sorted(each for each in self._messages if (after or "") < each < until)[:limit]
        dropped = [each for each in old if self._is_over(self._messages[each], until)]
        for each in dropped:
            del self._messages[each]
        self._reactions = [each for each in self._reactions if each.message_id in self._messages]
        return Swept(len(old), len(dropped), old[-1] if len(old) == limit else None)

    def _is_over(self, message: Message, until: str) -> bool:
        about = [run for run in self._runs.values() if run.trigger_message_id == message.id]
        replies = [each for each in self._messages.values() if each.parent_id == message.id]
        return (
            self._threads[message.thread_id].kind != "chat"
            and all(reply.id < until for reply in replies)
            and all(run.status.is_terminal for run in about)
        )

    async def drop_feed(self, horizon: int, limit: int) -> int:
        numbered = [entry for entry in self._feed if entry.no][:limit]
        old = [entry.no for entry in numbered if entry.created_at < horizon]
        if old:
            self._feed_start = max(old)
            self._feed = [entry for entry in self._feed if not 0 < entry.no <= self._feed_start]
        return len(old)


def _ended_before(run: Run, horizon: int) -> bool:
    return run.finished_at is not None and run.finished_at < horizon
