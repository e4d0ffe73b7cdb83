"""Accept messages for chats in one statement, the hot path of intake on Postgres.

The script `transactions.queue.intake.accept` is the specification. This statement writes the same rows for a group of
plain posts, or nothing: then the script accepts them, and says what is wrong with which post.
"""

from collections.abc import Sequence

from runyard.base.ids import made_at
from runyard.domain.events import Draft, place
from runyard.domain.runs.lane import claimed
from runyard.domain.runs.publication import is_dated
from runyard.domain.runs.run import Run, thread_lane
from runyard.store import Accepted, Claim, Post, Room
from runyard.stores import rows as _rows
from runyard.stores.postgres.arrays import columns
from runyard.stores.transactions.queue import intake


class PlainPosts:
    """A group of plain posts with what the statement `accept` needs. `of` returns None for other groups."""

    def __init__(self, posts: Sequence[Post], room: Room | None) -> None:
        self._posts = posts
        self._room = room
        self._agents = [post.agent or post.default_agent for post in posts]
        self._drafts = [post.queued(agent) for post, agent in zip(posts, self._agents, strict=True)]

    @classmethod
    def of(cls, posts: Sequence[Post], room: Room | None) -> "PlainPosts | None":
        """Return the group if every post is plain and has its own lane, and the worker has room for all of them."""
        if not all(map(_is_plain, posts)) or len({post.lane_key for post in posts}) < len(posts):
            return None
        if len({post.most_queued for post in posts}) != 1 or (room is not None and 0 < room.places < len(posts)):
            return None
        return cls(posts, room)

    def values(self) -> list[object]:
        """Return the parameters of the statement."""
        rows = [self._row(*each) for each in zip(self._posts, self._agents, self._drafts, strict=True)]
        newest = max(made_at(post.run_id) for post in self._posts)
        worker_id = None if self._room is None else self._room.worker_id
        return [*columns(rows), worker_id, self._posts[0].most_queued, newest - intake.CLOCK_TOLERANCE_MS]

    def _row(self, post: Post, agent: str, draft: Draft) -> tuple[object, ...]:
        room = self._room
        assert post.message is not None
        message_id, _, _, role, text, sources, _, parts = _rows.message_values(post.message)
        return (
            post.run_id,
            post.owner,
            post.face,
            post.lane_key,
            agent,
            room.versions.get(agent) if room else None,
            post.thread_id,
            post.created_at,
            post.has_client_tools,
            post.agent is not None,
            room is not None and room.places > 0 and room.allows(agent),
            draft.id,
            draft.ts,
            draft.source,
            draft.data,
            message_id,
            role,
            text,
            sources,
            parts,
        )

    def results(self, written: Sequence[_rows.Row]) -> list[Accepted]:
        """Return the result of each post, from the rows that the statement returned."""
        results = {int(row["no"]): self._accepted(int(row["no"]) - 1, row) for row in written}
        return [results[no] for no in range(1, len(self._posts) + 1)]

    def _accepted(self, n: int, row: _rows.Row) -> Accepted:
        post, room = self._posts[n], self._room
        run: Run = intake.new_run(post, self._agents[n], row["pos"], _rows.text_id(row["parent_id"]))
        claim = None
        if row["started"] and room is not None:
            run = claimed(run, room.worker_id, room.versions.get(run.agent), row["now"])
            claim = Claim(run, post.message)
        first = place(run.id, 1, [self._drafts[n]])[0]
        return Accepted(run.id, first, claim=claim, thread_id=run.thread_id)


def _is_plain(post: Post) -> bool:
    """Return whether a post is a new message for a chat and nothing more."""
    message = post.message
    if message is None or post.thread_id is None or post.lane_key != thread_lane(post.thread_id):
        return False
    if (message.thread_id, message.run_id, message.created_at) != (post.thread_id, post.run_id, post.created_at):
        return False
    more = post.thread, post.external_id, post.key, post.after_run, post.parent_run_id, post.push
    return not any(more) and not post.files and post.depth == 0 and not is_dated(intake.new_run(post, "", 0, None))
