"""Runs, their waits, the reply order and the ledger."""

from collections.abc import Callable, Sequence

from runyard.domain.events import Draft
from runyard.domain.wait import Wait, WaitStatus
from runyard.stores.operations import Transactions, query, statement, transaction
from runyard.stores.transactions.runs import ledger, reply_order, runs, waits


class RunOperations(Transactions):
    get_run = query(runs.get)
    get_named_run = query(runs.get_named)
    get_runs = query(runs.get_many)
    ancestors = query(runs.ancestors)
    list_runs = query(runs.list_page)
    open_runs = query(runs.open_of_thread)
    list_ended_runs = query(runs.list_ended)
    put_feedback = statement("other", runs.put_feedback)
    drop_feedback = statement("other", runs.drop_feedback)
    read_feedback = query(runs.read_feedback)
    find_ids = query(runs.find_ids)

    # --- waits

    get_wait = query(waits.get)
    list_waits = query(waits.list_page)
    answer = transaction("other", waits.answer)

    async def expire(
        self, limit: int, event: Callable[[Wait], tuple[WaitStatus, Draft]]
    ) -> tuple[Sequence[Wait], int | None]:
        due_in = await self._read(waits.due_in)
        if due_in is None or due_in > 0:
            return [], due_in  # the usual case: no write transaction is needed
        return await self._write("other", waits.expire, limit, event), 0

    ended_children = query(waits.ended_children)
    orphaned_children = query(waits.orphaned_children)
    keep_event = transaction("other", waits.keep_event)
    matched_events = query(waits.matched_events)
    forget_events = transaction("other", waits.forget_events)

    # --- the reply order

    async def release_held_runs(self, limit: int) -> tuple[int, int | None]:
        due_in = await self._read(reply_order.due_in)
        if due_in is None or due_in > 0:
            return 0, due_in  # the usual case: no write transaction is needed
        return await self._write("other", reply_order.release, limit)

    recover_held_runs = transaction("other", reply_order.recover)

    # --- the ledger

    mailbox_runs = query(ledger.runs)
    holding_runs = query(ledger.holding)
    read_ledger = query(ledger.read)
    usage_by_day = query(ledger.usage)
    run_groups = query(ledger.run_groups)
    first_tokens = query(ledger.first_tokens)
    queue_state = query(ledger.queue_state)
