"""The feed rows of runs. A transaction that starts or ends a run writes them."""

from collections.abc import Iterable
from typing import Any

from runyard.domain.conversations.feed import Kind
from runyard.domain.runs.run import Run

Row = tuple[Any, ...]


def at_work(runs: Iterable[Run]) -> list[Row]:
    """Return the feed rows for runs that start in a conversation."""
    return [_of_run("agent_typing", run) for run in runs if run.in_mailbox]


def at_rest(runs: Iterable[Run]) -> list[Row]:
    """Return the feed rows for ended runs. A run that never started has none."""
    return [_of_run("agent_done", run) for run in runs if run.in_mailbox and run.started_at is not None]


def _of_run(kind: Kind, run: Run) -> Row:
    return kind, run.thread_id, run.trigger_message_id, run.id, run.agent, "assistant", None
