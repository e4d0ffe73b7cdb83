"""The routes for A2A: agent cards, JSON-RPC at the address of an agent, and the HTTP+JSON binding below it.

A client that disconnects changes nothing: the task continues. `CancelTask` cancels it.
`SubscribeToTask` follows it again.
"""

from hashlib import sha256
from typing import Any

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from runyard.faces.a2a import wire
from runyard.faces.a2a.cards import VERSION, CardOptions, card
from runyard.faces.a2a.errors import in_rpc_shape
from runyard.faces.a2a.follow import Call, Frame
from runyard.faces.a2a.objects import Shown, encode
from runyard.faces.a2a.operations import METHODS, known_method
from runyard.faces.a2a.start import FACE
from runyard.web.auth import check_scope, owner_of
from runyard.web.body import decoded, refuse_other_types
from runyard.web.context import context_of
from runyard.web.errors.problems import Problem, plain_answer
from runyard.web.responses import Json
from runyard.web.routing import Router

AGENT = "/a2a/{agent}"
TASK = f"{AGENT}/tasks/{{task_id}}"
CONFIGS = f"{TASK}/pushNotificationConfigs"
CONFIG = f"{CONFIGS}/{{config_id}}"
CARD = "/.well-known/agent-card.json"
CARD_SECONDS = 60
RpcId = str | int | None


def _parameter(name: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


GET_PARAMETERS = (_parameter("historyLength", type="integer"),)
LIST_PARAMETERS = (
    _parameter("contextId", type="string"),
    _parameter("status", type="string"),
    _parameter("pageSize", type="integer"),
    _parameter("pageToken", type="string"),
    _parameter("historyLength", type="integer"),
    _parameter("statusTimestampAfter", type="string"),
    _parameter("includeArtifacts", type="boolean"),
)

router = Router(FACE, is_open=True)


# --- cards


@router.get(CARD, responses={304: {}})
async def default_card(request: Request) -> Response:
    """Get the card of the default agent."""
    return _card(request, context_of(request).options(CardOptions).default)


@router.get(f"{AGENT}{CARD}", responses={304: {}})
async def agent_card(request: Request, agent: str) -> Response:
    """Get the card of an agent."""
    return _card(request, agent)


def _card(request: Request, name: str | None) -> Response:
    options = context_of(request).options(CardOptions)
    agent = options.agents.get(name or "")
    if agent is None:
        raise wire.AgentNotFound
    body = msgspec.json.encode(card(agent, options, _base(request)))
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {"Cache-Control": f"max-age={CARD_SECONDS}", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _base(request: Request) -> str:
    """Return the address of this server, as the operator or the request names it."""
    given = context_of(request).options(CardOptions).public_url
    return str(request.base_url).rstrip("/") if given is None else given.rstrip("/")


# --- both bindings


async def _call(request: Request, frame: Frame) -> Call:
    version = request.headers.get("a2a-version") or request.query_params.get("A2A-Version")
    if version != VERSION:
        raise wire.VersionNotSupported
    context, agent = context_of(request), request.path_params["agent"]
    if agent not in context.engine.intake.agents:
        raise wire.AgentNotFound
    owner = await owner_of(request)
    return Call(request, context, owner, agent, _base(request), frame, lambda scope: check_scope(request, scope))


def _checked(model: type[wire.Params], given: Any, where: str) -> Any:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError([each | {"loc": (where, *each["loc"])} for each in error.errors()]) from None


# --- JSON-RPC


@router.fast("POST", AGENT, is_stream=True, or_json=True, body=wire.RpcRequest)
async def rpc(request: Request) -> Response:
    """Call a method of A2A by JSON-RPC 2.0. The answer is JSON, or a stream of JSON-RPC responses."""
    rpc_id: RpcId = None
    try:
        refuse_other_types(request)
        given = decoded(await request.body())
        rpc_id = _id(given)
        try:
            asked = wire.RpcRequest.model_validate(given)
        except ValidationError:
            raise wire.NotARequest from None
        call, operation = await _call(request, _rpc_frame(rpc_id)), known_method(asked.method)
        check_scope(request, operation.scope)
        found = await operation.run(call, _checked(operation.params, asked.params or {}, "params"))
    except Exception as error:
        problem = plain_answer(error, request.scope)
        return in_rpc_shape(problem, rpc_id) if isinstance(problem, Problem) else problem
    return found if isinstance(found, Response) else Json({"jsonrpc": "2.0", "id": rpc_id, "result": found})


@router.fast("POST", f"{AGENT}/", is_stream=True, or_json=True, body=wire.RpcRequest)
async def rpc_with_slash(request: Request) -> Response:
    """Call a method of A2A by JSON-RPC 2.0, for clients that add a slash to the address."""
    return await rpc(request)


def _id(given: Any) -> RpcId:
    """Return the id of a request, so that its errors have it too."""
    found = given.get("id") if isinstance(given, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _rpc_frame(rpc_id: RpcId) -> Frame:
    def frame(shown: Shown) -> bytes:
        return b"data: %b\n\n" % encode({"jsonrpc": "2.0", "id": rpc_id, "result": shown})

    return frame


# --- HTTP+JSON


def _frame(shown: Shown) -> bytes:
    return b"data: %b\n\n" % encode(shown)


async def _rest(request: Request, method: str, given: Any, where: str = "body") -> Response:
    operation, call = METHODS[method], await _call(request, _frame)
    check_scope(request, operation.scope)
    found = await operation.run(call, _checked(operation.params, given, where))
    return found if isinstance(found, Response) else Json(found)


async def _body(request: Request) -> Any:
    refuse_other_types(request)
    return decoded(await request.body())


@router.fast("POST", f"{AGENT}/message:send", is_stream=True, or_json=True, body=wire.SendMessage)
async def send_message(request: Request) -> Response:
    """Send a message, and get the task when it has ended or requires input."""
    return await _rest(request, "SendMessage", await _body(request))


@router.fast("POST", f"{AGENT}/message:stream", is_stream=True, body=wire.SendMessage)
async def stream_message(request: Request) -> Response:
    """Send a message, and follow its task as a stream."""
    return await _rest(request, "SendStreamingMessage", await _body(request))


@router.fast("GET", f"{AGENT}/tasks", parameters=LIST_PARAMETERS)
async def list_tasks(request: Request) -> Response:
    """List the tasks of an agent, newest first."""
    return await _rest(request, "ListTasks", dict(request.query_params), "query")


@router.fast("POST", f"{TASK}:cancel", takes_key=False)
async def cancel_task(request: Request) -> Response:
    """Cancel a task."""
    return await _rest(request, "CancelTask", {"id": request.path_params["task_id"]})


@router.fast("GET", f"{TASK}:subscribe", is_stream=True, parameters=())
async def subscribe_to_task(request: Request) -> Response:
    """Follow a task from its present state."""
    return await _rest(request, "SubscribeToTask", {"id": request.path_params["task_id"]})


@router.fast("POST", f"{TASK}:subscribe", is_stream=True, takes_key=False)
async def subscribe_to_task_by_post(request: Request) -> Response:
    """Follow a task from its present state. Client libraries send a POST."""
    return await _rest(request, "SubscribeToTask", {"id": request.path_params["task_id"]})


@router.fast("GET", TASK, parameters=GET_PARAMETERS)
async def get_task(request: Request) -> Response:
    """Get a task."""
    given = {**request.query_params, "id": request.path_params["task_id"]}
    return await _rest(request, "GetTask", given, "query")


@router.fast("POST", CONFIGS, body=wire.PushConfig, takes_key=False)
async def create_push_config(request: Request) -> Response:
    """Set an address that gets the updates of a task."""
    given = await _body(request)
    named = {**given, "taskId": request.path_params["task_id"]} if isinstance(given, dict) else given
    return await _rest(request, "CreateTaskPushNotificationConfig", named)


@router.fast("GET", CONFIGS, parameters=())
async def list_push_configs(request: Request) -> Response:
    """List the addresses that get the updates of a task."""
    return await _rest(request, "ListTaskPushNotificationConfigs", {"taskId": request.path_params["task_id"]})


@router.fast("GET", CONFIG, parameters=())
async def get_push_config(request: Request) -> Response:
    """Get an address that gets the updates of a task."""
    return await _rest(request, "GetTaskPushNotificationConfig", _config(request))


@router.delete(CONFIG)
async def delete_push_config(request: Request) -> Response:
    """Send no more updates to an address."""
    return await _rest(request, "DeleteTaskPushNotificationConfig", _config(request))


def _config(request: Request) -> dict[str, str]:
    return {"taskId": request.path_params["task_id"], "id": request.path_params["config_id"]}


@router.fast("GET", f"{AGENT}/extendedAgentCard", parameters=())
async def extended_agent_card(request: Request) -> Response:
    """Answer that agents have no extended card."""
    return await _rest(request, "GetExtendedAgentCard", {})
