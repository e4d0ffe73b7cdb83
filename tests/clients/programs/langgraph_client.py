"""Drives the library `langgraph-sdk`, unmodified, as an app would: `python langgraph_client.py <case>`.

`BASE_URL` and `API_KEY` are in the environment. Every line that it prints is a JSON object; the last one is the result.
"""

import asyncio
import json
import os
import sys
import warnings

from langgraph_sdk import get_client
from langgraph_sdk.errors import APIStatusError

MODES = ["values", "messages-tuple", "updates", "custom"]
client = get_client(url=os.environ["BASE_URL"] + "/langgraph", api_key=os.environ.get("API_KEY"))
warnings.simplefilter("ignore")


def say(**what):
    print(json.dumps(what), flush=True)


def asks(text):
    return {"messages": [{"role": "user", "content": text}]}


def texts(values):
    return [[message["type"], message["content"]] for message in values["messages"]]


async def followed(parts):
    """Return the parts of a stream: their names and ids, the text of the pieces, and the last values."""
    seen, ids, pieces, last, errors = [], [], [], None, []
    async for part in parts:
        seen.append(part.event)
        ids.append(part.id)
        if part.event == "messages":
            message, _ = part.data
            pieces.append(message["content"] if message["type"] == "AIMessageChunk" else "")
        if part.event == "values":
            last = part.data
        if part.event == "error":
            errors.append(part.data)
    return {"events": seen, "ids": ids, "text": "".join(pieces), "values": last, "errors": errors}


async def answer():
    thread = await client.threads.create(metadata={"user": "ann"})
    values = await client.runs.wait(thread["thread_id"], "helper", input=asks("hello"), metadata={"order": "A-1"})
    found = await client.threads.get(thread["thread_id"])
    [run] = await client.runs.list(thread["thread_id"])
    state = await client.threads.get_state(thread["thread_id"])
    assert run["metadata"] == {"order": "A-1"}
    assert state["values"] == values == found["values"], (state["values"], values)
    assert await client.runs.join(thread["thread_id"], run["run_id"]) == values
    alone = await client.runs.wait(None, "helper", input=asks("hello"))
    assistants = [each["assistant_id"] for each in await client.assistants.search()]
    assert (await client.assistants.get("helper"))["graph_id"] == "helper"
    say(
        texts=texts(values),
        alone=texts(alone),
        status=[run["status"], found["status"], state["next"]],
        reasoning=values["messages"][-1]["additional_kwargs"],
        assistants=assistants,
    )


async def stream():
    created = []
    parts = client.runs.stream(
        None, "helper", input=asks(os.environ["INPUT"]), stream_mode=MODES, on_run_created=created.append
    )
    found = await followed(parts)
    [run] = created
    again = await followed(client.runs.join_stream(run["thread_id"], run["run_id"]))
    assert again == found, "the same run, followed later"
    half = len(found["ids"]) // 2
    rest = await followed(
        client.runs.join_stream(run["thread_id"], run["run_id"], last_event_id=found["ids"][half], stream_mode=MODES)
    )
    assert found["ids"][half + 1 :] == rest["ids"]
    say(**found, run=run)


async def threads():
    thread = await client.threads.create(thread_id="my-thread", metadata={"user": "ann"}, graph_id="helper")
    same = await client.threads.create(thread_id="my-thread", if_exists="do_nothing")
    await client.threads.update("my-thread", metadata={"topic": "rain"})
    other = await client.threads.create(metadata={"user": "bob"})
    await client.runs.wait("my-thread", "helper", input=asks("hello"))
    await client.runs.wait("my-thread", "helper", input=asks("look"), multitask_strategy="reject")
    copy = await client.threads.copy("my-thread")
    await client.runs.wait(copy["thread_id"], "helper", input=asks("hello again"))
    found = await client.threads.search(metadata={"user": "ann", "topic": "rain"}, select=["thread_id", "metadata"])
    history = await client.threads.get_history("my-thread")
    earlier = await client.threads.get_history("my-thread", before=history[0]["checkpoint"]["checkpoint_id"])
    first = await client.threads.get_state("my-thread", checkpoint_id=history[1]["checkpoint"]["checkpoint_id"])
    assert first["values"] == earlier[0]["values"] == history[1]["values"]
    state = await client.threads.get_state(copy["thread_id"])
    await client.threads.delete(other["thread_id"])
    say(
        same=thread["thread_id"] == same["thread_id"],
        found=found,
        history=[len(each["values"]["messages"]) for each in history],
        copied=texts(state["values"]),
        left=sorted(each["thread_id"] == "my-thread" for each in await client.threads.search()),
        copy=copy["thread_id"],
    )


async def approval():
    """Approve a call as LangChain's middleware for people does it."""
    thread = (await client.threads.create())["thread_id"]
    first = await followed(
        client.runs.stream(thread, "helper", input=asks("refund"), stream_mode=["values", "updates"])
    )
    [interrupt] = first["values"]["__interrupt__"]
    state = await client.threads.get_state(thread)
    status = (await client.threads.get(thread))["status"]
    [run] = await client.runs.list(thread)
    assert state["interrupts"] == [interrupt], state
    say(interrupt=interrupt, status=[status, run["status"]])
    resume = {"decisions": [{"type": "edit", "edited_action": {"name": "refund", "args": {"order": "B-2"}}}]}
    second = await followed(client.runs.stream(thread, "helper", command={"resume": resume}, stream_mode="values"))
    again = await client.runs.wait(thread, "helper", command={"resume": {interrupt["id"]: True}})
    assert again == second["values"], "the same answer again leads to the same values"
    runs = [[each["run_id"].removeprefix(run["run_id"]), each["status"]] for each in await client.runs.list(thread)]
    say(events=[first["events"], second["events"]], texts=texts(second["values"]), runs=runs)


async def questions():
    """Answer what the airline waits for: a question, a tool of the client and a confirmation."""
    thread = (await client.threads.create())["thread_id"]
    seen, refused = [], None
    values = await client.runs.wait(thread, "airline", input={"wish": "a seat"})
    try:
        await client.runs.wait(thread, "airline", command={"resume": {"row": "window"}})
    except Exception as error:
        refused = error.response.status_code
    for resume in ({"row": 12}, "Oslo", True):
        [interrupt] = values["__interrupt__"]
        seen.append([interrupt["value"], "response_schema" in interrupt])
        if resume == "Oslo":
            resume = {interrupt["id"]: resume}
        values = await client.runs.wait(thread, "airline", command={"resume": resume})
    say(seen=seen, refused=refused, texts=texts(values), seat=values["seat"])


async def files():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    text = {"type": "file", "mime_type": "text/plain", "data": "aGVsbG8=", "metadata": {"filename": "a.txt"}}
    seen = await client.runs.wait(None, "viewer", input=asks([{"type": "text", "text": "look"}, image, text]))
    made = await client.runs.wait(None, "printer", input=asks("one"))
    say(seen=seen["messages"][-1]["content"], made=made["messages"][-1]["additional_kwargs"])


async def cancel():
    thread = (await client.threads.create())["thread_id"]
    created, seen = [], []
    async for part in client.runs.stream(
        thread, "helper", input=asks("endless"), stream_mode="messages-tuple", on_run_created=created.append
    ):
        seen.append(part)
        if len(seen) == 4:
            await client.runs.cancel(thread, created[0]["run_id"], wait=True)
    run = await client.runs.get(thread, created[0]["run_id"])
    say(last=[seen[-1].event, seen[-1].data["error"]], status=run["status"])


async def several():
    """Send messages while a run is under way."""
    thread = (await client.threads.create())["thread_id"]
    first = await client.runs.create(thread, "helper", input=asks("endless"))
    refused = {}
    try:
        await client.runs.create(thread, "helper", input=asks("hello"), multitask_strategy="reject")
    except APIStatusError as error:
        refused["reject"] = [type(error).__name__, error.code]
    queued = await client.runs.create(thread, "helper", input=asks("hello"), multitask_strategy="enqueue")
    before = (await client.threads.get(thread))["status"]
    await client.runs.cancel(thread, queued["run_id"], wait=True)
    values = await client.runs.wait(thread, "helper", input=asks("hello"), multitask_strategy="interrupt")
    status = (await client.runs.get(thread, first["run_id"]))["status"]
    other = (await client.threads.create())["thread_id"]
    await client.runs.wait(other, "helper", input=asks("look"))
    gone = await client.runs.create(other, "helper", input=asks("endless"))
    rolled = await client.runs.wait(other, "helper", input=asks("hello"), multitask_strategy="rollback")
    undone = (await client.runs.get(other, gone["run_id"]))["status"]
    say(refused=refused, before=before, status=status, last=texts(values)[-1], rolled=texts(rolled), undone=undone)


async def updates():
    """Begin a thread with messages, add one, and go back to the first state."""
    said = [{"role": "user", "content": "I am Ann."}, {"role": "assistant", "content": "Hello, Ann."}]
    steps = [{"updates": [{"values": {"messages": [each]}, "as_node": "helper"}]} for each in said]
    thread = (await client.threads.create(graph_id="helper", supersteps=steps))["thread_id"]
    first = await client.threads.get_state(thread)
    more = {"messages": [*first["values"]["messages"], {"role": "ai", "content": "How are you?"}]}
    made = await client.threads.update_state(thread, more)
    values = await client.runs.wait(thread, "helper", input=asks("repeat"))
    before = {"checkpoint_id": first["checkpoint"]["checkpoint_id"]}
    await client.threads.update_state(thread, [{"messages": "Good "}, {"messages": ["bye."]}], checkpoint=before)
    last = await client.threads.get_state(thread)
    refused = {}
    changed = {"messages": [{**first["values"]["messages"][0], "content": "I am Bob."}]}
    wrong = {"values": {"mood": "good"}, "empty": {"messages": []}, "none": None, "changed": changed}
    for name, given in wrong.items():
        try:
            await client.threads.update_state(thread, given)
        except APIStatusError as error:
            refused[name] = [type(error).__name__, error.code]
    await client.runs.create(thread, "helper", input=asks("endless"))
    try:
        await client.threads.update_state(thread, {"messages": ["Too late."]})
    except APIStatusError as error:
        refused["busy"] = [type(error).__name__, error.code]
    await client.runs.cancel_many(status="all")
    say(
        first=texts(first["values"]),
        checkpoint="checkpoint_id" in made["checkpoint"],
        repeated=texts(values)[-1][1],
        last=texts(last["values"]),
        refused=refused,
    )


async def lists():
    """Count, sort and filter threads; start runs in a batch, and cancel some of them."""
    batch = await client.runs.create_batch([{"assistant_id": "helper", "input": asks("hello")} for _ in range(3)])
    for run in batch:
        await client.runs.join(run["thread_id"], run["run_id"])
    oldest = batch[0]["thread_id"]
    await client.threads.update(oldest, metadata={"user": "ann"})
    await client.runs.wait(oldest, "helper", input=asks("hello"), metadata={"turn": "two"})
    by_change = await client.threads.search(sort_by="updated_at", sort_order="desc", limit=1)
    run = await client.runs.create(oldest, "helper", input=asks("endless"))
    counts = [await client.threads.count(), await client.threads.count(metadata={"user": "ann"})]
    counts += [await client.threads.count(status="busy"), await client.threads.count(values={"mood": "good"})]
    history = await client.threads.get_history(oldest, metadata={"turn": "two"})
    await client.runs.cancel_many(thread_id=oldest, run_ids=[run["run_id"]])
    await client.runs.join(oldest, run["run_id"])
    schemas = await client.assistants.get_schemas("helper")
    graph = await client.assistants.get_graph("helper")
    say(
        counts=counts,
        newest=by_change[0]["thread_id"] == oldest,
        history=[len(each["values"]["messages"]) for each in history],
        canceled=(await client.runs.get(oldest, run["run_id"]))["status"],
        assistants=[await client.assistants.count(), await client.assistants.count(name="help")],
        versions=[each["version"] for each in await client.assistants.get_versions("helper")],
        schema=list(schemas["state_schema"]["properties"]),
        nodes=[each["id"] for each in graph["nodes"]],
        subgraphs=await client.assistants.get_subgraphs("helper"),
    )


async def webhook():
    """Two runs of the client with an address for each: one that waits, and its answer."""
    thread = (await client.threads.create())["thread_id"]
    url = os.environ["HOOK"]
    await client.runs.wait(thread, "helper", input=asks("refund"), metadata={"a": 1}, webhook=f"{url}/first")
    await client.runs.wait(thread, "helper", command={"resume": True}, webhook=f"{url}/second")
    say(thread=thread)


async def error():
    found = {}
    try:
        await client.runs.wait(None, "helper", input=asks("fail"))
    except Exception as failed:
        found["failed"] = str(failed).partition(":")[0]
    found["stream"] = (await followed(client.runs.stream(None, "helper", input=asks("fail"))))["errors"][0]["error"]
    requests = {
        "assistant": (None, "none", {"input": asks("hello")}),
        "thread": ("none", "helper", {"input": asks("hello")}),
        "input": (None, "helper", {}),
        "message": (None, "helper", {"input": {"messages": [{"role": "tool", "content": "x"}]}}),
        "later": (None, "helper", {"input": asks("hello"), "after_seconds": 5}),
        "mode": (None, "helper", {"input": asks("hello"), "stream_mode": "debug"}),
        "webhook": (None, "helper", {"input": asks("hello"), "webhook": "http://127.0.0.1/"}),
    }
    for name, (thread, assistant, more) in requests.items():
        try:
            await client.runs.create(thread, assistant, **more)
        except APIStatusError as refused:
            found[name] = [type(refused).__name__, refused.code]
    thread = (await client.threads.create())["thread_id"]
    try:
        await client.runs.create(thread, "helper", command={"resume": 1})
    except APIStatusError as refused:
        found["resume"] = [type(refused).__name__, refused.code]
    say(**found)


async def key():
    wrong = get_client(url=os.environ["BASE_URL"] + "/langgraph", api_key="wrong")
    try:
        await wrong.assistants.search()
    except APIStatusError as refused:
        denied = [type(refused).__name__, refused.code]
    say(denied=denied, text=texts(await client.runs.wait(None, "helper", input=asks("hello")))[-1][1])


async def resume():
    """Follow a run over connections that break. The library reconnects by itself."""
    parts = client.runs.stream(None, "helper", input=asks(os.environ.get("INPUT", "hello")), stream_mode=MODES)
    say(**await followed(parts))


async def book():
    """Answer a question, a call of a tool and a confirmation, over connections that break."""
    thread, asked = (await client.threads.create())["thread_id"], []
    given = {"input": {"wish": "a seat"}}
    for resume in ({"row": 12}, "Oslo", True, None):
        found = await followed(client.runs.stream(thread, "airline", stream_mode=MODES, **given))
        asked += [each["value"] for each in found["values"].get("__interrupt__", ())]
        given = {"command": {"resume": resume}}
    say(asked=[each if isinstance(each, str) else list(each) for each in asked], texts=texts(found["values"]))


async def wait():
    """Wait for values while the server is killed and another one is started. The library asks again by itself."""
    created = lambda run: say(**run)  # noqa: E731
    say(texts=texts(await client.runs.wait(None, "helper", input=asks("hello"), on_run_created=created)))


async def thread_stream():
    """Two runs of one thread: an answer in pieces, and an approval."""
    async with client.threads.stream(assistant_id="helper") as thread:
        await thread.run.start(input=asks("hello"))
        messages = [message async for message in thread.messages]
        pieces = [piece for message in messages async for piece in message.text]
        first = await thread.output
    async with client.threads.stream(thread.thread_id, assistant_id="helper") as again:
        await again.run.start(input=asks("refund"))
        _ = [values async for values in again.values]  # to the interrupt
        asked = again.interrupts[0]["value"]["action_requests"][0]["name"]
        rest = aiter(again.values)
        following = asyncio.ensure_future(anext(rest))  # before the answer: the run may end at once after it
        await asyncio.sleep(0)
        await again.run.respond({"decisions": [{"type": "approve"}]})
        _, *_, last = [await following, *[values async for values in rest]]  # to the end
    say(pieces=pieces, first=texts(first), asked=asked, last=texts(last)[-1])


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]]())
