"""The routes of the OpenAI face: responses, models and conversations. `chat_routes.py` has those of chat completions.

A client that disconnects changes nothing: the run continues. `POST .../cancel` cancels it.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.errors import BadRequest, NotFound
from runyard.faces.openai import chat_routes, inputs, objects, wire
from runyard.faces.openai.follow import (
    NO_RESPONSE,
    TRANSLATION,
    EventEncoder,
    existing,
    find,
    until_end,
)
from runyard.faces.openai.start import FACE, ParsedRequest, Started, conversation_thread, start
from runyard.web.auth import Owner, owner_of
from runyard.web.body import read
from runyard.web.context import EngineDep, context_of, engine_of
from runyard.web.responses import Json, key_of
from runyard.web.routing import Router
from runyard.web.run_to_end import ClientGone
from runyard.web.streaming.sse import MAX_SEQ, PartStream

CANCEL_PATIENCE = 5.0
MOST_ITEMS = 100
RESPONSE = "/v1/responses/{response_id}"
_WHOLE_NUMBER = {"type": "string", "pattern": "^[0-9]{1,16}$"}
# Clients of OpenAI may ask for further parts of a response; this server has none.
_INCLUDE: dict[str, Any] = {"in": "query", "required": False, "schema": {"type": "array", "items": {"type": "string"}}}
INCLUDES = ({"name": "include", **_INCLUDE}, {"name": "include[]", **_INCLUDE})
RETRIEVE_PARAMETERS = (
    {"name": "stream", "in": "query", "required": False, "schema": {"type": "boolean"}},
    {"name": "starting_after", "in": "query", "required": False, "schema": _WHOLE_NUMBER},
    {"name": "include_obfuscation", "in": "query", "required": False, "schema": {"type": "boolean"}},
    *INCLUDES,
)
ITEM_PARAMETERS = (
    {"name": "order", "in": "query", "required": False, "schema": {"enum": ["asc", "desc"]}},
    {"name": "limit", "in": "query", "required": False, "schema": _WHOLE_NUMBER},
    {"name": "after", "in": "query", "required": False, "schema": {"type": "string"}},
    *INCLUDES,
)

router = Router(FACE)


@router.fast("POST", "/v1/responses", is_stream=True, or_json=True, body=wire.NewResponse, statuses=(415,))
async def create(request: Request) -> Response:
    """Ask an agent. The response comes when it is complete, as a stream (`stream`), or later (`background`)."""
    owner, context = await owner_of(request), context_of(request)
    body = await read(request, wire.NewResponse)
    wanted = _parse(owner, body)
    started = await start(context.engine, wanted, "POST /v1/responses", key_of(request), body.model_dump())
    if body.stream:
        return PartStream(context, started.run_id, EventEncoder(*started), started.headers)
    if body.background:
        run = await context.engine.views.run(owner, started.run_id)
        return Json(await existing(context.engine, run, started.part), headers=started.headers)
    try:
        found = await until_end(request, context.engine.streams, *started)
    except ClientGone:
        return Response(status_code=499)
    return Json(found, headers=started.headers)


def _parse(owner: str, body: wire.NewResponse) -> ParsedRequest:
    wire.refuse_unsupported(body)
    given = body.conversation
    conversation = given.id if isinstance(given, wire.ConversationName) else given
    if conversation is not None and body.previous_response_id is not None:
        raise BadRequest("Send either `conversation` or `previous_response_id`, not both.")
    return ParsedRequest(
        owner,
        body.model,
        inputs.from_items(body.input),
        [] if body.tool_choice == "none" else inputs.client_tools(body.tools or []),
        body.instructions,
        body.max_output_tokens,
        body.previous_response_id,
        conversation,
        {"metadata": body.metadata, "background": body.background},
    )


@router.fast("GET", RESPONSE, is_stream=True, or_json=True, parameters=RETRIEVE_PARAMETERS)
async def retrieve(request: Request) -> Response:
    """Get a response; with `stream=true` follow it, after the event `starting_after`."""
    run, part = await _named(request)
    query, context = request.query_params, context_of(request)
    if query.get("stream", "").lower() != "true":
        return Json(await existing(context.engine, run, part))
    await existing(context.engine, run, part)
    encoder = EventEncoder(run.id, part, _number(query.get("starting_after"), "starting_after", -1))
    return PartStream(context, run.id, encoder, Started(run.id, part).headers)


@router.fast("GET", f"{RESPONSE}/input_items", parameters=ITEM_PARAMETERS, response_model=wire.ItemList)
async def input_items(request: Request) -> Response:
    """List the input of a response, the newest item first."""
    run, part = await _named(request)
    query = request.query_params
    items = await _input_items(engine_of(request), run, part)
    if query.get("order") != "asc":
        items.reverse()
    if (after := query.get("after")) is not None:
        ids = [item["id"] for item in items]
        items = items[ids.index(after) + 1 :] if after in ids else []
    limit = min(MOST_ITEMS, max(1, _number(query.get("limit"), "limit", 20)))
    page = items[:limit]
    first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    return Json(wire.ItemList(data=page, first_id=first, last_id=last, has_more=len(items) > limit))


@router.post(f"{RESPONSE}/cancel")
async def cancel(engine: EngineDep, owner: Owner, response_id: str) -> Response:
    """Cancel the run of a response."""
    run, part = await find(engine, owner, response_id)
    await existing(engine, run, part)
    run = await engine.cancel(owner, run.id, CANCEL_PATIENCE)
    return Json(await existing(engine, run, part))


@router.delete(RESPONSE, response_model=wire.Deleted)
async def delete(engine: EngineDep, owner: Owner, response_id: str) -> Response:
    """Delete a response that is alone in its conversation."""
    run, _ = await find(engine, owner, response_id)
    if run.thread_id is None:
        raise BadRequest("This response belongs to no conversation. The retention policy deletes it.")
    thread = await engine.views.thread(owner, run.thread_id)
    if thread.head_run_id != run.id or run.parent_id is not None:
        raise BadRequest("Other responses belong to the same conversation. Delete the conversation to delete them all.")
    await engine.views.delete_thread(owner, thread.id)
    return Json(wire.Deleted(id=response_id, object="response.deleted"))


@router.get("/v1/models", response_model=wire.ModelList)
async def models(engine: EngineDep, owner: Owner) -> Response:
    """List the agents."""
    return Json(wire.ModelList(data=[wire.Model(id=name) for name in engine.intake.agents]))


@router.get("/v1/models/{model}", response_model=wire.Model)
async def model(engine: EngineDep, owner: Owner, model: str) -> Response:
    """Get an agent."""
    if model not in engine.intake.agents:
        raise wire.ModelNotFound
    return Json(wire.Model(id=model))


@router.post("/v1/conversations", response_model=wire.Conversation)
async def open_conversation(engine: EngineDep, owner: Owner, body: wire.NewConversation | None = None) -> Response:
    """Create a conversation."""
    thread = await engine.intake.open_thread(owner, None, None)
    return Json(wire.Conversation(id=objects.conversation_id(thread.id), created_at=thread.created_at // 1000))


@router.get("/v1/conversations/{conversation_id}", response_model=wire.Conversation)
async def conversation(engine: EngineDep, owner: Owner, conversation_id: str) -> Response:
    """Get a conversation."""
    thread = await engine.views.thread(owner, await conversation_thread(engine, owner, conversation_id))
    return Json(wire.Conversation(id=conversation_id, created_at=thread.created_at // 1000))


@router.delete("/v1/conversations/{conversation_id}", response_model=wire.Deleted)
async def delete_conversation(engine: EngineDep, owner: Owner, conversation_id: str) -> Response:
    """Delete a conversation with its responses."""
    await engine.views.delete_thread(owner, await conversation_thread(engine, owner, conversation_id))
    return Json(wire.Deleted(id=conversation_id, object="conversation.deleted"))


async def _named(request: Request) -> tuple[Run, int]:
    """Return the run and the part of the response in the path."""
    return await find(engine_of(request), await owner_of(request), request.path_params["response_id"])


def _number(given: str | None, name: str, default: int) -> int:
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= 16) or int(given) > MAX_SEQ:
        raise BadRequest(f"`{name}` must be a whole number from 0.")
    return int(given)


async def _input_items(engine: Engine, run: Run, part: int) -> list[dict[str, Any]]:
    """Return the input of a response: its messages, or the results that continued its run."""
    state = (await engine.views.fold(run, TRANSLATION)).state
    if not 1 <= part <= state.part:
        raise NotFound(NO_RESPONSE)
    if part > 1:
        return [
            {"id": f"fco_{key}", "type": "function_call_output", "call_id": key, "output": call.output}
            for key, call in state.handed.items()
            if call.part == part - 1 and call.output is not None
        ]
    first = await engine.views.state(run.owner, run.id, 1)
    earlier = [] if first.options is None else first.options.earlier
    question = (await engine.views.triggers([run])).get(run.id)
    return inputs.as_items(run.id, earlier, question.text if question else "", question.files if question else ())


router.routes.extend(chat_routes.router.routes)
