"""The routes for the AI SDK: `DefaultChatTransport`, and `WorkflowChatTransport` with the chat in the path.

A client that disconnects changes nothing: the run continues, and the client reads the rest later. `POST .../stop`
cancels it. Bodies may be declared as text, because `WorkflowChatTransport` does not declare them.
"""

from starlette.requests import Request
from starlette.responses import Response

from runyard.errors import BadRequest
from runyard.faces.ai_sdk import errors as errors
from runyard.faces.ai_sdk import wire
from runyard.faces.ai_sdk.follow import Encoder, Parts, chat_stream, named_stream
from runyard.faces.ai_sdk.start import FACE, ParsedRequest, start
from runyard.web.auth import Owner, check_scope, owner_of
from runyard.web.body import read
from runyard.web.context import EngineDep, context_of, engine_of
from runyard.web.responses import Json
from runyard.web.routing import Router
from runyard.web.streaming.sse import MAX_SEQ, PartStream

CANCEL_PATIENCE = 5.0
NO_CHAT = "The body has no `id` of a chat. Send it, or put the chat into the path: `/api/ai/<agent>/<chat>`."
BEYOND = "The stream has ended before `startIndex`."
AGENT = "/api/ai/{agent}"
CHAT = "/api/ai/{agent}/{chat_id}"
_INDEX = {"type": "string", "pattern": "^-?[0-9]{1,16}$"}
START_INDEX = ({"name": "startIndex", "in": "query", "required": False, "schema": _INDEX},)

router = Router(FACE)


@router.fast("POST", AGENT, is_stream=True, body=wire.NewMessage, statuses=(415,))
async def send(request: Request) -> Response:
    """Send the messages of a chat, as `DefaultChatTransport` does. The answer is a stream."""
    body = await read(request, wire.NewMessage, or_text=True)
    if not body.id:
        raise BadRequest(NO_CHAT)
    return await _stream_of(request, body.id, body)


@router.fast("POST", CHAT, is_stream=True, body=wire.NewMessage, statuses=(415,))
async def send_to_chat(request: Request) -> Response:
    """Send the messages of the chat in the path, as `WorkflowChatTransport` does. The answer is a stream."""
    body = await read(request, wire.NewMessage, or_text=True)
    return await _stream_of(request, request.path_params["chat_id"], body)


async def _stream_of(request: Request, chat: str, body: wire.NewMessage) -> Response:
    wanted = ParsedRequest(
        await owner_of(request), request.path_params["agent"], chat, body, lambda scope: check_scope(request, scope)
    )
    context = context_of(request)
    return _stream(request, await start(context.engine, wanted), 0)


def _stream(request: Request, parts: Parts, start_index: int, **headers: str) -> Response:
    encoder = Encoder(parts, start_index)
    return PartStream(context_of(request), parts.run_id, encoder, {**parts.headers, **headers})


@router.fast("GET", f"{CHAT}/stream", is_stream=True, parameters=START_INDEX, statuses=(204,))
async def resume(request: Request) -> Response:
    """Follow the answer of a chat from its first chunk, or from `startIndex`; 204 if the chat has no open answer."""
    return await _resumed(request, request.path_params["chat_id"], request.path_params["chat_id"])


@router.fast("GET", f"{CHAT}/{{stream_id}}/stream", is_stream=True, parameters=START_INDEX, statuses=(204,))
async def resume_in_chat(request: Request) -> Response:
    """Follow a stream of the chat in the path from its first chunk, or from `startIndex`."""
    return await _resumed(request, request.path_params["stream_id"], request.path_params["chat_id"])


async def _resumed(request: Request, stream_id: str, chat: str) -> Response:
    """Follow the named stream; if there is none of that name, the last answer of the chat. A negative index counts from
    the end."""
    engine, owner = engine_of(request), await owner_of(request)
    if request.path_params["agent"] not in engine.intake.agents:
        raise wire.AgentNotFound
    index = _index(request.query_params.get("startIndex"))
    parts = await named_stream(engine, owner, stream_id)
    if parts is None:
        parts = await chat_stream(engine, owner, chat, or_ended=index is not None)
    if parts is None:
        if index is not None:
            raise wire.ChatNotFound
        return Response(status_code=204)
    if index is not None and index >= parts.size and parts.is_ended:
        raise BadRequest(BEYOND)  # a client that could not read the end would ask again, without a pause
    if index is None or index >= 0:
        return _stream(request, parts, index or 0)
    tail = {"x-workflow-stream-tail-index": str(parts.size - 1)}
    return _stream(request, parts, max(0, parts.size + index), **tail)


def _index(given: str | None) -> int | None:
    if given is None:
        return None
    digits = given.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 16) or int(digits) > MAX_SEQ:
        raise BadRequest("`startIndex` is a whole number.")
    return int(given)


@router.post(f"{CHAT}/stop", response_model=wire.Stopped)
async def stop(engine: EngineDep, owner: Owner, agent: str, chat_id: str) -> Response:
    """Cancel the last run of a chat."""
    if agent not in engine.intake.agents:
        raise wire.AgentNotFound
    run = await engine.cancel_last_run(owner, chat_id, CANCEL_PATIENCE)
    if run is None:
        raise wire.ChatNotFound
    return Json(wire.Stopped(runId=run.id, status=run.status))
