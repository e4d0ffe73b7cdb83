"""The conversations of the runs that a run descends from, as context for its model.

They are read from the logs of the ancestors along `parent_id`, one at a time, so that the caller can stop early.
"""

from collections.abc import AsyncIterator, Iterable
from itertools import accumulate
from typing import Any

import msgspec

from runyard.domain.content import model_content
from runyard.domain.conversation import messages
from runyard.domain.run import Run
from runyard.engine.log.snapshots import Snapshots
from runyard.errors import NotFound
from runyard.store import Store

_json = msgspec.json.Encoder().encode


def fitting(sizes: Iterable[int], most: int | None) -> int:
    """Return how many of the first sizes add up to at most `most`."""
    return sum(1 for total in accumulate(sizes) if most is None or total <= most)


async def earlier_conversations(
    store: Store, snapshots: Snapshots, run: Run, limit: int, most: int | None = None
) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the conversations of up to `limit` ancestors, newest first, of about `most` characters in total."""
    parent = run.parent_id
    if parent is None:
        return
    history = await store.history(run.id, limit)
    contents = {message.id: model_content(message.text, message.parts) for message in history}
    for _ in range(limit):
        try:
            ancestor = await store.get_run(run.owner, parent)
        except NotFound:
            return  # deleted meanwhile, and its ancestors with it
        conversation = messages(await snapshots.state(ancestor), contents.get(ancestor.trigger_message_id or ""))
        if most is not None:
            most -= len(_json(conversation))
            if most < 0:
                return
        yield conversation
        if ancestor.parent_id is None:
            return
        parent = ancestor.parent_id
