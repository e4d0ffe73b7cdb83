"""Messages for a thread whose run has not ended, under the lock of its lane."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from runyard.domain.conversations.thread import Message
from runyard.domain.events import Draft, place
from runyard.domain.runs.lane import Lane
from runyard.domain.runs.run import Run
from runyard.errors import NotFound, QueueFull, RunActive, RunyardError
from runyard.store import Accepted, Ending, Post, Room
from runyard.stores import rows as _rows
from runyard.stores.transactions.content import files
from runyard.stores.transactions.queue import control, intake, keys, left_messages
from runyard.stores.transactions.runs import runs
from runyard.stores.transactions.runs.lanes import lock_lanes, save_lanes
from runyard.stores.transactions.tx import Tx


async def steer(tx: Tx, post: Post, received: Callable[[str], Draft], room: Room | None = None) -> Accepted:
    if (known := await _known(tx, post)) is not None:
        return known
    post = await _in_thread(tx, post)
    run, _, _ = await _active(tx, post)
    if run is None or run.cancel_requested_at is not None or post.agent not in (None, run.agent):
        return await _accept(tx, post, room)
    if post.most_queued is not None and run.unread >= post.most_queued:
        raise QueueFull
    assert post.message is not None  # it is a post to a thread
    message = replace(post.message, run_id=run.id)
    draft, seq = received(run.id), run.last_seq + 1
    await tx.together(
        (tx.q.write_events, _rows.event_values(run.id, run.fence, seq, [draft])),
        (tx.q.insert_messages, [_rows.message_values(message)]),
        (tx.q.insert_steered, [left_messages.values(post, message.id, run.id, seq, run.agent)]),
    )
    await files.use_in_posts(tx, [post] if post.files else [])
    await runs.move_on(tx, replace(run, last_seq=seq, unread=run.unread + 1))
    return Accepted(run.id, place(run.id, seq, [draft])[0], steered=True)


async def interrupt(tx: Tx, post: Post, grace_ms: int, ending: Ending, room: Room | None = None) -> Accepted:
    if (known := await _known(tx, post)) is not None:
        return known
    post = await _in_thread(tx, post)
    run, lane, now = await _active(tx, post)
    if run is not None and lane is not None:
        unread = run.unread
        run, lane = await control.stop(tx, run, lane, now, grace_ms, ending)
        await save_lanes(tx, [lane])
        if unread and run.status.is_terminal:
            await left_messages.start_runs(tx, [run])
    return replace(await _accept(tx, post, room), interrupted=run)


async def accept_if_idle(tx: Tx, post: Post, room: Room | None = None) -> Accepted:
    if (known := await _known(tx, post)) is not None:
        return known
    post = await _in_thread(tx, post)
    if (await _active(tx, post))[0] is not None:
        raise RunActive("The thread has a run that has not ended. Wait, cancel it, or send `while_running`: `steer`.")
    return await _accept(tx, post, room)


async def new_messages(tx: Tx, run_id: str) -> Sequence[Message]:
    return [_rows.message(row) for row in await tx.rows(tx.q.new_messages, run_id)]


async def _known(tx: Tx, post: Post) -> Accepted | None:
    """Return the result of an earlier post with the same key. The run of a steered message may have changed since."""
    result = await keys.take(tx, post.key, post.run_id)
    if result is None:
        return None
    for row in await tx.rows(tx.q.find_steered, result):
        return Accepted(str(row["run_id"]), None, repeated=True, steered=True)
    return Accepted(result, None, repeated=True)


async def _in_thread(tx: Tx, post: Post) -> Post:
    """Return the post with its thread, which is created if its client named one that does not exist."""
    [post] = (await intake.with_threads(tx, {0: post})).values()
    for row in await tx.rows(tx.q.read_threads, [post.thread_id or ""]):
        if row["owner"] == post.owner:
            return replace(post, key=None, thread=None)
    raise NotFound("There is no thread with that id.")


async def _active(tx: Tx, post: Post) -> tuple[Run | None, Lane | None, int]:
    """Lock the lane, and return its active run, locked, with the lane and the time."""
    for lane in (await lock_lanes(tx, {post.lane_key})).values():
        active = lane.active_run
        if active is None:
            active = next((str(row["id"]) for row in await tx.rows(tx.q.lane_heads, [lane.key])), None)
        for row in await tx.rows(tx.q.lock_runs, [] if active is None else [active]):
            return _rows.run(row), lane, int(row["now"])
    return None, None, 0


async def _accept(tx: Tx, post: Post, room: Room | None) -> Accepted:
    try:
        [accepted] = await intake.accept(tx, [post], room)
    except intake.ThreadsMissing:
        raise intake.not_found() from None
    except intake.LanesFull:
        raise QueueFull from None
    if isinstance(accepted, RunyardError):
        raise accepted
    return accepted
