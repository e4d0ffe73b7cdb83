"""Lists, reads and cancels tasks."""

from contextlib import suppress
from typing import Any

from runyard.base.ids import is_id
from runyard.domain.runs.run import Run, Status
from runyard.domain.times import from_iso
from runyard.errors import NotFound
from runyard.faces.a2a import objects, wire
from runyard.faces.a2a.follow import TRANSLATION, Call, find, place_of
from runyard.faces.a2a.objects import Shown
from runyard.faces.a2a.state import CANCELED, COMPLETED, FAILED, INPUT_REQUIRED, SUBMITTED, WORKING, State

CANCEL_PATIENCE = 5.0
MOST_COUNTED = 1000  # tasks that `totalSize` counts, and tasks under way that a list sorts
READ_RUNS = 500
UNSPECIFIED = "TASK_STATE_UNSPECIFIED"
Listed = tuple[int, str, Run]  # the time of its status, its id, the run
ENDED = {COMPLETED: Status.DONE, FAILED: Status.ERROR, CANCELED: Status.CANCELED}


async def shown(call: Call, run: Run, history_length: int | None = None, *, with_artifacts: bool = True) -> Shown:
    """Return a task as it is now."""
    state = await _readable(call, run)
    return objects.task(state, await place_of(call, run), history_length, with_artifacts=with_artifacts)


async def _readable(call: Call, run: Run) -> State:
    """Return what the run's log says. Raises TaskNotFound if the run was deleted since its row was read."""
    state = (await call.engine.views.fold(run, TRANSLATION)).state
    if "timestamp" not in state.status:
        raise wire.TaskNotFound
    return state


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
    """Return the tasks of an agent, by the time of their status, the latest first.

    Tasks that have ended are read in that order. Tasks under way are few: all of them are read and sorted."""
    thread_id: str | None = None
    if given.contextId:
        try:
            thread_id = (await call.engine.views.named_thread(call.owner, given.contextId)).id
        except NotFound:
            return _page([], "", given, 0)
    before = _position(given.pageToken)
    under_way = await _under_way(call, given, thread_id)
    ended = await _ended(call, given, thread_id, before, given.pageSize + 1)
    found = [each for each in under_way if before is None or each[:2] < before]
    found = list({each[1]: each for each in (*found, *ended)}.values())  # a task may have ended between the reads
    found.sort(key=lambda each: each[:2], reverse=True)
    page, rest = found[: given.pageSize], found[given.pageSize :]
    total = len(page)
    if rest or before is not None:
        total = min(len(under_way) + len(await _ended(call, given, thread_id, None, MOST_COUNTED)), MOST_COUNTED)
    tasks = []
    for *_, run in page:
        with suppress(NotFound):  # the run was deleted since the list was read
            tasks.append(await shown(call, run, given.historyLength, with_artifacts=given.includeArtifacts))
    tasks.sort(key=lambda task: str(task["status"]["timestamp"]), reverse=True)  # clocks may differ by milliseconds
    return _page(tasks, f"{page[-1][0]}.{page[-1][1]}" if rest else "", given, total)


def _page(tasks: list[Shown], token: str, given: wire.ListTasks, total: int) -> dict[str, Any]:
    return {"tasks": tasks, "nextPageToken": token, "pageSize": given.pageSize, "totalSize": total}


def _position(token: str | None) -> tuple[int, str] | None:
    """Return the time and the id of the last task of the page before."""
    if not token:
        return None
    time, _, run_id = token.partition(".")
    if not (time.isascii() and time.isdigit() and len(time) < 16 and is_id(run_id)):
        raise wire.UnknownPage
    return int(time), run_id


async def _ended(
    call: Call, given: wire.ListTasks, thread_id: str | None, before: tuple[int, str] | None, most: int
) -> list[Listed]:
    status = ENDED.get(given.status or "")
    if status is None and given.status and given.status != UNSPECIFIED:
        return []
    runs = await call.engine.views.ended_runs(
        call.owner, before, most, status=status, agent=call.agent, thread_id=thread_id
    )
    found = [(run.finished_at or 0, run.id, run) for run in runs]
    return [each for each in found if given.after_ms is None or each[0] >= given.after_ms]


async def _under_way(call: Call, given: wire.ListTasks, thread_id: str | None) -> list[Listed]:
    """Return the tasks that have not ended, with the times of their statuses."""
    if given.status in ENDED:
        return []
    found: list[Listed] = []
    for status in (Status.QUEUED, Status.RUNNING):  # the latter includes waiting runs
        runs = await _all_runs(call, status, thread_id)
        for run in runs:
            with suppress(NotFound):  # the run was deleted since the list was read
                if await _matches(call, run, given):
                    found.append((await _status_time(call, run), run.id, run))
    return [each for each in found if given.after_ms is None or each[0] >= given.after_ms]


async def _all_runs(call: Call, status: Status, thread_id: str | None) -> list[Run]:
    found: list[Run] = []
    while len(found) < MOST_COUNTED:
        before = found[-1].id if found else None
        rows = await call.engine.views.runs(
            call.owner, before, READ_RUNS, status=status, agent=call.agent, thread_id=thread_id
        )
        found += rows
        if len(rows) < READ_RUNS:
            break
    return found


async def _status_time(call: Call, run: Run) -> int:
    """Return when a task that has not ended got its status."""
    if run.status is Status.QUEUED and run.started_at is None:
        return run.created_at
    return from_iso((await _readable(call, run)).status["timestamp"])


async def _matches(call: Call, run: Run, given: wire.ListTasks) -> bool:
    wanted = given.status
    return not wanted or wanted == UNSPECIFIED or await _state(call, run) == wanted


async def _state(call: Call, run: Run) -> str:
    """Return the state of a task that has not ended, from its row: the log is read only for tasks that are shown."""
    if run.status is Status.QUEUED and run.started_at is None:
        return SUBMITTED
    is_asking = run.status is Status.WAITING and await call.engine.waits.open(call.owner, None, 1, run.id)
    return INPUT_REQUIRED if is_asking else WORKING
