"""The history of agents in their mailboxes: runs, the steps and messages of a run, and usage by day."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.conversations.thread import ThreadKind
from runyard.domain.runs.ledger import Day, Ledger
from runyard.domain.runs.run import Run, Status
from runyard.engine.queries.views import checked_id
from runyard.errors import NotFound
from runyard.store import Store


class AgentHistory:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def runs(
        self, caller: str, agent: str, before: str | None, limit: int
    ) -> tuple[Sequence[Run], Mapping[str, ThreadKind]]:
        """Return the caller's runs in this agent's mailbox, newest first, and the kinds of their conversations."""
        await self._store.get_agent(caller, agent)
        runs = await self._store.mailbox_runs(caller, agent, before, limit)
        return await self._as_in_mailbox(runs), await self._kinds(caller, runs)

    async def run(self, caller: str, agent: str, run_id: str) -> tuple[Run, Mapping[str, ThreadKind], Ledger]:
        """Return one of these runs with its steps and messages."""
        run = await self._store.get_run(caller, checked_id(run_id, "run"))
        if run.agent != agent:
            raise NotFound("There is no run with that id.")
        [shown] = await self._as_in_mailbox([run])
        return shown, await self._kinds(caller, [run]), await self._store.read_ledger(run.id)

    async def usage(self, caller: str, agent: str, limit: int) -> Sequence[Day]:
        await self._store.get_agent(caller, agent)
        return await self._store.usage_by_day(caller, agent, limit)

    async def _as_in_mailbox(self, runs: Sequence[Run]) -> Sequence[Run]:
        """Show runs as the mailbox sees them. A run that waits for a decision and has yielded to the next one
        (`while_waiting="yield"`) counts as queued: it is claimed again after the decision."""
        waiting = [run.id for run in runs if run.status is Status.WAITING]
        holding = await self._store.holding_runs(waiting) if waiting else frozenset()
        yielded = set(waiting) - holding
        return [replace(run, status=Status.QUEUED) if run.id in yielded else run for run in runs]

    async def _kinds(self, caller: str, runs: Sequence[Run]) -> Mapping[str, ThreadKind]:
        places = {run.thread_id for run in runs if run.thread_id is not None}
        return {place: (await self._store.get_thread(caller, place)).kind for place in places}
