"""Starts the task of a message, or answers the task that waits.

A message with a `contextId` starts one task: the same message sent again leads to the same task. A message without one
is a new task each time, unless its request has an `Idempotency-Key`, because many clients reuse message ids.

A message with a `taskId` answers what that task waits for. All answers of a message are checked before one is recorded,
so a message that does not fit has no effect. Answers that were recorded before have no effect and lead to the same
part.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from runyard.base.ids import new_id
from runyard.base.json_schema import check_value
from runyard.domain.content.parts import DataPart, TextPart
from runyard.domain.events import Event, RunQueued, clean
from runyard.domain.runs.run import Run
from runyard.domain.runs.thread_head import ThreadHead
from runyard.domain.task import RunOptions
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.engine.intake.content import NewPart
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.inline_files import new_parts
from runyard.engine.intake.user_message import UserMessage
from runyard.errors import AlreadyDecided, BadRequest, Invalid, KeyReused, NotFound
from runyard.faces.a2a import inputs, push, wire
from runyard.faces.a2a.follow import TRANSLATION, Call, context_id, find, place_of
from runyard.faces.a2a.inputs import Answer, Decision, GivenPart
from runyard.faces.a2a.objects import Place
from runyard.web.responses import key_of

FACE = "a2a"
ROUTE = "SendMessage"
MESSAGE_ID = "messageId"
MOST_WAITS = 200
ENDED = "The task has ended. Send the message without its `taskId` to start another task in the same context."
AT_WORK = (
    "The task does not wait for an answer. Follow it with SubscribeToTask, or send the message without a `taskId`."
)
REUSED = "Another message has this `messageId` in the context, or this Idempotency-Key. Use a new one."
WRONG_CONTEXT = "The task belongs to another context. Leave out `contextId`, or send that of the task."
WHICH = (
    "The task waits for several answers. Send a data part with the `waitId` of each, as its status message has them."
)
NO_WAIT = "The task has no wait with that `waitId`."
ONE_EDIT = "Send edited arguments for one approval at a time."
NOT_A_DECISION = "This wait is answered with a `value`, not with a decision."
NO_ERROR = "Only a tool of the client can fail. Answer with a `value`."


class Started(NamedTuple):
    """The part of a run that the response shows, and the place of its task."""

    run_id: str
    part: int
    place: Place


class Prepared(NamedTuple):
    """An answer that fits its wait."""

    wait: Wait
    value: Any
    error: str | None = None
    decision: Decision | None = None


async def start(call: Call, given: wire.SendMessage) -> Started:
    """Start or continue a run."""
    await push.check(call, given.push)
    if given.message.taskId:
        return await _continue(call, given.message, given.push)
    return await _ask(call, given.message, given.push)


async def _ask(call: Call, message: wire.Message, config: wire.PushConfig | None) -> Started:
    engine, owner = call.engine, call.owner
    content = inputs.content(message.parts)
    head = await engine.views.thread_head(owner, message.contextId) if message.contextId else ThreadHead()
    await _refuse_while_waiting(call, message, head.run)
    key = idempotency_key(owner, ROUTE, _key(call, message), [call.agent, message.parts])
    text, parts = inputs.text_of(content), await _stored(engine, owner, content)
    options = RunOptions(echo={MESSAGE_ID: message.messageId})
    context = clean(message.contextId) if message.contextId else new_id()
    new_push = None if config is None else partial(push.configured, config, Place(context, call.base))
    try:
        asked = UserMessage(owner, FACE, text, call.agent, key, options=options, parts=parts, push=new_push)
        accepted = await engine.intake.post_by_name(context, asked, head)
    except KeyReused:
        raise BadRequest(REUSED) from None
    if config is not None and accepted.repeated:  # the first message may have had no configuration, or another
        await push.save(call, await engine.views.run(owner, accepted.run_id), config, at_end=False)
    elif config is not None:
        engine.pushes.add_stored(accepted.run_id)
    return Started(accepted.run_id, 1, await _place(call, context, accepted.run_id, accepted.event))


async def _place(call: Call, context: str, run_id: str, event: Event | None) -> Place:
    """Return the place of the task of a message. `event` is the first one of a new run: it names the message, so only
    the message is read."""
    if event is not None and isinstance(queued := event.payload, RunQueued) and queued.trigger is not None:
        return Place(context, call.base, await call.engine.views.message(queued.trigger))
    return await place_of(call, await call.engine.views.run(call.owner, run_id))


def _key(call: Call, message: wire.Message) -> str | None:
    """Return what makes a message the same as an earlier one, or None if it is always new."""
    if (given := key_of(call.request)) is not None or not message.contextId:
        return given
    return sha256(f"{message.contextId}\n{message.messageId}".encode()).hexdigest()


async def _stored(engine: Engine, owner: str, content: Sequence[GivenPart]) -> list[NewPart]:
    """Store the files of a message, and return its parts. A plain text has none."""
    if len(content) == 1 and isinstance(content[0], TextPart):
        return []
    found: list[NewPart] = []
    for each in content:
        found += [each] if isinstance(each, TextPart | DataPart) else await new_parts(engine.files, owner, "", [each])
    return found


async def _refuse_while_waiting(call: Call, message: wire.Message, run: Run | None) -> None:
    """Raise Waiting if the last run of the context waits for the client: the new one would wait behind it."""
    if run is None or run.status != "waiting" or not await call.engine.waits.open(call.owner, None, 1, run.id):
        return
    if (await call.engine.views.fold(run, TRANSLATION)).state.echo.get(MESSAGE_ID) != clean(message.messageId):
        raise wire.Waiting


# --- answers


async def _continue(call: Call, message: wire.Message, config: wire.PushConfig | None) -> Started:
    """Record the answers, and return the part that follows the one that asked for them."""
    run = await find(call, message.taskId or "")
    if message.contextId and message.contextId != await context_id(call, run):
        raise BadRequest(WRONG_CONTEXT)
    is_over = run.status.is_terminal
    if is_over and not await _is_repeated(call, run, message):
        raise wire.UnsupportedOperation(ENDED)
    prepared = [await _prepared(call, run, each) for each in inputs.answers(message.parts)]
    if any(each.wait.kind != "client_tool" for each in prepared):
        call.check_scope("approve")
    edits = [each for each in prepared if each.decision is not None and each.decision.edited is not None]
    if len(edits) > 1:
        raise BadRequest(ONE_EDIT)
    state = (await call.engine.views.fold(run, TRANSLATION)).state
    asked = [state.waits[each.wait.id].part for each in prepared if each.wait.id in state.waits]
    part = 1 + max(asked) if any(asked) else state.part
    if config is not None and not is_over:
        await push.save(call, run, config, at_end=True)
    for each in [*edits, *(each for each in prepared if each not in edits)]:  # an edit may be refused: it is the first
        with suppress(AlreadyDecided):  # the message is repeated, or another client was first
            await _record(call, each)
    return Started(run.id, part, await place_of(call, run))


async def _is_repeated(call: Call, run: Run, message: wire.Message) -> bool:
    """Return whether each answer of a message names a wait of the run that was answered."""
    try:
        given = inputs.answers(message.parts)
        waits = [await _wait(call, run, each) for each in given if each.wait_id is not None]
    except (BadRequest, wire.ContentTypeNotSupported):
        return False
    return len(waits) == len(given) and all(wait.state not in ("pending", "void", "expired") for wait in waits)


async def _prepared(call: Call, run: Run, given: Answer) -> Prepared:
    """Return an answer with its wait. Raises an error if it does not fit."""
    wait = await _wait(call, run, given)
    if wait.is_approval:
        if given.kind in ("value", "error"):
            raise BadRequest(inputs.APPROVAL)
        return Prepared(wait, None, decision=inputs.decision(given))
    if given.kind == "approved":
        raise BadRequest(NOT_A_DECISION)
    if given.kind == "error":
        if wait.kind != "client_tool" or not given.is_text:
            raise BadRequest(NO_ERROR)
        return Prepared(wait, None, error=given.value)
    return Prepared(wait, _fitting((wait.input or {}).get("schema"), given))


async def _wait(call: Call, run: Run, given: Answer) -> Wait:
    if given.wait_id is None:
        waits = await call.engine.waits.open(call.owner, None, MOST_WAITS, run.id)
        if not waits:
            raise wire.UnsupportedOperation(AT_WORK)
        if len(waits) > 1:
            raise BadRequest(WHICH)
        return waits[0]
    try:
        wait = await call.engine.waits.get(call.owner, given.wait_id)
    except NotFound:
        raise BadRequest(NO_WAIT) from None
    if wait.run_id != run.id:
        raise BadRequest(NO_WAIT)
    return wait


def _fitting(schema: dict[str, Any] | None, given: Answer) -> Any:
    """Return the value of an answer. A text that does not fit is decoded, because many clients send only text."""
    if schema is None:
        return given.value
    try:
        check_value(schema, given.value)
    except Invalid:
        if not given.is_text:
            raise
        with suppress(msgspec.DecodeError):
            decoded = msgspec.json.decode(given.value)
            check_value(schema, decoded)
            return decoded
        raise
    return given.value


async def _record(call: Call, given: Prepared) -> None:
    waits, owner, wait_id = call.engine.waits, call.owner, given.wait.id
    if given.decision is not None:
        is_approved, reason, edited = given.decision.is_approved, given.decision.reason, given.decision.edited
        await waits.decide(owner, wait_id, "approved" if is_approved else "rejected", owner, reason, edited)
    elif given.error is not None:
        await waits.fail(owner, wait_id, given.error, owner)
    else:
        await waits.answer(owner, wait_id, given.value, owner)
