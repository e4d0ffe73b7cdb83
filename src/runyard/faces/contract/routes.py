"""The routes of the contract face. `/health` and `/health/ready`, which it needs too, are the whole server's.

Every response of the two endpoints is an envelope, refusals included. An invalid request or an unknown task type is
refused (4xx, no run starts); later failures have status 200. `request_id` is a trace id and may repeat. To resume a
stream, a client sends the same request with the run's id, which every response has, and Last-Event-ID as headers; an
Idempotency-Key does the same.

Each response is logged: ids, the task type, a code and the duration.
"""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from runyard.base.ids import new_id
from runyard.domain.runs.run import Run
from runyard.domain.task import Task, deadline
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.errors import BadRequest, Conflict, NotFound, RunyardError
from runyard.faces.contract import wire
from runyard.faces.contract.translate import EnvelopeBuilder, Failure, refusal
from runyard.telemetry.logger import get_logger
from runyard.web.auth import Owner, owner_of
from runyard.web.body import NotJson, decoded, read
from runyard.web.context import Context, context_of, engine_of
from runyard.web.errors.problems import Problem, problem, shape
from runyard.web.responses import Json, key_of
from runyard.web.routing import STREAM_PARAMETERS, Router
from runyard.web.run_to_end import ClientGone, events_until_end
from runyard.web.streaming.sse import EventStream, start_of

log = get_logger()

FACE = "contract"


RUN_PARAMETER = {"name": wire.RUN_HEADER, "in": "header", "required": False, "schema": {"type": "string"}}

router = Router(FACE, is_open=True)


class ContractOptions(NamedTuple):
    """`task_types`: the agent of each task type. `terminal`: the name of the last event of a stream. `timeout_seconds`:
    the deadline of requests that name none."""

    task_types: Mapping[str, str]
    terminal: wire.TerminalName
    timeout_seconds: float


class Refused(Exception):
    """The request started no run. The envelope says why, `retry_after` when to try again."""

    def __init__(self, status: int, envelope: dict[str, Any], retry_after: str | None = None) -> None:
        super().__init__(envelope["error"]["code"])
        self.status = status
        self.envelope = envelope
        self.headers = None if retry_after is None else {"Retry-After": retry_after}


class StartedRun:
    """The run of a request: new, or found by its id or Idempotency-Key."""

    def __init__(self, owner: str, run_id: str, asked_at: int, task: Task) -> None:
        self.owner = owner
        self.run_id = run_id
        self.task = task
        self.deadline = deadline(asked_at, task)
        self.headers = {wire.RUN_HEADER: run_id}


@router.fast("POST", "/agents/run/sync", body=wire.AgentRunRequest, response_model=wire.AgentRunResponse)
async def sync(request: Request) -> Response:
    """Run a task and return its result; 400 if the request is invalid or no agent has the task type."""
    came = time.monotonic()
    try:
        started = await _begin(request, "POST /agents/run/sync")
    except Refused as refused:
        return _refusal(refused, came)
    engine, builder = engine_of(request), EnvelopeBuilder(_options(request).terminal)
    try:
        with engine.deadlines.enforce(started.owner, started.run_id, started.deadline):
            async for event in events_until_end(request, engine.streams, started.run_id):
                builder.take(event)
    except ClientGone:
        return Response(status_code=499)
    except RunyardError as error:
        failure = Failure(error.code.upper(), {"run_id": started.run_id})
        _log_run(started.task, started.run_id, problem(error).status_code, failure.code, came)
        envelope = refusal(failure, wire.request_id(started.task), started.task.type)
        return Json(envelope, problem(error).status_code, headers=started.headers)
    assert builder.envelope is not None  # a log that has ended has its last event
    _log_run(started.task, started.run_id, 200, _code(builder), came)
    return Json(builder.envelope, headers=started.headers)


@router.fast(
    "POST",
    "/agents/run/stream",
    is_stream=True,
    body=wire.AgentRunRequest,
    parameters=(*STREAM_PARAMETERS, RUN_PARAMETER),
)
async def stream(request: Request) -> Response:
    """Run a task and follow it: `started`, `progress`, and one terminal event with the result."""
    came = time.monotonic()
    try:
        after = _start(request)
        started = await _begin(request, "POST /agents/run/stream")
    except Refused as refused:
        return _refusal(refused, came)
    return _Stream(context_of(request), started, EnvelopeBuilder(_options(request).terminal, after), came)


@router.get("/agents/schema.json")
async def schema(owner: Owner) -> Response:
    """Get the JSON Schema (2020-12) of requests and responses."""
    return Json(wire.schema())


async def _begin(request: Request, route: str) -> StartedRun:
    """Start the run that a request asks for, or find it again. Raise Refused if no run can be started."""
    asked = await _read(request)
    owner, engine, options = await owner_of(request), engine_of(request), _options(request)
    agent = options.task_types.get(asked.task_type)
    if agent is None:
        raise _refused(400, "UNSUPPORTED_TASK_TYPE", asked.request_id, asked.task_type)
    task = wire.task_of(asked, int(options.timeout_seconds * 1000), request.headers.get("traceparent"))
    try:
        if (known := request.headers.get(wire.RUN_HEADER)) is not None:
            return await _again(engine, owner, await engine.views.run(owner, known), task)
        note = idempotency_key(owner, route, key_of(request), asked.model_dump())
        accepted = await engine.intake.start(owner, FACE, agent, key=note, task=task)
        if accepted.event is not None:
            return StartedRun(owner, accepted.run_id, accepted.event.ts, task)
        return await _again(engine, owner, await engine.views.run(owner, accepted.run_id), task)
    except RunyardError as error:
        answer = problem(error)
        why = refusal(Failure(error.code.upper()), asked.request_id, asked.task_type)
        raise Refused(answer.status_code, why, answer.headers.get("Retry-After")) from None


async def _again(engine: Engine, owner: str, run: Run, task: Task) -> StartedRun:
    """Return the run of an earlier request. Raise Conflict if that request had another task."""
    first = (await engine.views.state(owner, run.id, 1)).task
    task = engine.intake.as_stored(task)
    if first is None:
        raise NotFound("There is no run with that id that a contract request started.")
    if first.type != task.type or first.labels != task.labels or first.inputs != task.inputs:
        raise Conflict("The run with that id was started for another task; leave out the run id to start a new run.")
    return StartedRun(owner, run.id, run.created_at, first)


def _options(request: Request) -> ContractOptions:
    return context_of(request).options(ContractOptions)


class _Stream(EventStream):
    """The stream of a run, which is cancelled at its deadline."""

    def __init__(self, context: Context, started: StartedRun, builder: EnvelopeBuilder, came: float) -> None:
        engine, headers = context.engine, started.headers
        super().__init__(
            engine.streams, started.run_id, 0, None, builder.frame, context.heartbeat, extra_headers=headers
        )
        self._engine = engine
        self._started = started
        self._builder = builder
        self._came = came

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = self._started
        try:
            with self._engine.deadlines.enforce(started.owner, started.run_id, started.deadline):
                await super().__call__(scope, receive, send)
        finally:
            _log_run(started.task, started.run_id, 200, _code(self._builder), self._came)


async def _read(request: Request) -> wire.AgentRunRequest:
    """Read the request. Raise Refused if it is invalid; the refusal repeats only its ids."""
    try:
        return await read(request, wire.AgentRunRequest)
    except NotJson:
        raise _refused(400, "INVALID_REQUEST", new_id(), "unknown") from None
    except RequestValidationError as error:
        given = decoded(await request.body())
        where = sorted({".".join(str(part) for part in e["loc"][1:2]) for e in error.errors()})
        known = [name for name in where if name in wire.AgentRunRequest.model_fields]
        raise _refused(
            422,
            "INVALID_REQUEST",
            _text(given, "request_id") or new_id(),
            _text(given, "task_type") or "unknown",
            known,
        ) from None


def _text(given: Any, name: str) -> str:
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, str) and wire.is_id(value) else ""


def _start(request: Request) -> int:
    try:
        return start_of(request)
    except BadRequest:
        raise _refused(400, "INVALID_REQUEST", new_id(), "unknown") from None


def _refused(status: int, code: str, request_id: str, task_type: str, fields: list[str] | None = None) -> Refused:
    return Refused(status, refusal(Failure(code, {"fields": fields} if fields else {}), request_id, task_type))


def _refusal(refused: Refused, came: float) -> Response:
    """Return the envelope, with a copy under `detail`, where clients of FastAPI services look."""
    envelope = refused.envelope
    _log(envelope["request_id"], None, None, refused.status, envelope["error"]["code"], came)
    return Json({**envelope, "detail": envelope}, refused.status, headers=refused.headers)


def _in_envelope(refused: Problem) -> Response:
    """Return the envelope of a request that was refused before it was read, such as 401 or 413; it has a new id."""
    envelope = refusal(Failure(refused.code.upper()), new_id(), "unknown")
    kept = {
        name: refused.headers[name] for name in ("WWW-Authenticate", "Retry-After", "Allow") if name in refused.headers
    }
    return Json({**envelope, "detail": envelope}, refused.status_code, headers=kept)


def _code(builder: EnvelopeBuilder) -> str:
    """Return the outcome for the log line; `left` if the client disconnected before the end."""
    if builder.envelope is None:
        return "left"
    error = builder.envelope["error"]
    return "ok" if error is None else str(error["code"])


def _log_run(task: Task, run_id: str, status: int, code: str, came: float) -> None:
    _log(wire.request_id(task), task.type, run_id, status, code, came)


def _log(request_id: str, task_type: str | None, run_id: str | None, status: int, code: str, came: float) -> None:
    """Log a response. A request id that does not look like an id is left out: it may be content."""
    known = {
        "request_id": request_id if wire.is_id(request_id) else None,
        "task_type": task_type,
        "run_id": run_id,
    }
    ids = {name: value for name, value in known.items() if value is not None}
    log.info("contract.answered", status=status, code=code, duration_ms=round((time.monotonic() - came) * 1000), **ids)


for _path in ("/agents/run/sync", "/agents/run/stream"):
    shape(_path, _in_envelope, "AgentRunResponse")
