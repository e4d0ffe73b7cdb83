"""Copies the beginning of a run's log, up to any seq, into the first run of another thread: a fork in mid-run.

Events that are in a log never change, so the original is only read and need not have ended. Calls that had finished by
that seq are on record in the copy and are not made again. The copy ends as canceled with the reason `forked`, so calls
that were still in progress count as interrupted, as in any canceled run.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from runyard.base.clock import Clock
from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Thread
from runyard.domain.events import TERMINAL, Draft, Drafter, Event, Origin, RunCanceled, RunQueued
from runyard.domain.runs.append import END_OF
from runyard.domain.runs.endings import FORKED, end_events
from runyard.domain.runs.lane import finished
from runyard.domain.runs.run import Run, Status, thread_lane
from runyard.errors import Invalid, NotFound
from runyard.store import LogCopy, LogStore, Store

READ_EVENTS = 5000


async def copy_beginning(store: Store, clock: Clock, run: Run, seq: int, thread: Thread) -> LogCopy | None:
    """Copy the log of `run` up to `seq` as the first run of `thread`. Return None if only the terminal event is left
    out: then the fork needs no copy."""
    if not 1 <= seq <= run.last_seq:
        raise Invalid(f"The run has no event with that seq. Its last seq is {run.last_seq}.")
    events = await _read(store, run, seq + 1)
    if events[-1].type == TERMINAL:
        return None
    run_id, now, draft = new_id(), clock.now_ms(), Drafter(clock, "api")
    triggers = await store.get_messages([run.trigger_message_id] if run.trigger_message_id else [])
    copies = [replace(each, id=new_id(), thread_id=thread.id, run_id=run_id) for each in triggers.values()]
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
        _first_event(draft, events[0], copied, Origin(run.id, seq)),
        *(_copy(event) for event in events[1:seq]),
        *end_events(draft, RunCanceled(FORKED), finish),
    ]
    return LogCopy(replace(finished(copied, finish, now), last_seq=len(drafts)), message, drafts)


async def _read(store: LogStore, run: Run, upto: int) -> Sequence[Event]:
    """Read the events up to the seq `upto`, or fewer if the log is shorter."""
    events: list[Event] = []
    while len(events) < min(upto, run.last_seq):
        more = await store.read(run.id, len(events), min(READ_EVENTS, upto - len(events)))
        if not more:
            raise NotFound("The run has been deleted.")
        events += more
    return events


def _first_event(draft: Drafter, first: Event, run: Run, origin: Origin) -> Draft:
    asked = first.payload if isinstance(first.payload, RunQueued) else RunQueued(run.agent)
    copied = RunQueued(
        run.agent, run.trigger_message_id, asked.task, origin, client_tools=asked.client_tools, options=asked.options
    )
    return replace(draft(copied), ts=first.ts)


def _copy(event: Event) -> Draft:
    return Draft(new_id(), event.ts, event.type, event.data, event.name, event.fn, event.source)
