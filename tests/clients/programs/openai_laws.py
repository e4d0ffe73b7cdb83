"""Reads random logs with the library `openai`: `python openai_laws.py laws`. It prints one JSON object."""

import json
import sys

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from openai_client import say
from pydantic import TypeAdapter

STREAM_EVENT = TypeAdapter(ResponseStreamEvent)
ASKED = {"model": "helper"}


def client_of(body):
    """Return a client that gets this stream as the response to each request."""
    headers = {"Content-Type": "text/event-stream"}
    answer = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content=body.encode()))
    return openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=answer), max_retries=0)


def read_response(body):
    """Check every event with the types of the library, and build the response as its stream does."""
    for event in client_of(body).responses.create(**ASKED, input="hi", stream=True):
        STREAM_EVENT.validate_python(event.to_dict())
    text, items, last = "", [], None
    with client_of(body).responses.stream(**ASKED, input="hi") as events:
        for event in events:
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type == "response.output_item.done":
                items.append(event.item)
            last = event
    ended = getattr(last, "response", None)
    return {
        "text": text,
        "items": [item.to_dict() for item in items],
        "errors": [type(item.error).__name__ for item in items if getattr(item, "error", None)],
        "last": None if last is None else last.type,
        "output": None if ended is None else ended.output_text,
    }


def read_chunks(body):
    """Check every chunk with the types of the library, and build the completion as its stream does."""
    try:
        for chunk in client_of(body).chat.completions.create(**ASKED, messages=[], stream=True):
            ChatCompletionChunk.model_validate(chunk.to_dict())
        with client_of(body).chat.completions.stream(**ASKED, messages=[]) as events:
            events.until_done()
            [choice] = events.current_completion_snapshot.choices
    except openai.APIError as error:
        return {"error": error.code}
    return {"text": choice.message.content or "", "finish": choice.finish_reason}


def laws():
    """Read the streams of random logs, one log a line, and the responses that they lead to."""
    found = []
    for line in sys.stdin:
        given = json.loads(line)
        for response in given["kept"]:
            Response.model_validate(response)
        found.append(
            {
                "responses": [read_response(body) for body in given["responses"]],
                "completions": [read_chunks(body) for body in given["completions"]],
            }
        )
    say(found=found)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
