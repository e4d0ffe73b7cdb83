"""The routes of runs for LangGraph's SDKs. `thread_routes.py` has those of threads and assistants, `commands.py` those
of the thread stream.

A client that disconnects changes nothing: the run continues. With `on_disconnect: cancel` it is canceled instead. The
address in `Location` follows it again.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import Run, Status
from runyard.engine.engine import Engine
from runyard.errors import BadRequest, NotFound
from runyard.faces.langgraph import commands, objects, thread_routes, wire
from runyard.faces.langgraph import errors as errors
from runyard.faces.langgraph.follow import (
    START,
    TRANSLATION,
    Encoder,
    Load,
    PartStream,
    Started,
    ValuesEncoder,
    ValuesResponse,
    earlier_messages,
    stream_headers,
)
from runyard.faces.langgraph.start import FACE, PATIENCE, ParsedRequest, find_thread, shown_id, start
from runyard.faces.langgraph.threads import list_parts, shown_run
from runyard.web.auth import Owner, check_scope, owner_of
from runyard.web.body import read
from runyard.web.context import EngineDep, context_of, engine_of
from runyard.web.responses import Json, Key, key_of
from runyard.web.routing import Router

SHORT_PATIENCE = 1.0  # a client that looks at the run next finds it canceled
RUNS = "/langgraph/runs"
THREAD_RUNS = "/langgraph/threads/{thread_id}/runs"
RUN = f"{THREAD_RUNS}/{{run_id}}"
MOST_RUNS = 1000
NO_ROLLBACK = "This server deletes no runs, so it cannot roll back. Use the action `interrupt`."
CANCELED_BY_STATUS = {"pending": Status.QUEUED, "running": Status.RUNNING}
NO_RUN = "The thread has no run with that id."
POSITION = "Last-Event-ID is the id of an event of this stream, or -1 for the beginning."


def _parameter(name: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


MODES = _parameter("stream_mode", type="array", items={"type": "string"})
LAST_EVENT = {"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}}
CANCELS = _parameter("cancel_on_disconnect", type="string")
STREAM_PARAMETERS = (LAST_EVENT, MODES, CANCELS)
LIST_PARAMETERS = (
    _parameter("limit", type="integer"),
    _parameter("offset", type="integer"),
    _parameter("status", type="string"),
    _parameter("select", type="array", items={"type": "string"}),
)

Batch = Annotated[list[wire.NewRun], Field(min_length=1, max_length=wire.MOST_ROWS)]
router = Router(FACE, is_open=True)


# --- new runs


@router.fast("POST", f"{THREAD_RUNS}/stream", is_stream=True, body=wire.NewRun, statuses=(415,))
async def stream_run(request: Request) -> Response:
    """Start or resume a run in a thread, and follow it."""
    body, started = await _started(request)
    return await _stream(request, started, body.modes, cancels=body.on_disconnect == "cancel")


@router.fast("POST", f"{RUNS}/stream", is_stream=True, body=wire.NewRun, statuses=(415,))
async def stream_alone(request: Request) -> Response:
    """Start a run in a new thread, and follow it."""
    return await stream_run(request)


@router.fast("POST", f"{THREAD_RUNS}/wait", is_stream=True, or_json=True, body=wire.NewRun, statuses=(415,))
async def wait_run(request: Request) -> Response:
    """Start or resume a run in a thread, and wait for its values."""
    body, started = await _started(request)
    return await _values(request, started, cancels=body.on_disconnect == "cancel")


@router.fast("POST", f"{RUNS}/wait", is_stream=True, or_json=True, body=wire.NewRun, statuses=(415,))
async def wait_alone(request: Request) -> Response:
    """Start a run in a new thread, and wait for its values."""
    return await wait_run(request)


@router.fast("POST", THREAD_RUNS, body=wire.NewRun, statuses=(415,))
async def create_run(request: Request) -> Response:
    """Start or resume a run in a thread."""
    _, started = await _started(request)
    engine = engine_of(request)
    run = await engine.views.run(await owner_of(request), started.run_id)
    return Json(await shown_run(engine, started.thread, run, started.part), headers=started.headers("stream"))


@router.fast("POST", RUNS, body=wire.NewRun, statuses=(415,))
async def create_alone(request: Request) -> Response:
    """Start a run in a new thread."""
    return await create_run(request)


@router.post(f"{RUNS}/batch", responses={415: {}})
async def create_batch(engine: EngineDep, owner: Owner, request: Request, body: Batch, key: Key = None) -> Response:
    """Start runs, each in a new thread."""
    made: list[dict[str, Any]] = []
    for n, each in enumerate(body):
        wanted = ParsedRequest(owner, None, each, key and f"{key} {n}", lambda scope: check_scope(request, scope))
        started = await start(engine, wanted)
        run = await engine.views.run(owner, started.run_id)
        made.append(await shown_run(engine, started.thread, run, started.part))
    return Json(made)


@router.post(f"{RUNS}/cancel", status_code=204)
async def cancel_runs(
    engine: EngineDep,
    owner: Owner,
    body: wire.RunsToCancel,
    action: Literal["interrupt", "rollback"] = "interrupt",
) -> Response:
    """Cancel runs of a thread, or all runs with a status."""
    if action == "rollback":
        raise wire.Unsupported(NO_ROLLBACK)
    for run_id in await _to_cancel(engine, owner, body):
        await engine.cancel(owner, run_id, 0)
    return Response(status_code=204)


async def _to_cancel(engine: Engine, owner: str, body: wire.RunsToCancel) -> list[str]:
    if body.run_ids is None:
        if body.status is None:
            raise BadRequest("Send `thread_id` and `run_ids`, or `status`.")
        wanted = (Status.QUEUED, Status.RUNNING) if body.status == "all" else (CANCELED_BY_STATUS[body.status],)
        found = [run for each in wanted for run in await engine.views.runs(owner, None, MOST_RUNS, status=each)]
        return [run.id for run in found if run.thread_id is not None]
    thread = None if body.thread_id is None else await find_thread(engine, owner, body.thread_id)
    runs = [await _run(engine, owner, run_id) for run_id in body.run_ids]
    if any(run.thread_id is None or thread is None or run.thread_id != thread.id for run, _ in runs):
        raise NotFound(NO_RUN)
    return [run.id for run, _ in runs]


async def _started(request: Request) -> tuple[wire.NewRun, Started]:
    body = await read(request, wire.NewRun)
    wanted = ParsedRequest(
        await owner_of(request),
        request.path_params.get("thread_id"),
        body,
        key_of(request),
        lambda scope: check_scope(request, scope),
    )
    return body, await start(engine_of(request), wanted)


# --- existing runs


@router.fast("GET", THREAD_RUNS, parameters=LIST_PARAMETERS)
async def list_runs(request: Request) -> Response:
    """List the runs of a thread, the newest first."""
    query = request.query_params
    limit = min(wire.MOST_ROWS, _number(query.get("limit"), "limit", 10))
    offset = _number(query.get("offset"), "offset", 0)
    found = await list_parts(engine_of(request), await _thread(request), query.get("status"), offset + limit)
    page = found[offset : offset + limit]
    if select := query.getlist("select"):
        page = [{name: each[name] for name in select if name in each} for each in page]
    return Json(page)


@router.fast("GET", RUN, parameters=())
async def get_run(request: Request) -> Response:
    """Get a run."""
    run, part = await _named(request)
    return Json(await shown_run(engine_of(request), part.thread, run, part.part))


@router.post(f"{RUN}/cancel", status_code=202)
async def cancel_run(
    request: Request,
    thread_id: str,
    run_id: str,
    wait: bool = False,
    action: Literal["interrupt", "rollback"] = "interrupt",
) -> Response:
    """Cancel a run. `wait`: answer when it has ended, or after 5 seconds, otherwise after one at most. The action
    `rollback` is refused."""
    if action == "rollback":
        raise wire.Unsupported(NO_ROLLBACK)
    run, part = await _named(request)
    engine = engine_of(request)
    await engine.cancel(run.owner, run.id, PATIENCE if wait else SHORT_PATIENCE)
    run = await engine.views.run(run.owner, run.id)
    return Json(await shown_run(engine, part.thread, run, part.part), status_code=202)


@router.fast("GET", f"{RUN}/join", is_stream=True, or_json=True, parameters=(CANCELS,))
async def join_run(request: Request) -> Response:
    """Wait for the values of a run."""
    _, part = await _named(request)
    return await _values(request, part, cancels=_cancels(request))


@router.fast("GET", f"{RUN}/stream", is_stream=True, parameters=STREAM_PARAMETERS)
async def join_stream(request: Request) -> Response:
    """Follow a run, after the event `Last-Event-ID`."""
    run, part = await _named(request)
    modes = _modes(request) or (await engine_of(request).views.fold(run, TRANSLATION)).state.echo.get("stream_mode")
    return await _stream(request, part, modes or wire.MODES, cancels=_cancels(request))


@router.fast("GET", f"{RUNS}/{{run_id}}/stream", is_stream=True, parameters=STREAM_PARAMETERS)
async def join_alone(request: Request) -> Response:
    """Follow a run that the client started without a thread."""
    return await join_stream(request)


# --- responses


async def _stream(request: Request, part: Started, modes: Any, *, cancels: bool) -> Response:
    context, owner = context_of(request), await owner_of(request)
    encoder = Encoder(part, modes, _position(request))
    on_gone = _cancel(context.engine, owner, part) if cancels else None
    load = _load(context.engine, owner, part)
    return PartStream(context, part, encoder, stream_headers(part, modes), load, on_gone)


async def _values(request: Request, part: Started, *, cancels: bool) -> Response:
    context, owner = context_of(request), await owner_of(request)
    on_gone = _cancel(context.engine, owner, part) if cancels else None
    load = _load(context.engine, owner, part)
    return ValuesResponse(context, part, ValuesEncoder(part), part.headers("join"), load, on_gone)


def _load(engine: Engine, owner: str, part: Started) -> Load:
    async def load(state: Any) -> list[dict[str, Any]]:
        return await earlier_messages(engine, await engine.views.run(owner, part.run_id), state)

    return load


def _cancel(engine: Engine, owner: str, part: Started) -> Callable[[], Awaitable[Any]]:
    return partial(engine.cancel, owner, part.run_id)


# --- requests


async def _thread(request: Request) -> Thread:
    return await find_thread(engine_of(request), await owner_of(request), request.path_params["thread_id"])


async def _named(request: Request) -> tuple[Run, Started]:
    """Return the run in the path, and which part of it."""
    engine, owner = engine_of(request), await owner_of(request)
    thread = await _thread(request) if "thread_id" in request.path_params else None
    run, part = await _run(engine, owner, request.path_params["run_id"])
    if run.thread_id is None or (thread is not None and run.thread_id != thread.id):
        raise NotFound(NO_RUN)
    if part > 1 and part > (await engine.views.fold(run, TRANSLATION)).state.part + 1:
        raise NotFound(NO_RUN)
    thread = thread or await engine.views.thread(owner, run.thread_id)
    return run, Started(shown_id(thread), run.id, part)


async def _run(engine: Engine, owner: str, given: str) -> tuple[Run, int]:
    """Return the run and the part that an id names."""
    found = objects.parsed_run_id(given)
    if found is None:
        raise NotFound(NO_RUN)
    try:
        return await engine.views.run(owner, found[0]), found[1]
    except NotFound:
        raise NotFound(NO_RUN) from None


def _modes(request: Request) -> tuple[str, ...]:
    """Return the modes in the query: repeated, or as one JSON array from older clients."""
    found: list[Any] = []
    for given in request.query_params.getlist("stream_mode"):
        if not given.startswith("["):
            found += [given] if given else []  # the client for Python sends an empty value if it wants no mode
            continue
        try:
            found += msgspec.json.decode(given.encode(), type=list[str])
        except msgspec.MsgspecError:
            raise BadRequest("`stream_mode` is a mode or a JSON array of modes.") from None
    if unknown := [mode for mode in found if mode not in wire.MODES]:
        known = ", ".join(wire.MODES)
        raise wire.Unsupported(f"This server does not have {len(unknown)} of these modes. It has: {known}.")
    return tuple(dict.fromkeys(found))


def _cancels(request: Request) -> bool:
    return request.query_params.get("cancel_on_disconnect", "").lower() in ("1", "true")


def _position(request: Request) -> tuple[int, int]:
    given = request.headers.get("last-event-id")
    if not given:
        return START
    found = objects.parsed_position(given)
    if found is None:
        raise BadRequest(POSITION)
    return found


def _number(given: str | None, name: str, default: int) -> int:
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= 6):
        raise BadRequest(f"`{name}` must be a whole number from 0.")
    return int(given)


router.routes.extend([*thread_routes.router.routes, *commands.router.routes])
