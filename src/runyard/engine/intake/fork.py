"""The beginning of a run's log, up to any seq, as a run of its own in another thread: what a fork in the middle of a
run goes on from.

What a log says up to a seq never changes, so a copy of it is as true as the original, which is only read and need not
have ended. Calls that had finished by then are on record in the copy and are never made again. What was still under way
was not finished there: the copy ends as canceled, reason `forked`, and a conversation makes of it what it makes of any
run that was stopped.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.clock import Clock
from runyard.domain.append import END_OF
from runyard.domain.events import TERMINAL, Draft, Drafter, Event, Origin, RunCanceled, RunQueued
from runyard.domain.lane import finished
from runyard.domain.run import Run, Status, thread_lane
from runyard.domain.thread import Thread
from runyard.engine.running.run_task import ending
from runyard.errors import Invalid, NotFound
from runyard.ids import new_id
from runyard.store import Excerpt, Store

READ_EVENTS = 5000


async def excerpt(store: Store, clock: Clock, run: Run, seq: int, thread: Thread) -> Excerpt | None:
    """The log of `run` up to `seq`, as the first run of `thread`; None if only the end is missing: it needs no copy."""
    if not 1 <= seq <= run.last_seq:
        raise Invalid("There is no event with that seq yet.")
    events = await _read(store, run, seq + 1)
    if events[-1].type == TERMINAL:
        return None
    run_id, now, draft = new_id(), clock.now_ms(), Drafter(clock, "api")
    said = await store.get_messages([run.trigger_message_id] if run.trigger_message_id else [])
    copies = [replace(each, id=new_id(), thread_id=thread.id, run_id=run_id) for each in said.values()]
    message = copies[0] if copies else None
    copied = Run(
        id=run_id,
        owner=run.owner,
        face=run.face,
        lane_key=thread_lane(thread.id),
        pos=0,
        agent=run.agent,
        agent_version=run.agent_version,
        status=Status.QUEUED,
        created_at=now,
        thread_id=thread.id,
        trigger_message_id=None if message is None else message.id,
        parent_id=run.parent_id,
        depth=run.depth,
    )
    finish = END_OF["cancel"]
    drafts = [
        _begun(draft, events[0], copied, Origin(run.id, seq)),
        *(_as_it_was(event) for event in events[1:seq]),
        *ending(draft, RunCanceled("forked"), finish),
    ]
    return Excerpt(replace(finished(copied, finish, now), last_seq=len(drafts)), message, drafts)


async def _read(store: Store, run: Run, upto: int) -> Sequence[Event]:
    """The first events, one more than asked for if that is there already."""
    events: list[Event] = []
    while len(events) < min(upto, run.last_seq):
        more = await store.read(run.id, len(events), min(READ_EVENTS, upto - len(events)))
        if not more:
            raise NotFound("The run has been deleted.")
        events += more
    return events


def _begun(draft: Drafter, first: Event, run: Run, origin: Origin) -> Draft:
    task = first.payload.task if isinstance(first.payload, RunQueued) else None
    return replace(draft(RunQueued(run.agent, run.trigger_message_id, task, origin)), ts=first.ts)


def _as_it_was(event: Event) -> Draft:
    return Draft(new_id(), event.ts, event.type, event.data, event.name, event.fn, event.source)
