"""Starts the run of a request, or answers the run that waits.

A client's `runId` is used once: the same request again, or with the messages that came meanwhile, leads to the same
part of the same run. Interrupts and tool calls have the ids of waits, so answers find their run. Answers that were
recorded before have no effect.
"""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

from runyard.domain.api_key import Scope
from runyard.domain.events import ClientTool, clean
from runyard.domain.runs.run import Run
from runyard.domain.task import RunOptions
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.inline_files import new_parts
from runyard.engine.intake.user_message import UserMessage
from runyard.errors import AlreadyDecided, BadRequest, Conflict, NotFound
from runyard.faces.ag_ui import events, inputs, wire
from runyard.faces.ag_ui.events import Shown
from runyard.faces.ag_ui.follow import TRANSLATION, Part
from runyard.faces.ag_ui.inputs import Input

FACE = "ag-ui"
ROUTE = "POST /api/ag-ui"
CANCEL_PATIENCE = 5.0
RUN_ID = "runId"
NO_WAIT = "No run waits for an answer with that interruptId or toolCallId."
ONE_RUN = "The answers are for different runs. Send those of one run."
PAYLOAD = "The payload of an approval is an object with `approved`, which is true or false."


class Waiting(Conflict):
    """The agent waits for an answer. Answer its interrupts or tool calls, or stop it, before you send a message."""

    code = "waiting"

    def __init__(self, outcome: Shown) -> None:
        super().__init__()
        self.outcome = outcome  # of the part that ended because the agent waits


class ParsedRequest(NamedTuple):
    """A request, read. `check_scope` raises an error if the caller's key lacks a scope."""

    owner: str
    agent: str
    body: wire.RunAgentInput
    check_scope: Callable[[Scope], None]


async def start(engine: Engine, wanted: ParsedRequest) -> Part:
    """Start or continue a run, and return the part that the response shows."""
    if wanted.agent not in engine.intake.agents:
        raise wire.AgentNotFound
    given = inputs.read(wanted.body.messages)
    if wanted.body.resume or given.results:
        return await _continue(engine, wanted, given)
    if given.own is not None:
        return await _again(engine, wanted, given.own)
    if not given.question and not given.files:
        raise BadRequest(inputs.NO_QUESTION)
    return await _ask(engine, wanted, given, given.question or "")


async def _ask(engine: Engine, wanted: ParsedRequest, given: Input, question: str) -> Part:
    owner, body = wanted.owner, wanted.body
    head = await engine.views.thread_head(owner, body.threadId)
    run = head.run
    is_waiting = run is not None and run.status == "waiting" and await engine.waits.open(owner, None, 1, run.id)
    if run is not None and is_waiting and not await _has_started(engine, run, body.runId):
        raise Waiting(events.waiting((await engine.views.fold(run, TRANSLATION)).state.open_waits))
    tools = [ClientTool(tool.name, tool.description, tool.parameters or {}) for tool in body.tools]
    options = RunOptions(
        instructions=inputs.instructions(body),
        earlier=given.earlier if run is None else [],
        echo={RUN_ID: body.runId},
    )
    name = sha256(f"{body.threadId}\n{body.runId}".encode()).hexdigest()
    key = idempotency_key(owner, ROUTE, name, wanted.agent)
    parts = await new_parts(engine.files, owner, question, given.files)
    message = UserMessage(owner, FACE, question, wanted.agent, key, tools, options, parts)
    accepted = await engine.intake.post_by_name(body.threadId, message, head)
    return Part(accepted.run_id, 1)


async def _again(engine: Engine, wanted: ParsedRequest, run_id: str) -> Part:
    """Return the part that this request started, of which the client has messages already."""
    try:
        run = await engine.views.run(wanted.owner, run_id)
    except NotFound:
        raise BadRequest(inputs.NO_QUESTION) from None
    if not await _has_started(engine, run, wanted.body.runId):
        raise BadRequest(inputs.NO_QUESTION)
    return Part(run.id, 1)


async def _has_started(engine: Engine, run: Run, given: str) -> bool:
    """Return whether the request that the client calls `given` started this run."""
    return (await engine.views.fold(run, TRANSLATION)).state.echo.get(RUN_ID) == clean(given)


async def _continue(engine: Engine, wanted: ParsedRequest, given: Input) -> Part:
    """Record the answers, and return the part that follows the one that asked for them."""
    owner, resume = wanted.owner, {each.interruptId: each for each in wanted.body.resume or ()}
    waits = [await _wait(engine, owner, wait_id) for wait_id in (*resume, *given.results)]
    if len({wait.run_id for wait in waits}) > 1:
        raise BadRequest(ONE_RUN)
    if any(wait.kind != "client_tool" for wait in waits):
        wanted.check_scope("approve")
    run = await engine.views.run(owner, waits[0].run_id)
    shown = (await engine.views.fold(run, TRANSLATION)).state.waits
    part = 1 + max((shown[wait.id].part for wait in waits if wait.id in shown), default=0)
    for wait in waits:
        if wait.state == "pending":
            with suppress(AlreadyDecided):  # another client was first: the run continues with the first answer
                if wait.id in resume:
                    await _resolve(engine, owner, wait, resume[wait.id])
                else:
                    await _result(engine, owner, wait, given.results[wait.id])
    return Part(run.id, part)


async def _wait(engine: Engine, owner: str, wait_id: str) -> Wait:
    try:
        return await engine.waits.get(owner, wait_id)
    except NotFound:
        raise BadRequest(NO_WAIT) from None


async def _resolve(engine: Engine, owner: str, wait: Wait, answer: wire.Resume) -> None:
    """Answer an interrupt. A cancelled approval is a rejection; a cancelled question cancels the run, because the agent
    cannot continue without a value."""
    if wait.is_approval:
        payload: dict[str, Any] = {"approved": False}
        if answer.status == "resolved":
            payload = answer.payload if isinstance(answer.payload, dict) else {"approved": answer.payload}
        if not isinstance(payload.get("approved"), bool) or not isinstance(payload.get("reason"), str | None):
            raise BadRequest(PAYLOAD)
        decision, reason, edited = payload["approved"], payload.get("reason"), payload.get("editedArgs")
        await engine.waits.decide(owner, wait.id, "approved" if decision else "rejected", owner, reason, edited)
    elif answer.status == "cancelled":
        await engine.cancel(owner, wait.run_id, CANCEL_PATIENCE)
    else:
        await engine.waits.answer(owner, wait.id, answer.payload, owner)


async def _result(engine: Engine, owner: str, wait: Wait, result: str) -> None:
    """Record a result, which is text in this protocol."""
    if wait.kind != "client_tool":
        raise BadRequest(NO_WAIT)
    await engine.waits.answer_text(owner, wait.id, result, owner)
