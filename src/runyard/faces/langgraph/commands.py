"""The thread stream of LangGraph's SDKs: commands, and the events of a thread.

A command that fails gets an error of the protocol, with the status 200. Temporary failures (a full queue, an
unavailable database), invalid requests and unknown threads keep their HTTP status, so that clients retry or stop as
usual.
"""

from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import msgspec
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.runs.run import Run, Status
from runyard.domain.times import iso
from runyard.engine.engine import Engine
from runyard.errors import Conflict, Gone, Invalid, NotFound, RunyardError, ScopeMissing, TooLarge
from runyard.faces.langgraph import inputs, objects, wire
from runyard.faces.langgraph.objects import Shown
from runyard.faces.langgraph.start import FACE, NO_CHECKPOINT, NO_WAIT, ParsedRequest, find_thread, start
from runyard.faces.langgraph.thread_stream import (
    StreamRequest,
    ThreadEventStream,
    newest_and_open_runs,
    seq_now,
    seq_of,
)
from runyard.faces.langgraph.threads import branch, last_run, state_at, thread_status
from runyard.web.auth import check_scope, owner_of
from runyard.web.body import read
from runyard.web.context import context_of, engine_of
from runyard.web.responses import Json, key_of
from runyard.web.routing import Router

THREAD = "/langgraph/threads/{thread_id}"
TREE = {"idle": "completed", "error": "failed", "interrupted": "interrupted", "busy": "running"}
UNKNOWN = "This server does not know that command. It has: {}."
UPDATE = "This server cannot change the state of a graph. Leave `update` and `goto` out, and answer the interrupt."
M = TypeVar("M", bound=BaseModel)

router = Router(FACE, is_open=True)


class Call(NamedTuple):
    """A command, read. `thread`: the client's id of the thread."""

    engine: Engine
    owner: str
    thread: str
    id: int
    params: Shown
    key: str | None
    request: Request


@router.fast("POST", f"{THREAD}/stream/events", is_stream=True, body=wire.EventsWanted, takes_key=False)
async def stream_events(request: Request) -> Response:
    """Follow the events of a thread, after `since`.

    The stream stays open from run to run. Without `since` it begins with the newest runs of the thread."""
    body = await read(request, wire.EventsWanted)
    thread = await find_thread(engine_of(request), await owner_of(request), request.path_params["thread_id"])
    is_root = not body.namespaces or [] in body.namespaces
    return ThreadEventStream(context_of(request), thread, StreamRequest(frozenset(body.channels), is_root, body.since))


@router.fast("POST", f"{THREAD}/commands", body=wire.ThreadCommand, statuses=(415,))
async def send_command(request: Request) -> Response:
    """Start a run, answer interrupts, or read the state of a thread."""
    body = await read(request, wire.ThreadCommand)
    if (command := COMMANDS.get(body.method)) is None:
        return Json(_error(body.id, "unknown_command", UNKNOWN.format(", ".join(COMMANDS))))
    engine, owner, path = engine_of(request), await owner_of(request), request.path_params["thread_id"]
    if command is not _start_run:
        await find_thread(engine, owner, path)
    call = Call(engine, owner, path, body.id, body.params or {}, key_of(request), request)
    try:
        result, applied = await command(call)
    except (NotFound, Gone, Invalid, Conflict, ScopeMissing) as error:
        if isinstance(error, TooLarge):
            raise
        return Json(_error(body.id, _code(error), str(error)))
    meta = {"thread_id": path} if applied is None else {"thread_id": path, "applied_through_seq": applied}
    return Json({"type": "success", "id": body.id, "result": result, "meta": meta})


Result = tuple[Shown, int | None]


async def _start_run(call: Call) -> Result:
    given = _parsed(wire.RunStart, call.params)
    strategy = given.multitaskStrategy or given.multitask_strategy or "interrupt"
    run = await _started(call, given.assistant_id, given.input, given.config, given.metadata, strategy)
    return {"run_id": run.id}, await _applied_before(call.engine, run)


async def _fork(call: Call) -> Result:
    given = _parsed(wire.StateFork, call.params)
    last = await last_run(call.engine, await find_thread(call.engine, call.owner, call.thread))
    if last is None:
        raise NotFound(NO_CHECKPOINT)
    config = {**(given.config or {}), "configurable": {"checkpoint_id": given.checkpoint_id}}
    run = await _started(call, last.agent, given.input, config, None, "enqueue")
    return {"run_id": run.id, "thread_id": call.thread}, await _applied_before(call.engine, run)


async def _started(
    call: Call, agent: str, given: Any, config: Shown | None, metadata: Shown | None, strategy: str
) -> Run:
    inside = (config or {}).get("configurable")
    checkpoint = inside.get("checkpoint_id") if isinstance(inside, dict) else None
    fields = {"assistant_id": agent, "input": given, "metadata": metadata, "checkpoint_id": checkpoint}
    body = _parsed(wire.NewRun, {**fields, "multitask_strategy": strategy, "if_not_exists": "create"})
    wanted = ParsedRequest(call.owner, call.thread, body, call.key or _repeat_key(call, body), _scopes(call.request))
    started = await start(call.engine, wanted)
    return await call.engine.views.run(call.owner, started.run_id)


def _repeat_key(call: Call, body: wire.NewRun) -> str | None:
    """Return a key for a command that its client may send again after a lost response. The client for Node gives each
    message an id, and does not change the id of a command then."""
    messages = body.input.get("messages") if isinstance(body.input, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    if not isinstance(last, dict) or not isinstance(last.get("id"), str):
        return None
    return f"command {call.id} {sha256(msgspec.json.encode(body.model_dump(), order='sorted')).hexdigest()}"


async def _applied_before(engine: Engine, run: Run) -> int:
    """Return the seq before the events that a new run adds to the thread."""
    around = await newest_and_open_runs(engine, run.owner, run.thread_id or "")
    open_runs = [each for each in around if each.pos < run.pos and not each.status.is_terminal]
    if not open_runs:
        return seq_of(run, 0)
    return await seq_now(engine, min(open_runs, key=lambda each: each.pos))


async def _respond(call: Call) -> Result:
    given = _parsed(wire.Respond, call.params)
    if given.update is not None or given.goto is not None:
        raise wire.Unsupported(UPDATE)
    answers = {each.interrupt_id: each.response for each in given.responses or ()}
    if given.interrupt_id is not None:
        answers[given.interrupt_id] = given.response
    if not answers:
        raise Invalid("Send `interrupt_id` and `response`, or `responses`.")
    thread = await find_thread(call.engine, call.owner, call.thread)
    last = await last_run(call.engine, thread)
    if last is None or inputs.answers_by_id(answers) is None:
        raise NotFound(NO_WAIT)
    applied = await seq_now(call.engine, last)
    body = wire.NewRun(assistant_id=last.agent, command=wire.Command(resume=answers))
    started = await start(call.engine, ParsedRequest(call.owner, call.thread, body, None, _scopes(call.request)))
    return {"run_id": objects.shown_run_id(started.run_id, started.part)}, applied


async def _get_state(call: Call) -> Result:
    given = _parsed(wire.StateGet, call.params)
    state = await state_at(call.engine, await find_thread(call.engine, call.owner, call.thread), None)
    values = state["values"]
    if given.keys is not None:
        values = {name: value for name, value in values.items() if name in given.keys}
    checkpoint = state["checkpoint"]["checkpoint_id"]
    return {"values": values, **({} if checkpoint is None else {"checkpoint": {"id": checkpoint}})}, None


async def _list_checkpoints(call: Call) -> Result:
    given = _parsed(wire.ListCheckpoints, call.params)
    thread = await find_thread(call.engine, call.owner, call.thread)
    runs = await branch(call.engine, thread, given.before, min(given.limit, wire.MOST_ROWS))
    shown = [{"id": run.id, "timestamp": iso(run.created_at), "step": run.pos, "node_name": run.agent} for run in runs]
    return {"checkpoints": shown}, None


async def _get_tree(call: Call) -> Result:
    thread = await find_thread(call.engine, call.owner, call.thread)
    run = await last_run(call.engine, thread)
    status = TREE[await thread_status(call.engine, run)]
    if run is not None and run.status is Status.CANCELED:
        status = "interrupted"
    name = "" if run is None else run.agent
    return {"tree": {"namespace": [], "status": status, "graph_name": name}}, None


COMMANDS: dict[str, Callable[[Call], Awaitable[Result]]] = {
    "run.start": _start_run,
    "input.respond": _respond,
    "state.get": _get_state,
    "state.listCheckpoints": _list_checkpoints,
    "state.fork": _fork,
    "agent.getTree": _get_tree,
}


def _scopes(request: Request) -> Callable[[Any], None]:
    return lambda scope: check_scope(request, scope)


def _parsed(model: type[M], params: Shown) -> M:
    try:
        return model.model_validate(params)
    except ValidationError as error:
        said = error.errors()[0]
        where = ".".join(str(each) for each in said["loc"])
        raise Invalid(f"`params.{where}` is not valid: {said['msg']}.") from None


def _error(command_id: int, code: str, message: str) -> Shown:
    return {"type": "error", "id": command_id, "error": code, "message": message}


def _code(error: RunyardError) -> str:
    """Return the code of the protocol that comes nearest."""
    if isinstance(error, ScopeMissing):
        return "permission_denied"
    if isinstance(error, wire.Unsupported):
        return "not_supported"
    if isinstance(error, NotFound | Gone) and not isinstance(error, wire.AssistantNotFound):
        return {NO_CHECKPOINT: "no_such_checkpoint", NO_WAIT: "no_such_interrupt"}.get(str(error), "no_such_run")
    return "invalid_argument"
