"""Posts become runs. The upsert locks lanes before threads are read, so that parent and position agree."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from runyard.base.ids import made_at
from runyard.domain.conversations.thread import Message, Thread
from runyard.domain.events import Draft, place
from runyard.domain.push import Push
from runyard.domain.runs.branch import affected
from runyard.domain.runs.lane import Lane, claimed, replace
from runyard.domain.runs.publication import is_dated
from runyard.domain.runs.run import Run, Status, thread_lane
from runyard.errors import ClockAhead, Conflict, KeyReused, NotFound, QueueFull, RunActive, RunyardError
from runyard.store import Accepted, Claim, Post, Room
from runyard.stores import rows as _rows
from runyard.stores.transactions.content import files
from runyard.stores.transactions.queue import keys
from runyard.stores.transactions.runs import feed_rows, runs
from runyard.stores.transactions.tx import Tx
from runyard.stores.transactions.tx import Write as Rows

CLOCK_TOLERANCE_MS = 3600 * 1000  # ids come from the server's clock, and the log is partitioned by ids


class ThreadsMissing(Exception):
    """Some posts name unknown threads. The caller accepts the others in a new transaction."""

    def __init__(self, posts: Sequence[int]) -> None:
        self.posts = posts


class LanesFull(Exception):
    """Some posts exceed the limit of their lanes. The caller accepts the others in a new transaction."""

    def __init__(self, posts: Sequence[int]) -> None:
        self.posts = posts


class _Opened:
    """A locked lane with the positions of new runs."""

    def __init__(self, lane: Lane, ours: int, runnable: int, now: int) -> None:
        self.lane = lane
        self.now = now
        self._runnable = runnable
        self._next = lane.next_pos - ours

    def over(self, most: int | None) -> int:
        """Return how many of the new runs exceed the limit."""
        return 0 if most is None else max(0, min(self._runnable, self.lane.runnable - most))

    @property
    def is_idle(self) -> bool:
        """Return whether the lane has no active run and only new runs to start."""
        return self.lane.active_run is None and self.lane.runnable == self._runnable

    def take_position(self) -> int:
        self._next += 1
        return self._next - 1


async def accept(tx: Tx, posts: Sequence[Post], room: Room | None) -> list[Accepted | RunyardError]:
    results: dict[int, Accepted | RunyardError] = await _named(tx, posts)
    results |= await _repeats(tx, {n: post for n, post in enumerate(posts) if n not in results})
    fresh = await with_threads(tx, {n: post for n, post in enumerate(posts) if n not in results})
    lanes = await open_lanes(tx, list(fresh.values()))
    _check_room(fresh, lanes)
    known = await _threads(tx, fresh)
    write = Write(lanes, await _still_open(tx, room, lanes))
    for n, post in fresh.items():
        thread = known.get(post.thread_id or "")
        parent = thread.head_run_id if thread else None
        agent = post.agent or (thread.agent if thread else None) or post.default_agent
        results[n] = write.run(post, agent, parent, None)
        if thread:
            known[thread.id] = replace(thread, head_run_id=post.run_id)
    write.heads = [(thread.id, thread.head_run_id) for thread in known.values()]
    await write.commit(tx)
    return [results[n] for n in range(len(posts))]


def _check_room(posts: dict[int, Post], lanes: dict[str, _Opened]) -> None:
    """Raise LanesFull for the last posts of each lane that is over its limit."""
    over = {post.lane_key: lanes[post.lane_key].over(post.most_queued) for post in posts.values()}
    if not any(over.values()):
        return
    refused = []
    for n, post in reversed(posts.items()):
        if over[post.lane_key]:
            over[post.lane_key] -= 1
            refused.append(n)
    raise LanesFull(refused)


async def retry(tx: Tx, owner: str, post: Post, run_id: str) -> Accepted:
    known = await keys.take(tx, post.key, post.run_id)
    if known is not None:
        return Accepted(known, None, repeated=True)
    lanes, old = await _open_lane_of(tx, owner, post, run_id)
    if not old.status.is_terminal:
        raise RunActive("The run has not ended. Cancel it or wait, then retry.")
    if old.superseded_by is not None:
        raise Conflict("This run was superseded. Retry the run that replaced it.")
    if lanes[post.lane_key].over(post.most_queued):
        raise QueueFull
    write = Write(lanes, None)
    accepted = write.run(post, post.agent or old.agent, old.parent_id, old)
    for row in await tx.rows(tx.q.read_threads, [old.thread_id] if old.thread_id else []):
        if _rows.thread(row).head_run_id == old.id:
            write.heads = [(str(row["id"]), post.run_id)]
    await write.commit(tx)
    await tx.rows(tx.q.supersede_runs, [old.id], post.run_id)
    return accepted


async def edit(tx: Tx, owner: str, post: Post, run_id: str) -> Accepted:
    known = await keys.take(tx, post.key, post.run_id)
    if known is not None:
        return Accepted(known, None, repeated=True)
    lanes, old = await _open_lane_of(tx, owner, post, run_id)
    if old.thread_id is None or old.thread_id != post.thread_id:
        raise NotFound("There is no run with that id in the thread.")
    if old.superseded_by is not None:
        raise Conflict("This run was superseded. Edit the run that replaced it.")
    links = [_rows.branch_run(row) for row in await tx.rows(tx.q.branches, old.thread_id)]
    aside = affected(links, run_id)
    if not all(link.status.is_terminal for link in aside):
        raise RunActive("A run that this edit would supersede has not ended. Cancel it or wait.")
    if lanes[post.lane_key].over(post.most_queued):
        raise QueueFull
    write = Write(lanes, None)
    accepted = write.run(post, post.agent or old.agent, old.parent_id, None)
    write.heads = [(old.thread_id, post.run_id)]
    await write.commit(tx)
    await tx.rows(tx.q.supersede_runs, [link.id for link in aside], post.run_id)
    return accepted


async def _open_lane_of(tx: Tx, owner: str, post: Post, run_id: str) -> tuple[dict[str, _Opened], Run]:
    """Lock the lane of the post, and return it with the run as it is then. Raises NotFound without a lock."""
    await runs.get(tx, owner, run_id)
    lanes = await open_lanes(tx, [post])
    return lanes, await runs.get(tx, owner, run_id)


async def _repeats(tx: Tx, posts: dict[int, Post]) -> dict[int, Accepted | RunyardError]:
    """Return the results of posts whose key was used before, in the database or earlier in this group."""
    first: dict[tuple[str, str], int] = {}
    keyed = {n: post.key for n, post in posts.items() if post.key is not None}
    for n, key in keyed.items():
        first.setdefault((key.scope, key.key), n)
    rows = [(*name, posts[n].key.digest, posts[n].run_id) for name, n in first.items()]  # type: ignore[union-attr]
    new = {(row["scope"], row["key"]) for row in await tx.many(tx.q.insert_keys, rows)} if rows else set()
    results: dict[int, Accepted | RunyardError] = {}
    for n, key in keyed.items():
        if (key.scope, key.key) in new and first[key.scope, key.key] == n:
            continue
        try:
            results[n] = Accepted(await keys.known_result(tx, key), None, repeated=True)
        except KeyReused as error:
            results[n] = error
    return results


async def _named(tx: Tx, posts: Sequence[Post]) -> dict[int, Accepted | RunyardError]:
    """Return the results of posts whose external id is that of an existing run, or of an earlier post of this group."""
    named = {n: (post.owner, post.external_id) for n, post in enumerate(posts) if post.external_id is not None}
    if not named:
        return {}
    owners, names = zip(*sorted(set(named.values())), strict=True)
    rows = await tx.rows(tx.q.named_runs, list(owners), list(names))
    known = {(row["owner"], row["external_id"]): str(row["id"]) for row in rows}
    results: dict[int, Accepted | RunyardError] = {}
    for n, name in named.items():
        if name in known:
            results[n] = Accepted(known[name], None, repeated=True)
        known.setdefault(name, posts[n].run_id)
    return results


async def with_threads(tx: Tx, posts: dict[int, Post]) -> dict[int, Post]:
    """Return the posts with the threads that their clients named. Missing threads are created, in the order of
    names."""
    wanted = {(post.thread.owner, post.thread.external_id): post.thread for post in posts.values() if post.thread}
    if not wanted:
        return posts
    await tx.many(tx.q.open_threads, [_rows.thread_values(wanted[name]) for name in sorted(wanted)])
    owners, names = zip(*wanted, strict=True)
    rows = await tx.rows(tx.q.named_threads, list(owners), list(names))
    known = {(row["owner"], row["external_id"]): str(row["id"]) for row in rows}
    return {
        n: post if post.thread is None else in_thread(post, known.get((post.owner, post.thread.external_id)))
        for n, post in posts.items()
    }


def in_thread(post: Post, thread_id: str | None) -> Post:
    """Return the post in the existing thread of that name. Without one (it was deleted again) the post stays
    unchanged."""
    if thread_id is None or post.message is None:
        return post
    message = replace(post.message, thread_id=thread_id)
    return replace(post, thread_id=thread_id, lane_key=thread_lane(thread_id), message=message)


async def open_lanes(tx: Tx, posts: Sequence[Post]) -> dict[str, _Opened]:
    """Lock the lanes of the posts and reserve positions in them."""
    counts = Counter(post.lane_key for post in posts)
    if not counts:
        return {}
    held = Counter(post.lane_key for post in posts if post.after_run is not None)
    rows = await tx.many(tx.q.open_lanes, [(key, n, n - held[key]) for key, n in sorted(counts.items())])
    return {
        key: _Opened(_rows.lane(row), counts[key], counts[key] - held[key], row["now"])
        for row in rows
        for key in [row["key"]]
    }


async def _still_open(tx: Tx, room: Room | None, lanes: dict[str, _Opened]) -> Room | None:
    """Return the room if a lane is idle and the worker's lease is valid, else None."""
    if room is None or not any(opened.is_idle for opened in lanes.values()):
        return None
    return room if await tx.rows(tx.q.check_lease, room.worker_id) else None


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


class Write:
    """The rows of a group, collected first and written together."""

    def __init__(self, lanes: dict[str, _Opened], room: Room | None) -> None:
        self._lanes = lanes
        self._room = room
        self._places = room.places if room else 0
        self._claimed: list[Lane] = []
        self._runs: list[tuple[Run, int | None]] = []
        self._events: list[tuple[Any, ...]] = []
        self._messages: list[Message] = []
        self._with_files: list[Post] = []
        self._pushes: list[Push] = []
        self.heads: list[tuple[Any, ...]] = []

    def run(self, post: Post, agent: str, parent: str | None, retried: Run | None) -> Accepted:
        draft: Draft = post.queued(agent)
        opened = self._lanes[post.lane_key]
        if made_at(post.run_id) > opened.now + CLOCK_TOLERANCE_MS:
            raise ClockAhead
        run = new_run(post, agent, opened.take_position(), parent, retried)
        claim = self._claim(run, post.message, opened)
        self._runs.append((claim.run if claim else run, post.pause_ms if run.held else None))
        self._events += _rows.event_values(post.run_id, 0, 1, [draft])
        if post.message is not None and retried is None:
            self._messages.append(post.message)
        if post.files and (retried is None or post.message is None):
            self._with_files.append(post)
        if post.push is not None:
            self._pushes.append(post.push)
        first = place(post.run_id, 1, [draft])[0]
        return Accepted(post.run_id, first, claim=claim, thread_id=run.thread_id)

    def _claim(self, run: Run, message: Message | None, opened: _Opened) -> Claim | None:
        if (
            self._room is None
            or self._places == 0
            or run.held
            or not opened.is_idle
            or not self._room.allows(run.agent)
        ):
            return None
        self._places -= 1
        run = claimed(run, self._room.worker_id, self._room.versions.get(run.agent), opened.now)
        opened.lane = opened.lane.claimed(run)
        self._claimed.append(opened.lane)
        return Claim(run, message)

    async def commit(self, tx: Tx, *more: Rows) -> None:
        """Write all rows, and `more`, at once."""
        await tx.together(
            (tx.q.insert_runs, [_rows.new_run_values(run, pause) for run, pause in self._runs]),
            (tx.q.init_outbox, [(run.id, is_dated(run)) for run, _ in self._runs]),
            (tx.q.write_events, self._events),
            (tx.q.insert_messages, [_rows.message_values(message) for message in self._messages]),
            (tx.q.move_heads, self.heads),
            (tx.q.save_lanes, [_rows.lane_values(lane) for lane in self._claimed]),
            (tx.q.insert_feed, feed_rows.at_work([run for run, _ in self._runs if run.started_at is not None])),
            *more,
        )
        await files.use_in_posts(tx, self._with_files)
        for push in self._pushes:
            await tx.rows(tx.q.put_push, push.run_id, push.id, push.kind, msgspec.json.encode(push.data), False)


async def forget_keys(tx: Tx, older_than_ms: int) -> None:
    await tx.rows(tx.q.forget_keys, older_than_ms)


async def count_queued(tx: Tx, owner: str, most: int) -> int:
    [row] = await tx.rows(tx.q.count_queued, owner, most)
    return int(row["n"])


def new_run(post: Post, agent: str, pos: int, parent: str | None, retried: Run | None = None) -> Run:
    """Return the queued run of a post, or the run that repeats `retried`."""
    return Run(
        id=post.run_id,
        owner=post.owner,
        face=post.face,
        lane_key=post.lane_key,
        pos=pos,
        agent=agent,
        status=Status.QUEUED,
        created_at=post.created_at,
        thread_id=retried.thread_id if retried else post.thread_id,
        trigger_message_id=retried.trigger_message_id if retried else _trigger(post),
        parent_id=parent,
        retry_of=retried.id if retried else None,
        last_seq=1,
        external_id=post.external_id,
        held=post.after_run is not None,
        after_run=post.after_run,
        depth=retried.depth if retried else post.depth,
        parent_run_id=post.parent_run_id,
        has_client_tools=post.has_client_tools,
    )


def _trigger(post: Post) -> str | None:
    return post.trigger_id if post.message is None else post.message.id


def not_found() -> RunyardError:
    return NotFound("There is no thread with that id.")
