"""Look up runs, end runs without a worker, and keep the feedback on runs."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from runyard.base.ids import IdKind
from runyard.domain.runs.append import END_OF
from runyard.domain.runs.lane import extended, finished, revoked
from runyard.domain.runs.run import Fate, Feedback, Run, Status
from runyard.errors import NotFound
from runyard.store import Ending, RunFilter
from runyard.stores import rows as _rows
from runyard.stores.query_names import Queries
from runyard.stores.transactions.runs import reply_order
from runyard.stores.transactions.tx import Tx


async def get(tx: Tx, owner: str, run_id: str) -> Run:
    for row in await tx.rows(tx.q.get_run, owner, run_id):
        return _rows.run(row)
    raise NotFound("There is no run with that id.")


async def get_named(tx: Tx, owner: str, external_id: str) -> Run:
    for row in await tx.rows(tx.q.get_named_run, owner, external_id):
        return _rows.run(row)
    raise NotFound("There is no run with that id.")


async def get_many(tx: Tx, owner: str, run_ids: Sequence[str]) -> Mapping[str, Run]:
    found = [_rows.run(row) for row in await tx.rows(tx.q.get_runs, owner, list(run_ids))]
    return {run.id: run for run in found}


async def ancestors(tx: Tx, run_id: str, limit: int) -> Sequence[Run]:
    return [_rows.run(row) for row in await tx.rows(tx.q.ancestors, run_id, limit)]


async def list_page(tx: Tx, owner: str, where: RunFilter, before: str | None, limit: int) -> Sequence[Run]:
    statement, filters = _listing(tx.q, where)
    return [_rows.run(row) for row in await tx.rows(statement, owner, before, where.get("agent"), limit, *filters)]


def _listing(q: Queries, where: RunFilter) -> tuple[str, Sequence[str | None]]:
    """Return the statement whose index fits a filter, and its parameters besides the agent."""
    thread, status, error = where.get("thread_id"), where.get("status"), where.get("error_code")
    if thread is not None and status == Status.WAITING and error is None:
        return q.list_waiting_thread_runs, [thread]
    if thread is not None:
        return q.list_thread_runs, [thread, status, error]
    if error is not None:
        return q.list_runs_by_error, [status or Status.ERROR.value, error]
    return (q.list_runs, []) if status is None else (q.list_runs_by_status, [status])


async def open_of_thread(tx: Tx, owner: str, thread_id: str) -> Sequence[Run]:
    return [_rows.run(row) for row in await tx.rows(tx.q.list_open_thread_runs, owner, thread_id)]


async def list_ended(tx: Tx, owner: str, where: RunFilter, before: tuple[int, str] | None, limit: int) -> Sequence[Run]:
    params = owner, *(before or (None, None)), limit, where.get("agent"), where.get("status")
    if (thread := where.get("thread_id")) is None:
        rows = await tx.rows(tx.q.list_ended_runs, *params)
    else:
        rows = await tx.rows(tx.q.list_ended_thread_runs, *params, thread)
    return [_rows.run(row) for row in rows]


async def end(tx: Tx, run: Run, fate: Fate, ending: Ending, now: int) -> Run:
    """End a locked run without its worker. The new fence refuses writes of a worker that still has it."""
    drafts = ending(run, fate)
    await tx.many(tx.q.write_events, _rows.event_values(run.id, run.fence + 1, run.last_seq + 1, drafts))
    if run.asked:
        await tx.rows(tx.q.void_waits, [run.id])
    await reply_order.release_next(tx, [run], [run], {run.id} if END_OF[fate].status is Status.ERROR else ())
    return finished(extended(revoked(run), len(drafts), run.last_batch, False, 0), END_OF[fate], now)


async def move_on(tx: Tx, run: Run) -> None:
    """Save a changed run and reopen its outbox."""
    await tx.together((tx.q.save_runs, [_rows.run_values(run)]), (tx.q.reopen_outbox, [(run.id,)]))


async def put_feedback(tx: Tx, feedback: Feedback) -> Feedback:
    for row in await tx.rows(tx.q.put_feedback, feedback.run_id, feedback.value, feedback.comment):
        return _rows.feedback(row)
    raise NotFound("There is no run with that id.")


async def drop_feedback(tx: Tx, run_id: str) -> None:
    await tx.rows(tx.q.drop_feedback, run_id)


async def read_feedback(tx: Tx, run_ids: Sequence[str]) -> Mapping[str, Feedback]:
    found = [_rows.feedback(row) for row in await tx.rows(tx.q.read_feedback, list(run_ids))]
    return {each.run_id: each for each in found}


async def find_ids(tx: Tx, owner: str, kind: IdKind, part: str, limit: int) -> Sequence[str]:
    match kind:
        case "run":
            rows = await tx.rows(tx.q.find_run_ids, owner, part, limit)
        case "thread":
            rows = await tx.rows(tx.q.find_thread_ids, owner, part, limit)
        case "wait":
            rows = await tx.rows(tx.q.find_wait_ids, owner, part, limit)
        case never:
            assert_never(never)
    return [str(row["id"]) for row in rows]
