"""The operations of the protocol, for both bindings."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.responses import Response

from runyard.domain.api_key import Scope
from runyard.faces.a2a import objects, push, tasks, wire
from runyard.faces.a2a.follow import TRANSLATION, Call, LaterUpdates, Updates, find, place_of, until_pause
from runyard.faces.a2a.start import start
from runyard.web.run_to_end import ClientGone
from runyard.web.streaming.sse import PartStream

Result = dict[str, Any] | Response
RUN_ID = "Runyard-Run-Id"
ENDED = "The task has ended. Read it with GetTask."
NO_CARD = "This server has no extended agent card."


class Operation(NamedTuple):
    """An operation: its function, its parameters, and the scope that it needs."""

    run: Callable[[Call, Any], Awaitable[Result]]
    params: type[wire.Params]
    scope: Scope


async def send(call: Call, given: wire.SendMessage) -> Result:
    """Send a message, and return the task when it has ended or requires input."""
    run_id, part, place = await start(call, given)
    length = given.configuration.historyLength
    if given.configuration.returnImmediately:
        return {"task": await tasks.shown(call, await call.engine.views.run(call.owner, run_id), length)}
    try:
        state = await until_pause(call, run_id, part)
    except ClientGone:
        return Response(status_code=499)
    return {"task": objects.task(state, place, length)}


async def stream(call: Call, given: wire.SendMessage) -> Result:
    """Send a message, and follow its task."""
    run_id, part, place = await start(call, given)
    updates = Updates(place, part, run_id, call.frame, given.configuration.historyLength)
    return PartStream(call.context, run_id, updates, {RUN_ID: run_id})


async def subscribe(call: Call, given: wire.TaskName) -> Result:
    """Follow a task from its present state."""
    run = await find(call, given.id)
    if run.status.is_terminal:
        raise wire.UnsupportedOperation(ENDED)
    [known] = await call.engine.views.folded(run, [TRANSLATION])
    updates = LaterUpdates(await place_of(call, run), known.fold, call.frame)
    return PartStream(call.context, run.id, updates, {RUN_ID: run.id}, after=known.seq, first=updates.first)


async def extended_card(call: Call, given: wire.Nothing) -> Result:
    raise wire.UnsupportedOperation(NO_CARD)


METHODS: dict[str, Operation] = {
    "SendMessage": Operation(send, wire.SendMessage, "write"),
    "SendStreamingMessage": Operation(stream, wire.SendMessage, "write"),
    "GetTask": Operation(tasks.get, wire.GetTask, "read"),
    "ListTasks": Operation(tasks.list_tasks, wire.ListTasks, "read"),
    "CancelTask": Operation(tasks.cancel, wire.TaskName, "write"),
    "SubscribeToTask": Operation(subscribe, wire.TaskName, "read"),
    "CreateTaskPushNotificationConfig": Operation(push.create, wire.CreateConfig, "write"),
    "GetTaskPushNotificationConfig": Operation(push.get, wire.ConfigName, "read"),
    "ListTaskPushNotificationConfigs": Operation(push.list_configs, wire.ConfigsOfTask, "read"),
    "DeleteTaskPushNotificationConfig": Operation(push.delete, wire.ConfigName, "write"),
    "GetExtendedAgentCard": Operation(extended_card, wire.Nothing, "read"),
}


def known_method(name: str) -> Operation:
    """Return an operation by its name in JSON-RPC."""
    try:
        return METHODS[name]
    except KeyError:
        raise wire.MethodNotFound from None
