"""Threads and their states as LangGraph's API shows them.

A thread has one state for each run on its branch: the state after that run, or now. The id of its checkpoint is the id
of the run. The state before the first run has the id of the thread.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import Run, Status
from runyard.domain.times import iso
from runyard.engine.engine import Engine
from runyard.errors import Gone, NotFound
from runyard.faces.langgraph import objects, wire
from runyard.faces.langgraph.follow import MOST_RUNS, TRANSLATION, earlier_messages
from runyard.faces.langgraph.objects import Shown
from runyard.faces.langgraph.start import NO_CHECKPOINT, before, find_thread, shown_id
from runyard.faces.langgraph.state import State
from runyard.faces.langgraph.thread_stream import step_of

PAGE, MOST_PAGES = 100, 50
# The filter for the runs that may have a part with this status. An interrupted part may belong to any run.
FILTERS: Mapping[str | None, Mapping[str, Any]] = {
    None: {},
    "interrupted": {},
    "pending": {"status": Status.QUEUED},
    "running": {"status": Status.RUNNING},
    "success": {"status": Status.DONE},
    "error": {"status": Status.ERROR},
    "timeout": {"status": Status.ERROR, "error": "timeout"},
}
RUN_STATUS = {Status.QUEUED: "pending", Status.DONE: "success", Status.ERROR: "error", Status.CANCELED: "interrupted"}


async def last_run(engine: Engine, thread: Thread) -> Run | None:
    """Return the last run of a thread, or None if it has none or the retention policy deleted it."""
    try:
        return None if thread.head_run_id is None else await engine.views.run(thread.owner, thread.head_run_id)
    except (NotFound, Gone):
        return None


# --- runs


def run_status(run: Run, part: int, state: State | None) -> str:
    """Return the status of a part. `state` is None for a run that never waited."""
    if state is not None and part <= len(state.ended):
        return state.ended[part - 1]
    if run.status is Status.ERROR and run.error_code == "timeout":
        return "timeout"
    return RUN_STATUS.get(run.status, "running")


async def shown_run(engine: Engine, thread: str, run: Run, part: int) -> Shown:
    state = (await engine.views.fold(run, TRANSLATION)).state if run.asked or run.has_client_tools else None
    return _run(thread, run, part, state)


async def shown_parts(engine: Engine, thread: str, run: Run) -> list[Shown]:
    """Return the parts of a run, the newest first."""
    state = (await engine.views.fold(run, TRANSLATION)).state if run.asked or run.has_client_tools else None
    parts = 1 if state is None else max(1, state.part)
    return [_run(thread, run, part, state) for part in range(parts, 0, -1)]


async def list_parts(engine: Engine, thread: Thread, status: str | None, end: int) -> list[Shown]:
    """Return the parts of a thread's runs that have a status, the newest first, until there are `end` of them.
    At most `PAGE * MOST_PAGES` runs are read."""
    found: list[Shown] = []
    where = FILTERS.get(status)
    if where is None:  # no run has this status
        return found
    last = None
    for _ in range(MOST_PAGES):
        page = await engine.views.runs(thread.owner, last, PAGE, thread_id=thread.id, **where)
        for run in page:
            parts = await shown_parts(engine, shown_id(thread), run)
            found += [part for part in parts if status in (None, part["status"])]
            if len(found) >= end:
                return found
        if len(page) < PAGE:
            break
        last = page[-1].id
    return found


def _run(thread: str, run: Run, part: int, state: State | None) -> Shown:
    echo: Mapping[str, Any] = {} if state is None else state.echo
    return {
        "run_id": objects.shown_run_id(run.id, part),
        "thread_id": thread,
        "assistant_id": run.agent,
        "created_at": iso(run.created_at),
        "updated_at": iso(run.finished_at or run.started_at or run.created_at),
        "status": run_status(run, part, state),
        "metadata": echo.get("metadata") or {},
        "multitask_strategy": echo.get("multitask_strategy") or "enqueue",
        "kwargs": {},
    }


# --- threads


def metadata_of(thread: Thread, run: Run | None) -> Shown:
    """Return the metadata of a thread: what its client stored, and its agent."""
    agent = thread.agent or (None if run is None else run.agent)
    found: Shown = {} if agent is None else {"graph_id": agent, "assistant_id": agent}
    return {**found, **(msgspec.json.decode(thread.metadata) if thread.metadata else {})}


async def thread_status(engine: Engine, run: Run | None) -> str:
    if run is None or run.status in (Status.DONE, Status.CANCELED):
        return "idle"
    if run.status is Status.ERROR:
        return "error"
    is_waiting = run.status is Status.WAITING and not (await engine.views.fold(run, TRANSLATION)).state.is_open
    return "interrupted" if is_waiting else "busy"


async def shown_thread(engine: Engine, thread: Thread, select: Sequence[str] | None = None) -> Shown:
    run = await last_run(engine, thread)
    found: Shown = {
        "thread_id": shown_id(thread),
        "created_at": iso(thread.created_at),
        "updated_at": iso(_changed(thread, run)),
        "metadata": metadata_of(thread, run),
        "config": {},
        "status": await thread_status(engine, run),
        "values": None,
        "interrupts": {},
    }
    if run is not None and (select is None or {"values", "interrupts"} & set(select)):
        state = await state_after(engine, thread, run)
        found["values"] = state["values"]
        found["interrupts"] = {task["id"]: task["interrupts"] for task in state["tasks"] if task["interrupts"]}
    return found if select is None else {name: found[name] for name in select if name in found}


def _changed(thread: Thread, run: Run | None) -> int:
    return thread.created_at if run is None else run.finished_at or run.started_at or run.created_at


async def count(engine: Engine, owner: str, wanted: wire.ThreadCount) -> int:
    """Return how many threads fit. It reads all threads."""
    return len([thread async for thread in _candidates(engine, owner, None) if await _fits(engine, thread, wanted)])


async def search(engine: Engine, owner: str, wanted: wire.ThreadSearch) -> list[Shown]:
    """Return the threads that fit, the newest first. Another order reads all threads."""
    found: list[Thread] = []
    first, is_ascending = wanted.offset, wanted.sort_order == "asc"
    is_created = wanted.sort_by in (None, "thread_id", "created_at")
    end = first + min(wanted.limit, wire.MOST_ROWS)
    async for thread in _candidates(engine, owner, wanted.ids):
        if await _fits(engine, thread, wanted):
            found.append(thread)
        if len(found) == end and is_created and not is_ascending:
            break
    if not is_created:
        keys = [await _sort_key(engine, thread, wanted.sort_by) for thread in found]
        found = [thread for _, thread in sorted(zip(keys, found, strict=True), key=lambda each: each[0], reverse=True)]
    page = (found[::-1] if is_ascending else found)[first:end]
    return [await shown_thread(engine, thread, wanted.select) for thread in page]


async def _sort_key(engine: Engine, thread: Thread, by: str | None) -> tuple[Any, str]:
    run = await last_run(engine, thread)
    return (await thread_status(engine, run) if by == "status" else _changed(thread, run)), thread.id


async def _candidates(engine: Engine, owner: str, ids: Sequence[str] | None) -> Any:
    if ids is not None:
        for given in ids:
            try:
                yield await find_thread(engine, owner, given)
            except NotFound:
                continue
        return
    before: str | None = None
    while page := await engine.views.threads(owner, before, PAGE):
        for thread in page:
            yield thread
        before = page[-1].id


async def _fits(engine: Engine, thread: Thread, wanted: wire.ThreadCount) -> bool:
    if not wanted.metadata and not wanted.values and wanted.status is None:
        return True
    run = await last_run(engine, thread)
    if not _has(metadata_of(thread, run), wanted.metadata):
        return False
    if wanted.status is not None and wanted.status != await thread_status(engine, run):
        return False
    if not wanted.values or run is None:
        return not wanted.values
    return _has((await engine.views.fold(run, TRANSLATION)).values(), wanted.values)


def _has(values: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(values.get(name) == value for name, value in (wanted or {}).items())


async def has_metadata(engine: Engine, run: Run, wanted: Mapping[str, Any] | None) -> bool:
    """Return whether the metadata of a run has these values."""
    return not wanted or _has((await engine.views.fold(run, TRANSLATION)).state.echo.get("metadata") or {}, wanted)


# --- states


async def state_after(engine: Engine, thread: Thread, run: Run) -> Shown:
    """Return the state of a thread after a run, or at its present place."""
    translation = await engine.views.fold(run, TRANSLATION)
    state, values = translation.state, translation.values()
    values["messages"] = [*await earlier_messages(engine, run, state), *values["messages"]]
    interrupts = translation.interrupts() if not state.is_open else []
    task = {
        "id": run.id,
        "name": run.agent,
        "path": ["__pregel_pull", run.agent],
        "error": None if state.error is None else state.error.message,
        "interrupts": interrupts,
        "checkpoint": None,
        "state": None,
        "result": None,
    }
    is_over = run.status.is_terminal
    return {
        "values": values,
        "next": [] if is_over else [run.agent],
        "tasks": [] if is_over and state.error is None else [task],
        "metadata": {
            "source": "loop",
            "step": step_of(thread, run, state),
            "run_id": run.id,
            "thread_id": shown_id(thread),
        },
        "created_at": iso(run.finished_at or run.started_at or run.created_at),
        "checkpoint": checkpoint_of(thread, run.id),
        "parent_checkpoint": checkpoint_of(thread, before(run)),
        "interrupts": interrupts,
        "checkpoint_id": run.id,
        "parent_checkpoint_id": before(run),
    }


def checkpoint_of(thread: Thread, run_id: str) -> Shown:
    return {"thread_id": shown_id(thread), "checkpoint_ns": "", "checkpoint_id": run_id, "checkpoint_map": None}


def empty_state(thread: Thread) -> Shown:
    """Return the state of a thread without a run."""
    return {
        "values": {"messages": []},
        "next": [],
        "tasks": [],
        "metadata": {},
        "created_at": iso(thread.created_at),
        "checkpoint": {**checkpoint_of(thread, ""), "checkpoint_id": None},
        "parent_checkpoint": None,
        "interrupts": [],
    }


async def branch(engine: Engine, thread: Thread, until: str | None, limit: int) -> list[Run]:
    """Return the runs of a thread's branch before a checkpoint, the newest first."""
    found: list[Run] = []
    run, is_after = await last_run(engine, thread), until is not None
    for _ in range(MOST_RUNS):
        if run is None or len(found) == limit:
            break
        if not is_after:
            found.append(run)
        is_after = is_after and run.id != until
        try:
            run = None if run.parent_id is None else await engine.views.run(thread.owner, run.parent_id)
        except (NotFound, Gone):
            break
    return found


async def state_at(engine: Engine, thread: Thread, checkpoint_id: str | None) -> Shown:
    """Return the state at a checkpoint, or the present one."""
    if checkpoint_id is None:
        run = await last_run(engine, thread)
        return empty_state(thread) if run is None else await state_after(engine, thread, run)
    known = objects.parsed_run_id(checkpoint_id)
    try:
        run = await engine.views.run(thread.owner, known[0]) if known is not None else None
    except NotFound:
        run = None
    if run is None or run.thread_id != thread.id:
        raise NotFound(NO_CHECKPOINT)
    return await state_after(engine, thread, run)
