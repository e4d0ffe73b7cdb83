"""The conversations of the runs that a run descends from, as context for its model.

They are read from the logs of the ancestors along `parent_id`, `TOGETHER` runs at a time, so that the caller can stop
early. The runs of such a group, their short logs and their messages are one read each, however many they are.
"""

from collections.abc import AsyncIterator, Iterable
from itertools import accumulate
from typing import Any

import msgspec

from runyard.agents.execution import ForkedCopy
from runyard.domain.content.parts import model_content
from runyard.domain.conversations.thread import Message
from runyard.domain.runs.endings import FORKED
from runyard.domain.runs.run import Run, Status
from runyard.domain.state.conversation import messages
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import EarlierRun, Memory, Summary, last_summary
from runyard.engine.log.snapshots import Snapshots
from runyard.errors import NotFound
from runyard.store import RunStore, Store

TOGETHER = 20  # ancestors
MOST_RUNS = 1000  # that are read back if there is no summary; older ones are left out

_json = msgspec.json.Encoder().encode


def fitting(sizes: Iterable[int], most: int | None) -> int:
    """Return how many of the first sizes add up to at most `most`."""
    return sum(1 for total in accumulate(sizes) if most is None or total <= most)


async def earlier_conversations(
    store: Store, snapshots: Snapshots, run: Run, limit: int, most: int | None = None
) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the conversations of up to `limit` ancestors, newest first, of about `most` characters in total."""
    async for state, message in _ancestors(store, snapshots, run, limit):
        question = None if message is None else model_content(message.text, message.parts)
        conversation = messages(state, question)
        if most is not None:
            most -= len(_json(conversation))
            if most < 0:
                return
        yield conversation


async def runs_since_summary(
    store: Store, snapshots: Snapshots, run: Run, known: Summary | None, most: int | None = None
) -> Memory:
    """Return the newest summary on the branch of a run, and the ancestors that it does not cover.

    The walk ends at the place that the summary covers, so it does not grow with the conversation. `known` is a summary
    that the run itself made. Ancestors beyond `most` characters are marked."""
    summary, until = (None, MOST_RUNS) if known is None else (known.text, known.back)
    runs: list[EarlierRun] = []
    back = 1
    async for state, message in _ancestors(store, snapshots, run, MOST_RUNS - 1):
        if back >= until:
            break
        skipped = 0
        if summary is None and (found := last_summary(state)) is not None:
            summary, until, skipped = found.text, back + max(1, found.back), found.messages
        conversation = messages(state, None if message is None else message.text)[skipped:]
        if most is not None:
            most -= len(_json(conversation))
        runs.append(EarlierRun(back, conversation, most is not None and most < 0))
        back += 1
    return Memory(summary, runs)


async def _ancestors(
    store: Store, snapshots: Snapshots, run: Run, limit: int
) -> AsyncIterator[tuple[State, Message | None]]:
    """Yield the states of up to `limit` ancestors with the messages that caused them, newest first."""
    while limit > 0 and run.parent_id is not None:
        group = await store.ancestors(run.id, min(limit, TOGETHER))
        if not group:
            return  # deleted meanwhile
        causes = [each.trigger_message_id for each in group]
        said = await store.get_messages([cause for cause in causes if cause is not None])
        at = 0
        async for state in snapshots.states(group):
            yield state, said.get(causes[at] or "")
            at += 1
        run, limit = group[-1], limit - len(group)


async def forked_copy(store: Store, snapshots: Snapshots, run: Run) -> ForkedCopy | None:
    """Return the copy of a log that this run continues: as its retry, or with the first message after it."""
    retried = run.retry_of
    while retried is not None:
        earlier = await _find(store, run, retried)
        if earlier is not None and (state := await _copied_state(snapshots, run, earlier)) is not None:
            return ForkedCopy(state, is_continued=True)
        retried = None if earlier is None else earlier.retry_of
    parent = None if run.parent_id is None else await _find(store, run, run.parent_id)
    state = None if parent is None else await _copied_state(snapshots, run, parent)
    return None if state is None else ForkedCopy(state, is_continued=False)


async def _find(store: RunStore, run: Run, run_id: str) -> Run | None:
    try:
        return await store.get_run(run.owner, run_id)
    except NotFound:
        return None  # deleted meanwhile


async def _copied_state(snapshots: Snapshots, run: Run, earlier: Run) -> State | None:
    if earlier.status is not Status.CANCELED or earlier.agent != run.agent:
        return None
    state = await snapshots.state(earlier)
    return state if state.canceled == FORKED else None
