"""Lists, reads and cancels tasks."""

from collections.abc import Sequence
from typing import Any

from runyard.domain.run import Run, Status
from runyard.domain.times import iso
from runyard.errors import NotFound
from runyard.faces.a2a import objects, wire
from runyard.faces.a2a.follow import Call, find, place_of, translated
from runyard.faces.a2a.objects import Shown
from runyard.faces.a2a.state import CANCELED, COMPLETED, FAILED, INPUT_REQUIRED, SUBMITTED, WORKING

CANCEL_PATIENCE = 5.0
READ_RUNS = 500
MOST_SCANNED = 1000  # runs that one request looks at for a page, and that it counts
ENDED = {COMPLETED: Status.DONE, FAILED: Status.ERROR, CANCELED: Status.CANCELED}


async def shown(call: Call, run: Run, history_length: int | None = None, *, with_artifacts: bool = True) -> Shown:
    """Return a task as it is now."""
    state = await translated(call.engine, run)
    return objects.task(state, await place_of(call, run), history_length, with_artifacts=with_artifacts)


async def get(call: Call, given: wire.GetTask) -> Shown:
    return await shown(call, await find(call, given.id), given.historyLength)


async def cancel(call: Call, given: wire.TaskName) -> Shown:
    run = await find(call, given.id)
    if not run.status.is_terminal:
        run = await call.engine.cancel(call.owner, run.id, CANCEL_PATIENCE)
        if run.status in (Status.CANCELED, Status.RUNNING):
            return await shown(call, run)
    raise wire.TaskNotCancelable


async def list_tasks(call: Call, given: wire.ListTasks) -> Shown:
    """Return the tasks of an agent, newest first; within a page, by the time of their status."""
    thread_id = None
    if given.contextId:
        try:
            thread_id = (await call.engine.views.named_thread(call.owner, given.contextId)).id
        except NotFound:
            return _page([], "", given, 0)
    runs, token = await _runs(call, given, thread_id, given.pageToken or None, given.pageSize)
    total = len(runs)
    if token or given.pageToken:
        total = len((await _runs(call, given, thread_id, None, MOST_SCANNED))[0])
    tasks = [await shown(call, run, given.historyLength, with_artifacts=given.includeArtifacts) for run in runs]
    tasks.sort(key=lambda task: str(task["status"]["timestamp"]), reverse=True)
    return _page(tasks, token, given, total)


def _page(tasks: list[Shown], token: str, given: wire.ListTasks, total: int) -> dict[str, Any]:
    return {"tasks": tasks, "nextPageToken": token, "pageSize": given.pageSize, "totalSize": total}


async def _runs(
    call: Call, given: wire.ListTasks, thread_id: str | None, before: str | None, most: int
) -> tuple[list[Run], str]:
    """Return matching runs before an id, and the id to go on with, or an empty text at the end."""
    found: list[Run] = []
    scanned = 0
    while scanned < MOST_SCANNED:
        rows = await _read(call, given, thread_id, before)
        for run in rows:
            before, scanned = run.id, scanned + 1
            if await _matches(call, run, given):
                found.append(run)
            if len(found) > most:
                return found[:most], found[most - 1].id
        if len(rows) < READ_RUNS:
            return found, ""
    return found, before or ""


async def _read(call: Call, given: wire.ListTasks, thread_id: str | None, before: str | None) -> Sequence[Run]:
    statuses: Sequence[Status | None] = [None]
    if given.status in ENDED:
        statuses = [ENDED[given.status]]
    elif given.status and given.status != "TASK_STATE_UNSPECIFIED":
        statuses = [Status.QUEUED, Status.RUNNING]  # the latter includes waiting runs
    rows = {
        run.id: run
        for status in statuses
        for run in await call.engine.views.runs(
            call.owner, before, READ_RUNS, status=status, agent=call.agent, thread_id=thread_id
        )
    }
    return [rows[run_id] for run_id in sorted(rows, reverse=True)[:READ_RUNS]]


async def _matches(call: Call, run: Run, given: wire.ListTasks) -> bool:
    wanted, after = given.status, given.after_ms
    if wanted and wanted != "TASK_STATE_UNSPECIFIED" and wanted not in ENDED and await _state(call, run) != wanted:
        return False
    if after is None or run.created_at >= after:
        return True
    if run.finished_at is not None:
        return run.finished_at >= after
    said: str = (await translated(call.engine, run)).status["timestamp"]
    return said >= (iso(after) or "")


async def _state(call: Call, run: Run) -> str:
    """Return the state of a task that has not ended, from its row: the log is read only for tasks that are shown."""
    if run.status is Status.QUEUED and run.started_at is None:
        return SUBMITTED
    is_asking = run.status is Status.WAITING and await call.engine.waits.open(call.owner, None, 1, run.id)
    return INPUT_REQUIRED if is_asking else WORKING
