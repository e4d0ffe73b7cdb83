"""Drives the library `openai`, unmodified, as an app would: `python openai_client.py <case>`.

`BASE_URL` and `API_KEY` are in the environment. Every line that it prints is a JSON object; the last one is the result.
"""

import json
import os
import sys

import openai

MODEL = "helper"
TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CHAT_TOOL = {"type": "function", "function": {name: TOOL[name] for name in ("name", "description", "parameters")}}

client = openai.OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ.get("API_KEY", "none"))


def say(**what):
    print(json.dumps(what), flush=True)


def shown(response):
    return {
        "id": response.id,
        "status": response.status,
        "text": response.output_text,
        "items": [item.type for item in response.output],
        "tokens": response.usage.total_tokens if response.usage else None,
        "previous": response.previous_response_id,
    }


def weather(arguments):
    return f"rain in {json.loads(arguments)['city']}"


def answer():
    response = client.responses.create(model=MODEL, input="hello", metadata={"order": "A-1"})
    assert response.metadata == {"order": "A-1"}
    assert client.responses.retrieve(response.id) == response
    say(**shown(response), models=[model.id for model in client.models.list()])


def stream():
    with client.responses.stream(model=MODEL, input="hello") as events:
        types = [event.type for event in events]
        say(**shown(events.get_final_response()), types=types)


def tool():
    with client.responses.stream(model=MODEL, input="look") as events:
        for _ in events:
            pass
        response = events.get_final_response()
    call = next(item for item in response.output if item.type == "mcp_call")
    say(**shown(response), call=[call.name, call.arguments, call.output, call.status])


def client_tool():
    """The loop of OpenAI's own documentation, with the id of the previous response."""
    response = client.responses.create(model=MODEL, input="weather", tools=[TOOL])
    first = shown(response)
    outputs = [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": f"rain in {json.loads(item.arguments)['city']}",
        }
        for item in response.output
        if item.type == "function_call"
    ]
    try:
        client.responses.create(model=MODEL, input="hello", previous_response_id=response.id)
    except openai.BadRequestError as error:
        refused = error.message
    with client.responses.stream(model=MODEL, input=outputs, previous_response_id=response.id, tools=[TOOL]) as events:
        for _ in events:
            pass
        second = events.get_final_response()
    again = client.responses.create(model=MODEL, input=outputs, previous_response_id=response.id, tools=[TOOL])
    items = [item.to_dict() for item in client.responses.input_items.list(second.id)]
    say(first=first, second=shown(second), again=shown(again), refused=refused, items=items)


def stateless():
    """The same loop of an app that keeps the conversation itself."""
    items = [{"role": "user", "content": "weather"}]
    response = client.responses.create(model=MODEL, input=items, tools=[TOOL])
    items += response.output
    for item in response.output:
        if item.type == "function_call":
            items.append({"type": "function_call_output", "call_id": item.call_id, "output": "rain"})
    response = client.responses.create(model=MODEL, input=items, tools=[TOOL])
    items += response.output
    items.append({"role": "user", "content": "repeat"})
    say(
        **shown(response),
        repeated=client.responses.create(model=MODEL, input=items, instructions="Be brief.").output_text,
    )


def chain():
    one = client.responses.create(model=MODEL, input="hello")
    two = client.responses.create(model=MODEL, input="repeat two", previous_response_id=one.id)
    beside = client.responses.create(model=MODEL, input="repeat beside", previous_response_id=one.id)
    talk = client.conversations.create()
    client.responses.create(model=MODEL, input="hello", conversation=talk.id)
    four = client.responses.create(model=MODEL, input="repeat four", conversation=talk.id)
    assert four.conversation.id == client.conversations.retrieve(talk.id).id
    say(two=two.output_text, beside=beside.output_text, four=four.output_text)


def approval():
    final = None
    for event in client.responses.create(model=MODEL, input="refund", stream=True):
        if event.type == "response.in_progress" and event.response.runyard["waits"]:
            say(waits=event.response.runyard["waits"])
        if event.type == "response.completed":
            final = event.response
    say(**shown(final))


def impatient():
    """Ask for an answer that a person delays, without a stream. The library repeats what times out."""
    hasty, found = client.with_options(timeout=5), []
    messages = [{"role": "user", "content": "refund"}]
    for ask in (
        lambda: hasty.responses.create(model=MODEL, input="refund"),
        lambda: hasty.chat.completions.create(model=MODEL, messages=messages),
    ):
        try:
            ask()
        except openai.APIStatusError as error:
            name = error.message.partition("response ")[2].partition(".")[0]
            found.append([error.code, client.responses.retrieve(name).status])
    say(found=found)


def cancel():
    response = client.responses.create(model=MODEL, input="endless", background=True)
    seen = []
    for event in client.responses.retrieve(response.id, stream=True):
        seen.append(event.type)
        if event.type == "response.output_text.delta" and seen.count(event.type) == 3:
            client.responses.cancel(response.id)
    say(first=response.status, last=seen[-1], status=client.responses.retrieve(response.id).status)


def files():
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}
    text = {"type": "input_text", "text": "look"}
    pdf = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjc="}
    response = client.responses.create(model="viewer", input=[{"role": "user", "content": [text, image, pdf]}])
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": image["image_url"]}}]
    messages = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": "seen"},
        {"role": "user", "content": content},
    ]
    chat = client.chat.completions.create(model="viewer", messages=messages)
    made = client.responses.create(model="printer", input="one").runyard["files"]
    [item] = client.responses.input_items.list(response.id)
    parts = [[part.type, getattr(part, "text", None)] for part in item.content]
    say(response=response.output_text, made=made[0]["name"], chat=chat.choices[0].message.content, input=parts)


def delete():
    response = client.responses.create(model=MODEL, input="hello")
    talk = client.conversations.create()
    client.responses.create(model=MODEL, input="hello", conversation=talk.id)
    client.responses.delete(response.id)
    client.conversations.delete(talk.id)
    try:
        client.responses.retrieve(response.id)
    except openai.NotFoundError as error:
        say(gone=error.message)


def error():
    found = {}
    failed = client.responses.create(model=MODEL, input="fail")
    found["failed"] = [failed.status, failed.error.code]
    requests = {
        "model": {"model": "nobody", "input": "hello"},
        "image": {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]},
        "tool": {"input": "hello", "tools": [{"type": "web_search"}]},
        "format": {"input": "hello", "text": {"format": {"type": "json_object"}}},
        "unknown": {"input": "hello", "extra_body": {"modle": "helper"}},
        "previous": {"input": "hello", "previous_response_id": "resp_1"},
    }
    for name, request in requests.items():
        try:
            client.responses.create(**{"model": MODEL, **request})
        except openai.APIStatusError as refused:
            found[name] = [type(refused).__name__, refused.code]
    try:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "fail"}])
    except openai.InternalServerError as refused:
        found["chat"] = [type(refused).__name__, refused.code]
    try:
        for _ in client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "fail"}], stream=True
        ):
            pass
    except openai.APIError as refused:
        found["chat stream"] = [type(refused).__name__, refused.code]
    say(**found)


def key():
    try:
        client.with_options(api_key="wrong").responses.create(model=MODEL, input="hello")
    except openai.AuthenticationError as refused:
        denied = [type(refused).__name__, refused.code]
    say(denied=denied, text=client.responses.create(model=MODEL, input="hello").output_text)


def follow(**request):
    """Read a response to its end over connections that break: `starting_after` is the last event that was seen."""
    seen, final, response_id = [], None, None
    connections = 0
    events = client.responses.create(model=MODEL, stream=True, background=True, **request)
    while final is None:
        connections += 1
        try:
            for event in events:
                seen.append([event.sequence_number, event.type])
                if event.type == "response.created":
                    response_id = event.response.id
                if event.type == "response.completed":
                    final = event.response
        except Exception as broken:
            if not type(broken).__module__.startswith(("httpx", "openai")):
                raise
        while final is None:
            try:
                events = client.responses.retrieve(response_id, stream=True, starting_after=seen[-1][0])
                break
            except (openai.APIConnectionError, openai.InternalServerError):
                continue
    return final, seen, connections


def resume():
    final, seen, connections = follow(input=os.environ.get("INPUT", "count"))
    say(**shown(final), seen=seen, connections=connections)


def resume_tool():
    first, *_ = follow(input="weather", tools=[TOOL])
    results = [
        {"type": "function_call_output", "call_id": item.call_id, "output": weather(item.arguments)}
        for item in first.output
        if item.type == "function_call"
    ]
    second, _, _ = follow(input=results, previous_response_id=first.id, tools=[TOOL])
    say(texts=[first.output_text, second.output_text], items=shown(first)["items"])


def chat():
    messages = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "hello"}]
    plain = client.chat.completions.with_raw_response.create(model=MODEL, messages=messages)
    first = plain.parse()
    messages += [first.choices[0].message, {"role": "user", "content": "repeat"}]
    repeated = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content
    chunks = list(
        client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "hello"}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    messages = [{"role": "user", "content": "weather"}]
    asked = client.chat.completions.create(model=MODEL, messages=messages, tools=[CHAT_TOOL]).choices[0]
    [call] = asked.message.tool_calls
    messages += [asked.message, {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    told = client.chat.completions.create(model=MODEL, messages=messages, tools=[CHAT_TOOL]).choices[0]
    say(
        text=first.choices[0].message.content,
        run=plain.headers["runyard-run-id"],
        id=first.id,
        repeated=repeated,
        streamed=streamed,
        tokens=chunks[-1].usage.total_tokens,
        asked=[asked.finish_reason, call.function.name, call.function.arguments],
        told=[told.finish_reason, told.message.content],
    )


if __name__ == "__main__":
    globals()[sys.argv[1]]()
