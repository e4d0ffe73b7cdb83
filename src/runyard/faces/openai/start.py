"""Starts the run of a request, or answers the run that waits for its tool results.

A request with results continues the run that asked for them. The results are found by their call ids, which are the ids
of waits, so a client needs no other id. Sending the same results again has no effect and returns the same response.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from runyard.base.ids import new_id
from runyard.domain.events import ClientTool
from runyard.domain.runs.run import Run
from runyard.domain.task import RunOptions
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.inline_files import new_parts
from runyard.engine.intake.user_message import UserMessage
from runyard.errors import AlreadyDecided, BadRequest, NotFound
from runyard.faces.openai import inputs, objects, wire
from runyard.faces.openai.follow import TRANSLATION, find
from runyard.faces.openai.inputs import Input

FACE = "openai"
MOST_WAITS = 200
NO_CALL = "No tool call with that call_id waits for a result. Send the results of the calls of one response."
MISSING = "No tool output found for function call {}. Send the results of all calls of the last response."
NO_CONVERSATION = "There is no conversation with that id."
NO_THREAD = "That response belongs to no conversation, so it cannot be continued. Send its text as input."


class Started(NamedTuple):
    """The response that a request leads to: a part of a run."""

    run_id: str
    part: int

    @property
    def response_id(self) -> str:
        return objects.response_id(self.run_id, self.part)

    @property
    def headers(self) -> dict[str, str]:
        return {"Runyard-Run-Id": self.run_id}


class ParsedRequest(NamedTuple):
    """A request, read."""

    owner: str
    model: str | None
    given: Input
    tools: list[ClientTool]
    instructions: str | None = None
    max_output_tokens: int | None = None
    previous: str | None = None
    conversation: str | None = None
    echo: Mapping[str, Any] = {}


async def start(engine: Engine, wanted: ParsedRequest, route: str, key: str | None, request: object) -> Started:
    """Start a run for the question, or continue the run that waits for the results. `key` is the Idempotency-Key of the
    request `request` to the `route`."""
    if wanted.given.question is None:
        return await _continue(engine, wanted)
    if wanted.model is not None and wanted.model not in engine.intake.agents:
        raise wire.ModelNotFound
    echo = {**wanted.echo, "previous_response_id": wanted.previous}
    if wanted.conversation is not None:
        echo["conversation"] = {"id": wanted.conversation}
    options = RunOptions(
        instructions=wanted.instructions,
        earlier=wanted.given.earlier,
        max_output_tokens=wanted.max_output_tokens,
        echo={name: value for name, value in echo.items() if value},
    )
    owner, question = wanted.owner, wanted.given.question
    note = idempotency_key(owner, route, key, request)
    parts = await new_parts(engine.files, owner, question, wanted.given.files)
    thread_id, model = await _place(engine, wanted)
    message = UserMessage(owner, FACE, question, model, note, wanted.tools, options, parts)
    if thread_id is None:
        accepted = await engine.intake.post_by_name(objects.conversation_id(new_id()), message)
    else:
        accepted = await engine.intake.post(thread_id, message)
    return Started(accepted.run_id, 1)


async def _place(engine: Engine, wanted: ParsedRequest) -> tuple[str | None, str | None]:
    """Return the thread that the request continues, or None, and the agent that answers."""
    if wanted.conversation is not None:
        return await conversation_thread(engine, wanted.owner, wanted.conversation), wanted.model
    if wanted.previous is None:
        return None, wanted.model
    run, _ = await find(engine, wanted.owner, wanted.previous)
    await _refuse_open_calls(engine, wanted, run)
    if run.thread_id is None:
        raise BadRequest(NO_THREAD)
    thread = await engine.views.thread(wanted.owner, run.thread_id)
    if thread.head_run_id != run.id:  # another response has continued it: continue in a fork
        thread = await engine.intake.fork(wanted.owner, thread, run.id)
    return thread.id, wanted.model or run.agent


async def _refuse_open_calls(engine: Engine, wanted: ParsedRequest, run: Run) -> None:
    if not run.status.is_terminal and (waits := await _open_calls(engine, wanted.owner, run.id)):
        both = inputs.mixes_results_and_question(wanted.given)
        raise BadRequest(inputs.BOTH if both else MISSING.format(waits[0].id))


async def _open_calls(engine: Engine, owner: str, run_id: str) -> list[Wait]:
    waits = await engine.waits.open(owner, None, MOST_WAITS, run_id)
    return [wait for wait in waits if wait.kind == "client_tool"]


async def _continue(engine: Engine, wanted: ParsedRequest) -> Started:
    """Answer the calls that the results are for, and return the response that follows."""
    owner, results = wanted.owner, wanted.given.results
    waits = [await _call(engine, owner, call_id) for call_id in results]
    run = await engine.views.run(owner, waits[0].run_id)
    previous = None if wanted.previous is None else objects.parsed_id(wanted.previous)
    if {wait.run_id for wait in waits} != {run.id} or (wanted.previous is not None and previous is None):
        raise BadRequest(NO_CALL)
    if previous is not None and previous[0] != run.id:
        raise BadRequest(NO_CALL)
    for wait in await _open_calls(engine, owner, run.id):
        if wait.id not in results:
            raise BadRequest(MISSING.format(wait.id))
    handed = (await engine.views.fold(run, TRANSLATION)).state.handed
    part = max(handed[wait.id].part for wait in waits if wait.id in handed)
    for wait in waits:
        with suppress(AlreadyDecided):  # a repeated request, or another client was first: the first answer counts
            await engine.waits.answer_text(owner, wait.id, results[wait.id], owner)
    return Started(run.id, part + 1)


async def _call(engine: Engine, owner: str, call_id: str) -> Wait:
    try:
        wait = await engine.waits.get(owner, call_id)
    except NotFound:
        raise BadRequest(NO_CALL) from None
    if wait.kind != "client_tool":
        raise BadRequest(NO_CALL)
    return wait


async def conversation_thread(engine: Engine, owner: str, given: str) -> str:
    """Return the thread of a conversation: one that this face made, or any thread of the owner by its id."""
    thread_id = objects.thread_in(given)
    if thread_id is None:
        raise NotFound(NO_CONVERSATION)
    for find_thread, name in ((engine.views.named_thread, given), (engine.views.thread, thread_id)):
        with suppress(NotFound):
            return (await find_thread(owner, name)).id
    raise NotFound(NO_CONVERSATION)
