"""What was said before a run, for agents that think: the conversations of the runs it descends from.

Read from their logs, back along `parent_id` and never sideways, one at a time: whoever asks stops when it has enough.
"""

from collections.abc import AsyncIterator, Iterable
from itertools import accumulate
from typing import Any

import msgspec

from runyard.domain.conversation import messages
from runyard.domain.fold import State, fold
from runyard.domain.run import Run
from runyard.errors import NotFound
from runyard.store import Store

READ_EVENTS = 5000
_json = msgspec.json.Encoder().encode


def fitting(sizes: Iterable[int], most: int | None) -> int:
    """How many of these, from the first on, are no more than `most` together."""
    return sum(1 for total in accumulate(sizes) if most is None or total <= most)


async def past(store: Store, run: Run, limit: int, most: int | None = None) -> AsyncIterator[list[dict[str, Any]]]:
    """The conversations of up to `limit` ancestors of a run, the newest first, and of about `most` characters."""
    parent = run.parent_id
    if parent is None:
        return
    said = {message.id: message.text for message in await store.history(run.id, limit)}
    for _ in range(limit):
        try:
            ancestor = await store.get_run(run.owner, parent)
        except NotFound:
            return  # deleted meanwhile: what came before it is gone as well
        conversation = messages(await folded(store, ancestor), said.get(ancestor.trigger_message_id or ""))
        if most is not None:
            most -= len(_json(conversation))
            if most < 0:
                return
        yield conversation
        if ancestor.parent_id is None:
            return
        parent = ancestor.parent_id


async def folded(store: Store, run: Run) -> State:
    """A run's log, as far as the run is known to go."""
    state = State(agent=run.agent)
    while state.last_seq < run.last_seq:
        events = await store.read(run.id, state.last_seq, READ_EVENTS)
        if not events:
            break
        state = fold(events, state)
    return state
