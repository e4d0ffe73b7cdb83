"""Starts the run of a tool call, or continues one with answers; answers forms; cancels.

With a session, its id and the id of the request name the run. So a request that is sent again finds its run, and so
does a notification that cancels it, in any process.
"""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from runyard.base.ids import new_id
from runyard.domain.api_key import Scope
from runyard.domain.runs.run import Run
from runyard.domain.runs.thread_head import ThreadHead
from runyard.domain.task import RunOptions
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.engine.intake.user_message import UserMessage
from runyard.errors import AlreadyDecided, Gone, Invalid, NotFound
from runyard.faces.mcp import files, forms, objects, wire
from runyard.faces.mcp.follow import TRANSLATION, Call, echo_of
from runyard.faces.mcp.inputs import Client, Refused, ToolCall, place_of
from runyard.faces.mcp.state import State
from runyard.faces.mcp.wire import ProtocolError

FACE = "mcp"
CANCEL_PATIENCE = 5.0
MOST_WAITS = 200
NO_STATE = "`requestState` is not one of a call of this tool. Call the tool without it."
DISMISSED = "The form was dismissed."


class Caller(NamedTuple):
    """The sender of a request. `check_scope` raises an error if the key lacks a scope."""

    owner: str
    client: Client
    check_scope: Callable[[Scope], None]


class Started(NamedTuple):
    """The run of a call, and the call whose answer the client gets."""

    run_id: str
    call: Call


def run_name(session: str, request_id: Any) -> str:
    """Return the name of the run that a request of a session starts."""
    return f"mcp:{sha256(msgspec.json.encode([session, request_id])).hexdigest()}"


async def start(engine: Engine, caller: Caller, request_id: str | int, asked: ToolCall) -> Started:
    """Start the run of a call. Raises Refused if the conversation waits for an answer."""
    client, thread = caller.client, asked.thread or f"mcp-{new_id()}"
    name = None if client.session is None else run_name(client.session, request_id)
    call = Call(request_id, asked.token, client.asks, client.is_stateless, links=client.links)
    head = ThreadHead() if asked.thread is None else await engine.views.thread_head(caller.owner, asked.thread)
    await _refuse_if_waiting(engine, head.run, name)
    try:
        parts = await files.stored(engine, caller.owner, asked.message, asked.files)
    except (Invalid, NotFound) as error:
        raise Refused(str(error)) from None
    options = RunOptions(echo=echo_of(call, thread))
    message = UserMessage(
        caller.owner, FACE, asked.message, asked.agent, options=options, parts=parts, external_id=name
    )
    accepted = await engine.intake.post_by_name(thread, message, head)
    return Started(accepted.run_id, call)


async def _refuse_if_waiting(engine: Engine, run: Run | None, name: str | None) -> None:
    if run is None or run.status != "waiting" or (name is not None and run.external_id == name):
        return
    state = (await engine.views.fold(run, TRANSLATION)).state
    if state.open_waits:
        raise Refused(objects.notice(state)["content"][0]["text"])


async def go_on(engine: Engine, caller: Caller, request_id: str | int, asked: ToolCall) -> Started | State:
    """Record the answers that come with a repeated call. Return the call for the next part, or the state of the run if
    it still waits for an answer."""
    run, part = await _continued(engine, caller.owner, asked)
    answers = asked.responses or {}
    waits = {wait.id: wait for wait in await engine.waits.open(caller.owner, None, MOST_WAITS, run.id)}
    state = (await engine.views.fold(run, TRANSLATION)).state
    if state.part == part and not state.is_open:
        for wait_id, answer in answers.items():
            if wait_id in waits:
                with suppress(Invalid):  # it is asked for again
                    await answer_wait(engine, caller, waits[wait_id], answer)
        left = {wait.id for wait in await engine.waits.open(caller.owner, None, MOST_WAITS, run.id)}
        if left and left >= waits.keys():
            return (await engine.views.fold(run, TRANSLATION)).state
    return Started(run.id, Call(request_id, asked.token, caller.client.asks, True, part + 1))


async def _continued(engine: Engine, owner: str, asked: ToolCall) -> tuple[Run, int]:
    place = place_of(asked.state or "")
    if place is None:
        raise ProtocolError(wire.INVALID_PARAMS, NO_STATE)
    try:
        run = await engine.views.run(owner, place[0])
    except NotFound:
        raise ProtocolError(wire.INVALID_PARAMS, NO_STATE) from None
    if run.agent != asked.agent or not 1 <= place[1] <= (await engine.views.fold(run, TRANSLATION)).state.part:
        raise ProtocolError(wire.INVALID_PARAMS, NO_STATE)
    return run, place[1]


async def answer_wait(engine: Engine, caller: Caller, wait: Wait, answer: Any) -> None:
    """Answer a wait with a filled form. A dismissed form rejects an approval, and cancels a run that needs a value."""
    if not isinstance(answer, dict) or answer.get("action") not in ("accept", "decline", "cancel"):
        raise Invalid("An answer to a form is an object with `action`, and `content` if it is accepted.")
    if wait.kind != "client_tool":
        caller.check_scope("approve")
    if wait.state != "pending":
        return
    content, owner = answer.get("content"), caller.owner
    with suppress(AlreadyDecided):  # another client was first: the run continues with the first answer
        if answer["action"] != "accept":
            await _dismiss(engine, owner, wait)
        elif not isinstance(content, dict):
            raise Invalid("The content of a form is an object.")
        elif wait.is_approval:
            await _decide(engine, owner, wait, content)
        else:
            run = await engine.views.run(owner, wait.run_id)
            known = (await engine.views.fold(run, TRANSLATION)).state.waits.get(wait.id)
            value = content if known is None else forms.value_of(known, content)
            await engine.waits.answer(owner, wait.id, value, owner)


async def _decide(engine: Engine, owner: str, wait: Wait, content: dict[str, Any]) -> None:
    approved, reason = content.get("approved"), content.get("reason")
    if not isinstance(approved, bool) or not isinstance(reason, str | None):
        raise Invalid("`approved` must be true or false, and `reason` a text.")
    await engine.waits.decide(owner, wait.id, "approved" if approved else "rejected", owner, reason or None)


async def _dismiss(engine: Engine, owner: str, wait: Wait) -> None:
    if wait.is_approval:
        await engine.waits.decide(owner, wait.id, "rejected", owner, DISMISSED)
    elif wait.kind == "client_tool":
        await engine.waits.fail(owner, wait.id, DISMISSED, owner)
    else:
        await engine.cancel(owner, wait.run_id)


async def cancel_request(engine: Engine, caller: Caller, request_id: Any) -> None:
    """Cancel the run that a request of the session started. An unknown request is ignored."""
    if caller.client.session is None or not isinstance(request_id, str | int):
        return
    with suppress(NotFound, Gone):
        run = await engine.views.named_run(caller.owner, run_name(caller.client.session, request_id))
        await engine.cancel(caller.owner, run.id)
