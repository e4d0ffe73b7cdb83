"""Starts the run of a message, or answers the run that waits.

A message of a user starts a run in the chat's thread, once: the same message sent again leads to the same run. An
assistant message answers what its run waits for. Answers that were recorded before have no effect, so a repeated
request leads to the same part of the run.
"""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from runyard.base.ids import is_id
from runyard.domain.api_key import Scope
from runyard.domain.conversations.thread import Thread
from runyard.domain.events import ClientTool
from runyard.domain.runs.run import Run
from runyard.domain.task import RunOptions
from runyard.domain.wait import ClientWait
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.inline_files import new_parts
from runyard.engine.intake.user_message import UserMessage
from runyard.errors import AlreadyDecided, BadRequest, Conflict, NotFound
from runyard.faces.ai_sdk import inputs, wire
from runyard.faces.ai_sdk.follow import TRANSLATION, Parts
from runyard.faces.ai_sdk.inputs import Answers, Question

FACE = "ai"
ROUTE = "POST /api/ai"
MOST_WAITS = 200
NO_ANSWER = "The last message answers nothing that its run waits for. Send a message of the user."


class Waiting(Conflict):
    """The agent waits for an answer to its last message. Answer it, or stop it, before you send another message."""

    code = "waiting"


class ParsedRequest(NamedTuple):
    """A request, read. `check_scope` raises an error if the caller's key lacks a scope."""

    owner: str
    agent: str
    chat: str
    body: wire.Continuation
    check_scope: Callable[[Scope], None]


async def start(engine: Engine, wanted: ParsedRequest) -> Parts:
    """Start or continue a run, and return the part that the response shows."""
    if wanted.agent not in engine.intake.agents:
        raise wire.AgentNotFound
    given = inputs.read(wanted.body.messages)
    if isinstance(given, Answers):
        return await _continue(engine, wanted, given)
    is_new_text = wanted.body.messageId is not None
    if (is_new_text or wanted.body.trigger == "regenerate-message") and (old := await _replaced(engine, wanted, given)):
        parts = await new_parts(engine.files, wanted.owner, given.text, given.files)
        message = UserMessage(wanted.owner, FACE, given.text, wanted.agent, parts=parts)
        accepted = await engine.intake.edit(old.id, message)
        return Parts(accepted.run_id, 1, 1)
    return await _ask(engine, wanted, given)


async def _ask(engine: Engine, wanted: ParsedRequest, given: Question) -> Parts:
    owner, chat = wanted.owner, wanted.chat
    tools = [ClientTool(tool.name, tool.description, tool.input_schema) for tool in wanted.body.tools or ()]
    head = await engine.views.thread_head(owner, chat)
    options = RunOptions(earlier=given.earlier) if given.earlier and head.thread is None else None
    await _refuse_while_waiting(engine, head.run)
    name = sha256(f"{chat}\n{given.message_id}".encode()).hexdigest()
    key = idempotency_key(owner, ROUTE, name, [wanted.agent, given.text])
    parts = await new_parts(engine.files, owner, given.text, given.files)
    message = UserMessage(owner, FACE, given.text, wanted.agent, key, tools, options, parts)
    accepted = await engine.intake.post_by_name(chat, message, head)
    return Parts(accepted.run_id, 1, 1)


async def _refuse_while_waiting(engine: Engine, run: Run | None) -> None:
    """Raise Waiting if the last run waits for the client: a new message would wait behind it, and the client would see
    nothing."""
    if run is not None and run.status == "waiting" and await engine.waits.open(run.owner, None, 1, run.id):
        raise Waiting


async def _replaced(engine: Engine, wanted: ParsedRequest, given: Question) -> Run | None:
    """Return the run whose message is replaced: the one that follows the answer before the message."""
    try:
        thread: Thread = await engine.views.named_thread(wanted.owner, wanted.chat)
    except NotFound:
        return None
    runs = [run for run in await engine.views.thread_runs(thread) if run.superseded_by is None]
    ids = {run.id for run in runs}
    for run in runs:
        if run.parent_id == given.follows or (given.follows not in ids and run.parent_id not in ids):
            return run
    return None


async def _continue(engine: Engine, wanted: ParsedRequest, given: Answers) -> Parts:
    """Record the answers, and return the part that follows the one that asked for them."""
    owner = wanted.owner
    try:
        run = await engine.views.run(owner, given.run_id if is_id(given.run_id) else "")
    except NotFound:
        raise BadRequest(NO_ANSWER) from None
    waits = (await engine.views.fold(run, TRANSLATION)).state.waits
    answered = {key: wait for key, wait in waits.items() if wait.part and _is_answered(key, wait, given)}
    if not answered:
        raise BadRequest(NO_ANSWER)
    if any(wait.kind != "client_tool" for wait in answered.values()):
        wanted.check_scope("approve")
    part = 1 + max(wait.part for wait in answered.values())
    for wait_id, wait in answered.items():
        if wait.is_open:
            with suppress(AlreadyDecided):  # another client was first: the run continues with the first answer
                await _answer(engine, owner, wait_id, wait, given)
    return Parts(run.id, part, part)


def _is_answered(wait_id: str, wait: ClientWait, given: Answers) -> bool:
    return wait_id in (given.decisions if wait.is_approval else given.results)


async def _answer(engine: Engine, owner: str, wait_id: str, wait: ClientWait, given: Answers) -> None:
    if wait.is_approval:
        decision = given.decisions[wait_id]
        await engine.waits.decide(
            owner, wait_id, "approved" if decision.is_approved else "rejected", owner, decision.reason
        )
        return
    result = given.results[wait_id]
    if result.error is not None and wait.kind == "client_tool":
        await engine.waits.fail(owner, wait_id, result.error, owner)
    elif result.error is not None:
        raise BadRequest("A question is answered with a value, not with an error.")
    else:
        await engine.waits.answer(owner, wait_id, result.value, owner)
