"""The ledger: written with the events that it is made of, read as a whole."""

from collections.abc import Sequence
from typing import Any

from runyard.domain.events import Usage
from runyard.domain.runs.ledger import Day, FirstTokens, Ledger, LedgerMessage, QueueState, RunGroup, Step
from runyard.domain.runs.run import Run, Status
from runyard.stores import rows as _rows
from runyard.stores.transactions.tx import Tx

Values = tuple[Any, ...]


def values(ledgers: Sequence[Ledger]) -> tuple[list[Values], list[Values]]:
    return (
        [_step_values(step) for ledger in ledgers for step in ledger.steps],
        [_message_values(message) for ledger in ledgers for message in ledger.messages],
    )


def _step_values(s: Step) -> Values:
    usage = (s.usage.input_tokens, s.usage.output_tokens, s.usage.usd)
    return s.id, s.run_id, s.number, s.status, s.model, *usage, s.created_at, s.completed_at


def _message_values(m: LedgerMessage) -> Values:
    return m.id, m.run_id, m.step_id, m.type, m.content, m.tool, m.input, m.created_at


async def holding(tx: Tx, run_ids: Sequence[str]) -> frozenset[str]:
    if not run_ids:
        return frozenset()
    return frozenset(str(row["id"]) for row in await tx.rows(tx.q.holding_runs, list(run_ids)))


async def read(tx: Tx, run_id: str) -> Ledger:
    steps = [_step(row) for row in await tx.rows(tx.q.read_steps, run_id)]
    return Ledger(steps, [_message(row) for row in await tx.rows(tx.q.read_ledger_messages, run_id)])


async def runs(tx: Tx, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
    return [_rows.run(row) for row in await tx.rows(tx.q.list_mailbox_runs, owner, agent, before, limit)]


async def usage(tx: Tx, owner: str, agent: str, limit: int) -> Sequence[Day]:
    rows = await tx.rows(tx.q.usage_by_day, owner, agent, limit)
    return [Day(day=row["day"], runs=row["runs"], steps=row["steps"], usage=_usage(row)) for row in rows]


async def run_groups(
    tx: Tx, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
) -> Sequence[RunGroup]:
    rows = await tx.rows(tx.q.run_groups, owner, since, agent, list(durations))
    return [
        RunGroup(
            day=row["day"],
            agent=row["agent"],
            status=Status(row["status"]),
            error_code=row["error_code"],
            waited=row["waited"],
            took=row["took"],
            runs=row["runs"],
            usage=_usage(row),
        )
        for row in rows
    ]


async def first_tokens(
    tx: Tx, owner: str | None, since: str, agent: str | None, durations: Sequence[int]
) -> Sequence[FirstTokens]:
    rows = await tx.rows(tx.q.first_tokens, owner, since, agent, list(durations))
    return [FirstTokens(day=row["day"], agent=row["agent"], place=row["place"], runs=row["runs"]) for row in rows]


async def queue_state(tx: Tx, owner: str | None, agent: str | None, limit: int) -> QueueState:
    [row] = await tx.rows(tx.q.queue_state, owner, agent, limit)
    oldest = row["oldest_ms"]
    return QueueState(row["runs"], None if oldest is None else max(0, oldest))


def _step(row: _rows.Row) -> Step:
    return Step(
        id=str(row["id"]),
        run_id=str(row["run_id"]),
        number=row["step_number"],
        status=row["status"],
        model=row["model_id"],
        usage=_usage(row),
        created_at=row["created_at"],
        completed_at=row["completed_at"],
    )


def _usage(row: _rows.Row) -> Usage:
    return Usage(row["input_tokens"], row["output_tokens"], row["usd"])


def _message(row: _rows.Row) -> LedgerMessage:
    return LedgerMessage(
        id=str(row["id"]),
        run_id=str(row["run_id"]),
        step_id=_rows.text_id(row["step_id"]),
        type=row["message_type"],
        content=row["content"],
        tool=row["tool_name"],
        input=row["tool_input"],
        created_at=row["created_at"],
    )
