"""Posts become runs. Lanes are locked (by the upsert) before threads are read, so that parent and position agree."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from runyard.domain.events import Draft, place
from runyard.domain.run import Run
from runyard.domain.thread import Thread
from runyard.errors import Conflict, KeyReused, NotFound, RunActive, RunyardError
from runyard.store import Accepted, Post
from runyard.stores import _rows
from runyard.stores.transactions import runs, threads
from runyard.stores.transactions.tx import Tx


class ThreadsMissing(Exception):
    """Some posts name threads that are not there: undo, and accept the others."""

    def __init__(self, posts: Sequence[int]) -> None:
        self.posts = posts


async def accept(tx: Tx, posts: Sequence[Post]) -> list[Accepted | RunyardError]:
    results: dict[int, Accepted | RunyardError] = await _repeats(tx, posts)
    fresh = {n: post for n, post in enumerate(posts) if n not in results}
    positions = await _open_lanes(tx, list(fresh.values()))
    known = await _threads(tx, fresh)
    write = _Write()
    for n, post in fresh.items():
        thread = known.get(post.thread_id or "")
        parent = thread.head_run_id if thread else None
        agent = post.agent or (thread.agent if thread else None) or post.default_agent
        results[n] = write.run(post, agent, positions[post.lane_key], parent, None)
        positions[post.lane_key] += 1
        if thread:
            known[thread.id] = msgspec.structs.replace(thread, head_run_id=post.run_id)
    write.heads = [(thread.id, thread.head_run_id) for thread in known.values()]
    await write.commit(tx)
    return [results[n] for n in range(len(posts))]


async def retry(tx: Tx, owner: str, post: Post, run_id: str) -> Accepted:
    if post.key is not None:
        known = await threads.take_key(tx, post.key, post.run_id)
        if known is not None:
            return Accepted(known, None, repeated=True)
    old = await runs.get(tx, owner, run_id)
    positions = await _open_lanes(tx, [post])
    old = await runs.get(tx, owner, run_id)
    if not old.status.is_terminal:
        raise RunActive("Only a run that has ended can be retried; cancel it or wait.")
    if old.superseded_by is not None:
        raise Conflict("This run was retried before; retry the run that replaced it.")
    write = _Write()
    accepted = write.run(post, post.agent or old.agent, positions[post.lane_key], old.parent_id, old)
    for row in await tx.rows(tx.q.read_threads, [old.thread_id] if old.thread_id else []):
        if _rows.thread(row).head_run_id == old.id:
            write.heads = [(str(row["id"]), post.run_id)]
    await write.commit(tx)
    await tx.rows(tx.q.supersede_run, old.id, post.run_id)
    return accepted


async def _repeats(tx: Tx, posts: Sequence[Post]) -> dict[int, Accepted | RunyardError]:
    """The posts whose key was used before, in the database or earlier in this group."""
    first: dict[tuple[str, str], int] = {}
    keyed = {n: post.key for n, post in enumerate(posts) if post.key is not None}
    for n, key in keyed.items():
        first.setdefault((key.scope, key.key), n)
    rows = [(*name, posts[n].key.digest, posts[n].run_id) for name, n in first.items()]  # type: ignore[union-attr]
    new = {(row["scope"], row["key"]) for row in await tx.many(tx.q.note_keys, rows)} if rows else set()
    results: dict[int, Accepted | RunyardError] = {}
    for n, key in keyed.items():
        if (key.scope, key.key) in new and first[key.scope, key.key] == n:
            continue
        try:
            results[n] = Accepted(await threads.known_result(tx, key), None, repeated=True)
        except KeyReused as error:
            results[n] = error
    return results


async def _open_lanes(tx: Tx, posts: Sequence[Post]) -> dict[str, int]:
    """Make room in the lanes and return the first position that is ours in each."""
    counts = Counter(post.lane_key for post in posts)
    if not counts:
        return {}
    rows = await tx.many(tx.q.open_lanes, sorted(counts.items()))
    return {row["key"]: row["next_pos"] - counts[row["key"]] for row in rows}


async def _threads(tx: Tx, posts: dict[int, Post]) -> dict[str, Thread]:
    ids = sorted({post.thread_id for post in posts.values() if post.thread_id is not None})
    if not ids:
        return {}
    known = {str(row["id"]): _rows.thread(row) for row in await tx.rows(tx.q.read_threads, ids)}
    missing = [
        n
        for n, post in posts.items()
        if post.thread_id is not None and (post.thread_id not in known or known[post.thread_id].owner != post.owner)
    ]
    if missing:
        raise ThreadsMissing(missing)
    return known


class _Write:
    """The rows of a group, gathered first and written together."""

    def __init__(self) -> None:
        self.runs: list[tuple[Any, ...]] = []
        self.events: list[tuple[Any, ...]] = []
        self.messages: list[tuple[Any, ...]] = []
        self.heads: list[tuple[Any, ...]] = []

    def run(self, post: Post, agent: str, pos: int, parent: str | None, retried: Run | None) -> Accepted:
        draft: Draft = post.queued(agent)
        trigger = retried.trigger_message_id if retried else post.message.id if post.message else None
        thread_id = retried.thread_id if retried else post.thread_id
        self.runs.append(
            (
                post.run_id,
                post.owner,
                post.face,
                post.lane_key,
                pos,
                agent,
                thread_id,
                trigger,
                parent,
                retried.id if retried else None,
                post.created_at,
            )
        )
        self.events += _rows.event_values(post.run_id, 0, 1, [draft])
        if post.message is not None and retried is None:
            self.messages.append(_rows.message_values(post.message))
        return Accepted(post.run_id, place(post.run_id, 1, [draft])[0])

    async def commit(self, tx: Tx) -> None:
        await tx.together(
            (tx.q.insert_runs, self.runs),
            (tx.q.write_events, self.events),
            (tx.q.insert_messages, self.messages),
            (tx.q.move_heads, self.heads),
        )


def not_found() -> RunyardError:
    return NotFound("There is no thread with that id.")
