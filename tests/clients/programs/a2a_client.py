"""Drives the library `a2a-sdk`, unmodified, as an app would: `python a2a_client.py <case>`.

`BASE_URL` is in the environment. Every line that it prints is a JSON object; the last one is the result.
"""

import asyncio
import json
import os
import sys
import uuid

import httpx
from a2a.client import A2AClientError, AgentCardResolutionError, ClientConfig, ClientFactory
from a2a.client.auth import AuthInterceptor, CredentialService
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
    UnsupportedOperationError,
)
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict, ParseDict

BINDINGS = ("JSONRPC", "HTTP+JSON")
PAUSES = ("COMPLETED", "FAILED", "INPUT_REQUIRED")
BASE = os.environ["BASE_URL"]


def say(**what):
    print(json.dumps(what), flush=True)


async def connect(binding, agent="helper", streaming=True, **headers):
    http = httpx.AsyncClient(timeout=60, headers=headers)
    config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming)
    return await ClientFactory(config).create_from_url(f"{BASE}/a2a/{agent}")


def message(*parts, task=None, name=None):
    made = [Part(text=each) if isinstance(each, str) else each for each in parts]
    found = Message(message_id=name or str(uuid.uuid4()), role=Role.ROLE_USER, parts=made)
    if task is not None:
        found.task_id = task.id
    return SendMessageRequest(message=found)


def data(value):
    return ParseDict({"data": value}, Part())


class Reader:
    """Builds a task from a stream, and remembers what came."""

    def __init__(self):
        self.task = None
        self.artifacts = {}
        self.kinds = []
        self.states = []
        self.data = []

    async def read(self, stream):
        async for event in stream:
            self.take(event)
        return self

    def take(self, event):
        kind = event.WhichOneof("payload")
        self.kinds.append(kind)
        found = getattr(event, kind)
        if kind == "task":
            self.task = found
            self.artifacts = {each.artifact_id: list(each.parts) for each in found.artifacts}
        elif kind == "status_update":
            self.task.status.CopyFrom(found.status)
            self.task.metadata.update(MessageToDict(found.metadata))
            self.states.append(TaskState.Name(found.status.state).removeprefix("TASK_STATE_"))
            self.data += [MessageToDict(part)["data"] for part in found.status.message.parts if part.HasField("data")]
        elif found.append:
            self.artifacts[found.artifact.artifact_id] += found.artifact.parts
        else:
            self.artifacts[found.artifact.artifact_id] = list(found.artifact.parts)

    @property
    def text(self):
        return "".join(part.text for part in self.artifacts.get("answer", ()))

    @property
    def state(self):
        return TaskState.Name(self.task.status.state).removeprefix("TASK_STATE_")

    @property
    def questions(self):
        return [part.text for part in self.task.status.message.parts if part.HasField("text")]


async def refused(stream):
    """Return the name of the error with which a request is refused."""
    try:
        if hasattr(stream, "__aiter__"):
            await Reader().read(stream)
        else:
            await stream
    except (A2AError, A2AClientError) as error:
        return type(error).__name__
    return None


async def answer(binding):
    client = await connect(binding)
    first = await Reader().read(client.send_message(message("hello")))
    again = message("repeat")
    again.message.context_id = first.task.context_id
    plain = await connect(binding, streaming=False)
    second = await Reader().read(plain.send_message(again))
    kept = await client.get_task(GetTaskRequest(id=first.task.id))
    listed = await client.list_tasks(ListTasksRequest(context_id=first.task.context_id))
    return {
        "text": first.text,
        "states": first.states,
        "first": first.kinds[0],
        "kept": [part.text for each in kept.artifacts for part in each.parts],
        "history": [part.text for each in kept.history for part in each.parts],
        "repeated": second.text,
        "listed": {each.id for each in listed.tasks} == {first.task.id, second.task.id},
        "total": listed.total_size,
    }


async def tool(binding):
    found = await Reader().read((await connect(binding)).send_message(message("look")))
    return {"text": found.text, "data": [list(each) for each in found.data], "call": found.data[0]["toolCall"]["input"]}


async def approval(binding):
    client = await connect(binding)
    asked = await Reader().read(client.send_message(message("refund")))
    wrong = await refused(client.send_message(message("perhaps", task=asked.task)))
    other = message("hello")
    other.message.context_id = asked.task.context_id
    mixed = await refused(client.send_message(other))
    told = await Reader().read(client.send_message(message("yes", task=asked.task)))
    again = await Reader().read(client.send_message(message("refund")))
    decision = data({"approved": False, "reason": "too dear"})
    rejected = await Reader().read(client.send_message(message(decision, task=again.task)))
    return {
        "asked": [asked.state, asked.questions],
        "wrong": wrong,
        "mixed": mixed,
        "told": [told.kinds[0], told.state, told.text],
        "rejected": rejected.text,
    }


async def booking(binding):
    """A question, a tool of the client, a child run and a confirmation, in one task."""
    client = await connect(binding, "airline")
    found = await Reader().read(client.send_message(message("a seat")))
    asked = [found.questions]
    wrong = await refused(client.send_message(message(data({"row": "x"}), task=found.task)))
    wait = found.data[-1]["waitId"]
    named = await refused(client.send_message(message(data({"waitId": wait, "approved": True}), task=found.task)))
    for value in (data({"waitId": wait, "value": {"row": 12}}), "Oslo", "yes"):
        found = await Reader().read(client.send_message(message(value, task=found.task)))
        asked.append(found.questions)
    return {
        "asked": asked,
        "wrong": [wrong, named],
        "text": found.text,
        "outputs": MessageToDict(found.artifacts["outputs"][0])["data"],
        "sources": MessageToDict(found.task.metadata)["sources"],
        "history": [Role.Name(each.role) for each in (await client.get_task(GetTaskRequest(id=found.task.id))).history],
    }


async def files(binding):
    image = Part(raw=b"\x89PNG\r\n\x1a\n", media_type="image/png", filename="a.png")
    seen = await Reader().read((await connect(binding, "viewer")).send_message(message("look", image)))
    made = await Reader().read((await connect(binding, "printer")).send_message(message("print")))
    [part] = [part for parts in made.artifacts.values() for part in parts if part.url]
    async with httpx.AsyncClient() as http:
        content = (await http.get(part.url)).text
    return {"seen": seen.text, "made": [part.filename, part.media_type, content]}


async def cancel(binding):
    client, found = await connect(binding), Reader()
    canceled = None
    async for event in client.send_message(message("endless")):
        found.take(event)
        if len(found.artifacts.get("answer", ())) == 3 and canceled is None:
            canceled = await client.cancel_task(CancelTaskRequest(id=found.task.id))
    return {
        "state": found.state,
        "canceled": TaskState.Name(canceled.status.state),
        "again": await refused(client.cancel_task(CancelTaskRequest(id=found.task.id))),
    }


async def error(binding):
    client = await connect(binding)
    failed = await Reader().read(client.send_message(message("fail")))
    try:
        await connect(binding, "unknown")
    except AgentCardResolutionError as refusal:
        card = refusal.status_code
    old = await connect(binding, **{"A2A-Version": "0.3"})
    address = Part(url="https://example.com/a.png", media_type="image/png")
    return {
        "failed": [failed.state, failed.questions, MessageToDict(failed.task.status.message.metadata)["code"]],
        "card": card,
        "unknown": await refused(client.get_task(GetTaskRequest(id="unknown"))),
        "ended": await refused(client.subscribe(SubscribeToTaskRequest(id=failed.task.id))),
        "more": await refused(client.send_message(message("more", task=failed.task))),
        "version": await refused(old.get_task(GetTaskRequest(id=failed.task.id))),
        "address": await refused(client.send_message(message(address))),
    }


async def everything():
    """Every case in both bindings, side by side."""
    cases = (answer, tool, approval, booking, files, cancel, error)
    found = await asyncio.gather(*(case(binding) for binding in BINDINGS for case in cases))
    names = [case.__name__ for case in cases]
    say(**{BINDINGS[n]: dict(zip(names, found[n * len(names) :], strict=False)) for n in range(len(BINDINGS))})


class Keys(CredentialService):
    """Gives the same key for every scheme that a card declares."""

    def __init__(self, key):
        self._key = key

    async def get_credentials(self, security_scheme_name, context):
        return self._key


async def key():
    """Send a key as the card asks for, with the interceptor of the library: a wrong one, then the right one."""
    config = ClientConfig(
        httpx_client=httpx.AsyncClient(timeout=60), supported_protocol_bindings=[os.environ["BINDING"]]
    )
    clients = [
        await ClientFactory(config).create_from_url(f"{BASE}/a2a/helper", interceptors=[AuthInterceptor(Keys(given))])
        for given in ("wrong", os.environ["API_KEY"])
    ]
    try:
        await Reader().read(clients[0].send_message(message("hello")))
    except (A2AError, A2AClientError) as error:
        denied = f"{type(error).__name__}: {error}".partition(" for url")[0]
    say(denied=denied, text=(await Reader().read(clients[1].send_message(message("hello")))).text)


async def push():
    """Start a task that asks, with an address for its updates; set, read and delete another; then answer."""
    client = await connect(os.environ["BINDING"], streaming=False)
    address = TaskPushNotificationConfig(url=os.environ["HOOK"], token="token-1")
    address.authentication.scheme, address.authentication.credentials = "Bearer", "credentials-1"
    asked = message("refund")
    asked.configuration.task_push_notification_config.CopyFrom(address)
    found = await Reader().read(client.send_message(asked))
    task = found.task.id
    other = TaskPushNotificationConfig(task_id=task, id="other", url=os.environ["HOOK"] + "/other")
    made = await client.create_task_push_notification_config(other)
    name = {"task_id": task, "id": "other"}
    kept = await client.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(**name))
    listed = await client.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id=task))
    await client.delete_task_push_notification_config(DeleteTaskPushNotificationConfigRequest(**name))
    gone = await refused(client.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(**name)))
    card = await client.get_agent_card() if hasattr(client, "get_agent_card") else None
    say(
        task=task,
        state=found.state,
        made=[made.id, made.url == other.url],
        kept=[kept.id, kept.task_id == task],
        listed=[[each.id == task, each.token, each.authentication.credentials] for each in listed.configs],
        gone=gone,
        card=card is None or card.capabilities.push_notifications,
    )
    await asyncio.to_thread(sys.stdin.readline)
    done = await Reader().read(client.send_message(message("yes", task=found.task)))
    say(state=done.state)


async def again():
    """Send one message of a context until its stream reaches the end: each time it begins with the task."""
    client, cuts = await connect(os.environ["BINDING"]), 0
    asked = message("count", name="m1")
    asked.message.context_id = "my-context"
    while True:
        found = Reader()
        try:
            await found.read(client.send_message(asked))
            if found.state == "COMPLETED":
                break
        except A2AClientError:
            pass
        cuts += 1
        say(cut=cuts)
    say(text=found.text, cuts=cuts, task=found.task.id, states=found.states)


async def follow(client, found, stream):
    """Follow a task until it ends or asks, over connections that break: subscribe again, and read the task if it has
    ended meanwhile. Return the number of cuts."""
    cuts = 0
    while True:
        try:
            async for event in stream:
                found.take(event)
                if found.state in PAUSES:
                    return cuts
        except UnsupportedOperationError:
            found.take(StreamResponse(task=await client.get_task(GetTaskRequest(id=found.task.id))))
            return cuts
        except A2AClientError:
            pass
        cuts += 1
        say(cut=cuts)
        stream = client.subscribe(SubscribeToTaskRequest(id=found.task.id))


async def resubscribe():
    client, found = await connect(os.environ["BINDING"]), Reader()
    cuts = await follow(client, found, client.send_message(message(os.environ.get("INPUT", "slowly"))))
    say(text=found.text, cuts=cuts, state=found.state, kinds=found.kinds)


async def book():
    """Answer a question, a call of a tool and a confirmation, over connections that break."""
    client, found, asked = await connect(os.environ["BINDING"], "airline"), Reader(), []
    await follow(client, found, client.send_message(message("a seat")))
    for value in (data({"row": 12}), "Oslo", "yes"):
        asked.append(found.questions)
        await follow(client, found, client.send_message(message(value, task=found.task)))
    say(asked=asked, text=found.text, state=found.state)


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]]())
