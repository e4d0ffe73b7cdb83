"""The messages that a run left: they came while it was under way, and it ended before its agent took them.

Each starts a separate run, in the transaction that ends the run, so that no message is lost and no later message
overtakes it. The row of a steered message has what that run needs."""

from collections.abc import Sequence
from typing import Any

from runyard.domain.events import Draft
from runyard.domain.runs.run import Run
from runyard.store import Post
from runyard.stores import rows as _rows
from runyard.stores.transactions.queue import intake
from runyard.stores.transactions.tx import Tx


def values(post: Post, message_id: str, run_id: str, seq: int, agent: str) -> tuple[Any, ...]:
    """Return the row of a message for the run `run_id`, in the order of `insert_steered`."""
    first = post.queued(agent)
    return (
        message_id,
        run_id,
        seq,
        post.run_id,
        post.face,
        agent,
        first.id,
        first.ts,
        first.data,
        post.has_client_tools,
        post.created_at,
    )


async def start_runs(tx: Tx, ended: Sequence[Run]) -> None:
    """Start a run for each message that these runs left. Their lanes are locked and saved."""
    by_id = {run.id: run for run in ended}
    if not by_id:
        return
    left = await tx.rows(tx.q.untaken_messages, sorted(by_id))
    posts = [_post(row, by_id[str(row["run_id"])]) for row in left]
    if not posts:
        return
    lanes = await intake.open_lanes(tx, posts)
    rows = await tx.rows(tx.q.read_threads, sorted({post.thread_id or "" for post in posts}))
    heads = {thread.id: thread.head_run_id for thread in map(_rows.thread, rows)}
    write = intake.Write(lanes, None)
    for post in posts:
        thread_id = post.thread_id or ""
        write.run(post, post.default_agent, heads.get(thread_id), None)
        heads[thread_id] = post.run_id
    write.heads = list(heads.items())
    await write.commit(tx, (tx.q.move_messages, [(post.trigger_id, post.run_id) for post in posts]))
    await tx.rows(tx.q.leave_messages, [post.trigger_id for post in posts])


def _post(row: _rows.Row, ended: Run) -> Post:
    first = Draft(str(row["id"]), row["ts"], "run.queued", row["data"], source="api")
    return Post(
        owner=ended.owner,
        face=row["face"],
        run_id=str(row["next_run_id"]),
        lane_key=ended.lane_key,
        thread_id=ended.thread_id,
        default_agent=row["agent"],
        queued=lambda agent: first,
        created_at=row["created_at"],
        trigger_id=str(row["message_id"]),
        has_client_tools=bool(row["has_client_tools"]),
    )
