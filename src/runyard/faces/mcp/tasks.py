"""The tasks extension of MCP: a task is a run, also one that another client started. Its id is the run's."""

from collections.abc import Mapping
from typing import Any

from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.errors import Gone, NotFound
from runyard.faces.mcp import files, objects, wire
from runyard.faces.mcp.follow import TRANSLATION
from runyard.faces.mcp.objects import Shown
from runyard.faces.mcp.start import MOST_WAITS, Caller, answer_wait
from runyard.faces.mcp.wire import ProtocolError

NO_TASK = "There is no task with that id."
NEEDED: dict[str, Any] = {"requiredCapabilities": {"extensions": {wire.TASKS: {}}}}


async def created(engine: Engine, owner: str, run_id: str) -> Shown:
    """Return the task of a new run."""
    run = await engine.views.run(owner, run_id)
    found = objects.task((await engine.views.fold(run, TRANSLATION)).state, run.created_at, asks=False)
    begin = {name: found[name] for name in ("taskId", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs")}
    return objects.complete(**begin, status="working") | {"resultType": "task"}


async def get(engine: Engine, caller: Caller, params: Mapping[str, Any]) -> Shown:
    run = await _run(engine, caller, params)
    state = (await engine.views.fold(run, TRANSLATION)).state
    loaded = await files.load(engine, caller.owner, state.files)
    return objects.complete(**objects.task(state, run.created_at, caller.client.asks, loaded))


async def update(engine: Engine, caller: Caller, params: Mapping[str, Any]) -> Shown:
    """Record answers. Keys of other waits, and of waits that were answered before, are ignored."""
    run, answers = await _run(engine, caller, params), params.get("inputResponses")
    if not isinstance(answers, dict):
        raise ProtocolError(wire.INVALID_PARAMS, "`inputResponses` must be an object.")
    waits = {wait.id: wait for wait in await engine.waits.open(caller.owner, None, MOST_WAITS, run.id)}
    for wait_id, answer in answers.items():
        if wait_id in waits:
            await answer_wait(engine, caller, waits[wait_id], answer)
    return objects.complete()


async def cancel(engine: Engine, caller: Caller, params: Mapping[str, Any]) -> Shown:
    """Ask for the end of a run. One that has ended stays as it is."""
    run = await _run(engine, caller, params)
    if not run.status.is_terminal:
        await engine.cancel(caller.owner, run.id)
    return objects.complete()


async def _run(engine: Engine, caller: Caller, params: Mapping[str, Any]) -> Run:
    if not caller.client.tasks:
        raise ProtocolError(wire.MISSING_CAPABILITY, f"Declare the extension {wire.TASKS} with each request.", NEEDED)
    task_id = params.get("taskId")
    if not isinstance(task_id, str):
        raise ProtocolError(wire.INVALID_PARAMS, "`taskId` must be a text.")
    try:
        return await engine.views.run(caller.owner, task_id)
    except (NotFound, Gone):
        raise ProtocolError(wire.INVALID_PARAMS, NO_TASK) from None
