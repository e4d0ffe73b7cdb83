"""The route of chat completions. Each request is a run in a new conversation, with the messages before the last one as
its history. Results of tool calls continue the run that asked for them."""

from starlette.requests import Request
from starlette.responses import Response

from runyard.faces.openai import chat_translate, errors, inputs, wire
from runyard.faces.openai.chat_translate import ChunkTranslation
from runyard.faces.openai.follow import until_end
from runyard.faces.openai.start import FACE, ParsedRequest, Started, start
from runyard.web.auth import owner_of
from runyard.web.body import read
from runyard.web.context import context_of, engine_of
from runyard.web.responses import Json, key_of
from runyard.web.routing import Router
from runyard.web.run_to_end import ClientGone
from runyard.web.streaming.sse import PartStream

ROUTE = "/v1/chat/completions"

router = Router(FACE)


@router.fast("POST", ROUTE, is_stream=True, or_json=True, body=wire.NewCompletion, statuses=(415,))
async def complete(request: Request) -> Response:
    """Ask an agent with a list of messages. The completion comes when it is complete, or as a stream."""
    owner, context = await owner_of(request), context_of(request)
    body = await read(request, wire.NewCompletion)
    started = await start(context.engine, _parse(owner, body), f"POST {ROUTE}", key_of(request), body.model_dump())
    if not body.stream:
        return await _answer_at_end(request, started)
    with_usage = bool(body.stream_options and body.stream_options.include_usage)
    return PartStream(context, started.run_id, ChunkTranslation(*started, with_usage), started.headers)


async def _answer_at_end(request: Request, started: Started) -> Response:
    """Wait for the end of the run's part and return its completion."""
    try:
        found = await until_end(request, engine_of(request).streams, *started)
    except ClientGone:
        return Response(status_code=499)
    if (failed := chat_translate.failure(found)) is not None:
        status = 409 if failed["code"] == "canceled" else 500
        return Json({"error": failed}, status, headers={**started.headers, **errors.NO_RETRY})
    return Json(chat_translate.completion(found, started.response_id), headers=started.headers)


def _parse(owner: str, body: wire.NewCompletion) -> ParsedRequest:
    wire.refuse_unsupported(body)
    return ParsedRequest(
        owner,
        body.model,
        inputs.from_messages(body.messages),
        [] if body.tool_choice == "none" else inputs.client_tools(body.tools or []),
        max_output_tokens=body.max_completion_tokens or body.max_tokens,
        echo={"metadata": body.metadata},
    )
