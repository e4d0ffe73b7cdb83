"""The methods of MCP whose answer is one message: everything but tool calls."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from runyard.engine.engine import Engine
from runyard.errors import Invalid, NotFound
from runyard.faces.mcp import files, objects, tasks, wire
from runyard.faces.mcp.objects import Shown
from runyard.faces.mcp.start import Caller, answer_wait, cancel_request
from runyard.faces.mcp.wire import ProtocolError

URI_LENGTH = 500  # of the address that an error repeats
Params = Mapping[str, Any]
Method = Callable[[Engine, Caller, Params], Awaitable[Shown]]


async def _initialize(engine: Engine, caller: Caller, params: Params) -> Shown:
    return objects.initialized(params.get("protocolVersion"))


async def _ping(engine: Engine, caller: Caller, params: Params) -> Shown:
    return {}


async def _discover(engine: Engine, caller: Caller, params: Params) -> Shown:
    return objects.discovered()


async def _list_tools(engine: Engine, caller: Caller, params: Params) -> Shown:
    """List the agents. All of them fit on one page."""
    if params.get("cursor") is not None:
        raise ProtocolError(wire.INVALID_PARAMS, "The list has one page. Ask without `cursor`.")
    found = objects.tools((name, engine.agent_directory.description(name)) for name in engine.intake.agents)
    return _listed(caller, {"tools": found})


async def _list_resources(engine: Engine, caller: Caller, params: Params) -> Shown:
    """Return an empty list: results name the resources that a client may read."""
    return _listed(caller, {"resources": []})


async def _list_templates(engine: Engine, caller: Caller, params: Params) -> Shown:
    return _listed(caller, {"resourceTemplates": [files.TEMPLATE]})


async def _read_resource(engine: Engine, caller: Caller, params: Params) -> Shown:
    found = await files.read(engine, caller.owner, params)
    if found is None:
        code = wire.INVALID_PARAMS if caller.client.is_stateless else wire.NO_RESOURCE
        raise ProtocolError(
            code, "There is no resource with that address.", {"uri": str(params.get("uri"))[:URI_LENGTH]}
        )
    return _listed(caller, {"contents": found})


def _listed(caller: Caller, found: Shown) -> Shown:
    return objects.complete(**found, **objects.CACHING) if caller.client.is_stateless else found


OF_RESOURCES: Mapping[str, Method] = {
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
}
WITH_SESSIONS: Mapping[str, Method] = {
    "initialize": _initialize,
    "ping": _ping,
    "tools/list": _list_tools,
    **OF_RESOURCES,
}
STATELESS: Mapping[str, Method] = {
    "server/discover": _discover,
    "tools/list": _list_tools,
    **OF_RESOURCES,
    "tasks/get": tasks.get,
    "tasks/update": tasks.update,
    "tasks/cancel": tasks.cancel,
}

NEED_WRITE = frozenset({"tools/call", "tasks/update", "tasks/cancel", "notifications/cancelled"})


def check_scope(caller: Caller, message: wire.Message) -> None:
    """Raise ScopeMissing if the key of the caller may not send this message. Reading needs the scope `read` only."""
    if message.is_response or message.method in NEED_WRITE:
        caller.check_scope("write")


async def call(engine: Engine, caller: Caller, name: str, params: Params) -> Shown:
    """Call a method and return its result. Raises ProtocolError."""
    method = (STATELESS if caller.client.is_stateless else WITH_SESSIONS).get(name)
    if method is None:
        raise ProtocolError(wire.UNKNOWN_METHOD, "This server has no such method.")
    return await method(engine, caller, params)


async def notified(engine: Engine, caller: Caller, name: str, params: Params) -> None:
    """Take a notification. With sessions one of them cancels a request; the others need no answer."""
    if name == "notifications/cancelled" and not caller.client.is_stateless:
        await cancel_request(engine, caller, params.get("requestId"))


async def answered(engine: Engine, caller: Caller, message: wire.Message) -> None:
    """Take the answer to a form. An error of the client leaves the question open, for others to answer."""
    if caller.client.is_stateless:
        raise ProtocolError(wire.INVALID_REQUEST, "Send a request or a notification.")
    if message.error is not None:
        return
    try:
        wait = await engine.waits.get(caller.owner, str(message.id))
    except NotFound:
        raise Invalid("No run waits for an answer with that id.") from None
    await answer_wait(engine, caller, wait, message.result)
