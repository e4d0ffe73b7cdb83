"""The route for MCP (`/mcp`), Streamable HTTP in both revisions: with sessions (2025-11-25) and stateless (2026-07-28).

With sessions, a client that disconnects changes nothing: the run continues, and `GET` with `Last-Event-ID` continues
the stream at any process. The stateless revision cannot resume, and requires that a disconnect cancels the call; a
task continues.
"""

from contextlib import aclosing
from functools import partial

from msgspec.structs import replace
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from runyard.base.ids import new_secret
from runyard.engine.access import Caller as KeyCaller
from runyard.errors import NotFound, RunyardError, ScopeMissing
from runyard.faces.mcp import errors, files, inputs, methods, objects, tasks, wire
from runyard.faces.mcp.follow import TRANSLATION, Answer, Encoder, call_in
from runyard.faces.mcp.inputs import Client
from runyard.faces.mcp.start import FACE, Caller, Started, go_on, start
from runyard.faces.mcp.wire import ProtocolError
from runyard.web.auth import check_scope, owner_of
from runyard.web.body import read
from runyard.web.context import Context, context_of
from runyard.web.errors.problems import CALLER
from runyard.web.limits.stream_slots import counted
from runyard.web.loopback import is_loopback, origin_of
from runyard.web.responses import Json
from runyard.web.routing import Router
from runyard.web.run_to_end import ClientGone, events_until_end
from runyard.web.streaming.sse import PartStream

PATH = "/mcp"
SECRET_LENGTH = 32
ROUTING = (wire.VERSION_HEADER, wire.METHOD_HEADER, wire.NAME_HEADER, wire.SESSION_HEADER)
LAST_EVENT = {"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}}

router = Router(FACE, is_open=True)


class NoSession(NotFound):
    """There is no session with that id. Send `initialize` without one."""

    code = "session_not_found"


class NoStream(NotFound):
    """There is no stream with that event id."""


class ForeignOrigin(ScopeMissing):
    """A page of another origin sent this request. Call `/mcp` from a program, or from a page of this server."""

    code = "foreign_origin"


@router.fast(
    "POST",
    PATH,
    is_stream=True,
    is_counted=False,
    or_json=True,
    body=wire.Message,
    takes_key=False,
    statuses=(202, 403),
)
async def send(request: Request) -> Response:
    """Send a message of MCP: a request, a notification, or an answer to a form. A tool call is answered by a stream."""
    _check_origin(request)
    message = await read(request, wire.Message)
    headers = _single(request.headers)
    is_stateless = inputs.is_stateless(message, headers)
    try:
        client = inputs.client_of(message, headers)
        if client is None:
            raise NoSession
        return await _answer(request, message, client)
    except ProtocolError as error:
        return errors.response(error, message.id, _status(error, message, is_stateless))
    except RunyardError as error:
        known = None if isinstance(error, NoSession) else errors.as_protocol_error(error)
        if known is None:
            raise
        return errors.response(known, message.id, _status(known, message, is_stateless))


NOT_A_MESSAGE = ProtocolError(wire.INVALID_REQUEST, "The body must be one request, notification or response of MCP.")


def _status(error: ProtocolError, message: wire.Message, is_stateless: bool) -> int | None:
    """Return 200 for an error that answers a request of a session, because its clients read no other body."""
    is_answer = message.is_request and not is_stateless
    return 200 if is_answer and error.code in (wire.INVALID_PARAMS, wire.UNKNOWN_METHOD, wire.NO_RESOURCE) else None


async def _answer(request: Request, message: wire.Message, client: Client) -> Response:
    engine, params = context_of(request).engine, message.params or {}
    caller = Caller(await owner_of(request), client, lambda scope: check_scope(request, scope))
    methods.check_scope(caller, message)
    if message.is_request:
        assert message.method is not None
        assert message.id is not None
        if message.method == "tools/call":
            return await _call_tool(request, caller, message.id, message)
        found = await methods.call(engine, caller, message.method, params)
        headers = {}
        if message.method == "initialize":
            headers["Mcp-Session-Id"] = inputs.session_name(params.get("capabilities"), new_secret(SECRET_LENGTH))
        return Json(objects.reply(message.id, found), headers=headers)
    if message.is_notification:
        assert message.method is not None
        await methods.notified(engine, caller, message.method, params)
    elif message.is_response:
        await methods.answered(engine, caller, message)
    else:
        raise NOT_A_MESSAGE
    return Response(status_code=202)


async def _call_tool(request: Request, caller: Caller, request_id: str | int, message: wire.Message) -> Response:
    """Start a run and answer with its stream; with a task if the client knows tasks; as JSON if it takes no stream."""
    context, client = context_of(request), caller.client
    engine = context.engine

    def whole(found: objects.Shown) -> Response:
        return Json(objects.reply(request_id, objects.stateless_result(found) if client.is_stateless else found))

    try:
        asked = inputs.tool_call(message.params or {}, engine.intake.agents)
        if client.is_stateless and client.tasks and asked.state is None:
            started = await start(engine, caller, request_id, asked)
            return Json(objects.reply(request_id, await tasks.created(engine, caller.owner, started.run_id)))
        with counted(request, _key_of(request)) as slot:
            repeats = client.is_stateless and asked.state is not None
            found = await (go_on if repeats else start)(engine, caller, request_id, asked)
            if not isinstance(found, Started):
                again = objects.input_required(found) if client.asks else objects.notice(found)
                return Json(objects.reply(request_id, again)) if client.asks else whole(again)
            if "text/event-stream" not in request.headers.get("accept", ""):
                return await _until_end(request, caller, found)
            return slot.held_by(_stream(context, caller, found))
    except inputs.Refused as refusal:
        return whole(objects.text_result(str(refusal), is_error=True))


def _stream(context: Context, caller: Caller, started: Started) -> Response:
    is_primed = caller.client.version == wire.NEWEST_WITH_SESSIONS
    load = partial(files.load, context.engine, caller.owner)
    encoder = Encoder(started.run_id, started.call, load, is_primed=is_primed)
    if caller.client.is_stateless:
        return CanceledIfCut(context, caller.owner, started.run_id, encoder)
    return PartStream(context, started.run_id, encoder, {"Runyard-Run-Id": started.run_id}, prepare=encoder.prepare)


class CanceledIfCut(PartStream):
    """The stream of a call that is canceled if the client disconnects, but not if this process shuts down."""

    def __init__(self, context: Context, owner: str, run_id: str, encoder: Encoder) -> None:
        super().__init__(context, run_id, encoder, {"Runyard-Run-Id": run_id}, prepare=encoder.prepare)
        self._cancel = partial(_cancel_unless_stopping, context, owner, run_id)

    async def _gone(self) -> None:
        await self._cancel()


async def _cancel_unless_stopping(context: Context, owner: str, run_id: str) -> None:
    if not context.is_stopping:
        await context.engine.cancel(owner, run_id)


async def _until_end(request: Request, caller: Caller, started: Started) -> Response:
    """Return the last message of a call as JSON. A client with a session gets no questions in this way."""
    is_stateless = caller.client.is_stateless
    call = replace(started.call, asks=started.call.asks and is_stateless)
    context = context_of(request)
    answer = Answer(started.run_id, call, partial(files.load, context.engine, caller.owner))
    last: objects.Shown = {}
    try:
        async with aclosing(events_until_end(request, context.engine.streams, started.run_id)) as log:
            async for event in log:
                await answer.prepare([event])
                for shown in answer.take(event):
                    last = shown
                if answer.is_over:
                    break
    except ClientGone:
        if is_stateless:
            await _cancel_unless_stopping(context, caller.owner, started.run_id)
        return Response(status_code=499)
    return Json(last, headers={"Runyard-Run-Id": started.run_id})


@router.fast("GET", PATH, is_stream=True, parameters=(LAST_EVENT,), statuses=(403, 404, 405))
async def resume(request: Request) -> Response:
    """Continue the stream of a tool call after the event `Last-Event-ID`. There is no other stream to follow."""
    _check_origin(request)
    given = request.headers.get("last-event-id")
    if given is None:
        raise HTTPException(405, headers={"Allow": "POST"})
    context, place = context_of(request), inputs.place_of(given)
    if place is None:
        raise NoStream
    try:
        owner = await owner_of(request)
        run = await context.engine.views.run(owner, place[0])
    except NotFound:
        raise NoStream from None
    call = call_in((await context.engine.views.fold(run, TRANSLATION)).state)
    if call is None:
        raise NoStream
    encoder = Encoder(run.id, call, partial(files.load, context.engine, owner), after=place[1])
    return PartStream(context, run.id, encoder, {"Runyard-Run-Id": run.id}, prepare=encoder.prepare)


def _single(headers: Headers) -> dict[str, str]:
    """Return the headers of MCP. A repeated header becomes empty, so that it matches no value."""
    found = {}
    for name in ROUTING:
        if values := headers.getlist(name):
            found[name] = values[0].strip() if len(values) == 1 else ""
    return found


def _key_of(request: Request) -> str | None:
    caller: KeyCaller = request.scope[CALLER]
    return caller.key_id


def _check_origin(request: Request) -> None:
    """Raise ForeignOrigin for a web page of another server. Without a key, the page must be of this machine, because a
    name that an attacker chose may lead here; an attacker's page has no key."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    host = request.headers.get("host", "")
    is_own = origin_of(origin) in {origin_of(f"{scheme}://{host}") for scheme in ("http", "https")} - {None}
    if not (is_own if _key_of(request) is not None else is_loopback(origin)):
        raise ForeignOrigin
