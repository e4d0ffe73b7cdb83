"""Starts the run of a request, or answers the run that waits.

Interrupts have the ids of waits, so answers by id find their run, and sending them again has no effect. A message for a
thread that waits for an answer replaces the question, as on LangGraph's own server: the run that waits is canceled.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Literal, NamedTuple

from runyard.base.ids import new_id
from runyard.domain.api_key import Scope
from runyard.domain.conversations.thread import Thread
from runyard.domain.push import Push
from runyard.domain.runs.run import Run, Status
from runyard.domain.runs.thread_head import ThreadHead
from runyard.domain.task import RunOptions, Task
from runyard.domain.wait import Wait
from runyard.engine.engine import Engine
from runyard.engine.intake.content import FileReference
from runyard.engine.intake.idempotency import idempotency_key
from runyard.engine.intake.inline_files import new_parts
from runyard.engine.intake.user_message import UserMessage
from runyard.engine.intake.while_running import WhileRunning
from runyard.errors import AlreadyDecided, BadRequest, Invalid, NotFound
from runyard.faces.langgraph import inputs, webhooks, wire
from runyard.faces.langgraph.follow import MOST_RUNS, TRANSLATION, Started, earlier_messages
from runyard.faces.langgraph.inputs import Input

FACE = "langgraph"
TASK = "langgraph"  # the kind of the tasks of runs without a question
MOST_WAITS = 200
MOST_WAITING = 10  # runs of a thread that wait at the same time
NO_THREAD = "There is no thread with that id. Create it, or send `if_not_exists: create`."
NO_CHECKPOINT = "The thread has no checkpoint with that id."
NO_WAIT = "No run of this thread has an interrupt with that id."
SEVERAL = "The thread has several interrupts. Send `resume` as an object with the answers by their ids."
PATIENCE = 5.0
WHILE_RUNNING: dict[str | None, WhileRunning] = {
    None: "queue",
    "enqueue": "queue",
    "reject": "reject",
    "interrupt": "interrupt",
    "rollback": "queue",  # nothing is under way by then
}


class ParsedRequest(NamedTuple):
    """A request, read. `thread`: the client's id of the thread, or None for a run without one. `check_scope` raises an
    error if the caller's key lacks a scope."""

    owner: str
    thread: str | None
    body: wire.NewRun
    key: str | None
    check_scope: Callable[[Scope], None]


def shown_id(thread: Thread) -> str:
    """Return the id of a thread as its client calls it."""
    return thread.external_id or thread.id


async def find_thread(engine: Engine, owner: str, given: str) -> Thread:
    try:
        return await engine.views.named_thread(owner, given)
    except NotFound:
        raise NotFound(NO_THREAD) from None


async def start(engine: Engine, wanted: ParsedRequest) -> Started:
    """Start or continue a run, and return the part that the response shows."""
    wire.refuse_unsupported(wanted.body)
    if wanted.body.assistant_id not in engine.intake.agents:
        raise wire.AssistantNotFound
    if wanted.body.webhook is not None:
        await engine.pushes.check_address(wanted.body.webhook)
    command = wanted.body.command
    if command is not None and command.resume is not None:
        return await _resume(engine, wanted, command.resume)
    return await _ask(engine, wanted)


async def _ask(engine: Engine, wanted: ParsedRequest) -> Started:
    owner, body = wanted.owner, wanted.body
    thread, name = await _place(engine, wanted)
    replaced = None if thread is None else await _replaced(engine, thread, body.checkpoint_name)
    if thread is not None and replaced is None and body.multitask_strategy == "rollback":
        replaced = await cancel_all(engine, thread)
    given = await _given(engine, body, replaced)
    if thread is None and given.values is not None:
        raise wire.NoInput  # a new thread has nothing to continue
    options = _options(body, given)
    route = "POST /langgraph/runs" if wanted.thread is None else f"POST /langgraph/threads/{wanted.thread}/runs"
    note = idempotency_key(owner, route, wanted.key, body.model_dump())
    parts = await new_parts(engine.files, owner, given.question, given.files)
    push = None if body.webhook is None else partial(_webhook, body.webhook, name)
    message = UserMessage(owner, FACE, given.question, body.assistant_id, note, options=options, parts=parts, push=push)
    if thread is None:
        accepted = await engine.intake.post_by_name(name, message, ThreadHead())
    elif given.values is not None:
        accepted = await engine.intake.start_in_thread(
            owner,
            FACE,
            thread.id,
            body.assistant_id,
            options,
            None if replaced is None else replaced.id,
            task=Task(TASK, given.values),
            key=note,
            while_running=await _while_running(engine, thread, body),
            push=push,
        )
    elif replaced is not None:
        accepted = await engine.intake.edit(replaced.id, message)
    else:
        message = message._replace(while_running=await _while_running(engine, thread, body))
        accepted = await engine.intake.post(thread.id, message)
    if push is not None:
        engine.pushes.add_stored(accepted.run_id)
    return Started(name, accepted.run_id, 1)


def _options(body: wire.NewRun, given: Input) -> RunOptions:
    echo: dict[str, Any] = {"metadata": body.metadata, "message_id": given.message_id}
    echo["multitask_strategy"] = body.multitask_strategy
    if body.stream_mode is not None:
        echo["stream_mode"] = list(body.modes)
    return RunOptions(earlier=given.earlier, echo={key: value for key, value in echo.items() if value})


async def _while_running(engine: Engine, thread: Thread, body: wire.NewRun) -> WhileRunning:
    """Return what happens to the runs of the thread that have not ended. A new run replaces those that wait."""
    if thread.head_run_id is not None and await _open_waits(engine, thread.owner, thread):
        return "interrupt"
    return WHILE_RUNNING[body.multitask_strategy]


def _webhook(url: str, thread: str, run_id: str) -> Push:
    """Return the webhook of the first part of a run."""
    return webhooks.webhook(url, Started(thread, run_id, 1))


async def cancel_all(engine: Engine, thread: Thread) -> Run | None:
    """Cancel the runs of a thread that have not ended: first those that are queued, so that none of them starts.
    Return the oldest of them."""
    runs = await engine.views.open_runs(thread.owner, thread.id)
    for run in reversed(runs):
        await engine.cancel(thread.owner, run.id, PATIENCE)
    return runs[0] if runs else None


async def record(engine: Engine, thread: Thread, values: Any, checkpoint: str | None) -> str:
    """Add the messages that are new to a thread, after its last run or after a checkpoint. Return the id of the
    checkpoint with them. No agent runs."""
    replaced = await _replaced(engine, thread, checkpoint)
    last = None if thread.head_run_id is None else await engine.views.run(thread.owner, thread.head_run_id)
    messages = inputs.recorded(values, await _contents(engine, last))
    if not messages:
        return checkpoint or thread.head_run_id or thread.id
    agent = thread.agent if last is None else last.agent
    options = RunOptions(earlier=messages, is_record=True)
    made = await engine.intake.start_in_thread(
        thread.owner, FACE, thread.id, agent, options, replaced=None if replaced is None else replaced.id
    )
    await engine.streams.wait_for_end(made.run_id, 0, PATIENCE)
    return made.run_id


async def _contents(engine: Engine, run: Run | None) -> dict[str, Any]:
    """Return the contents of the messages of a state by their ids."""
    if run is None:
        return {}
    translation = await engine.views.fold(run, TRANSLATION)
    earlier = await earlier_messages(engine, run, translation.state)
    return {each["id"]: each["content"] for each in [*earlier, *translation.values()["messages"]]}


async def _given(engine: Engine, body: wire.NewRun, replaced: Run | None) -> Input:
    """Return what the request asks. Without an input it asks the question of the run that it replaces again."""
    if body.input is not None or replaced is None:
        return inputs.read(body.input)
    question = (await engine.views.triggers([replaced])).get(replaced.id)
    if question is None:
        raise wire.NoInput
    return Input(question.text, files=[FileReference(file.id) for file in question.files])


async def _replaced(engine: Engine, thread: Thread, given: str | None) -> Run | None:
    """Return the run after this checkpoint, or None if the request continues from the last run."""
    last = thread.head_run_id
    if not given or given == (last or thread.id):
        return None
    if last is None:
        raise NotFound(NO_CHECKPOINT)
    for _ in range(MOST_RUNS):
        run = await engine.views.run(thread.owner, last)
        if run.thread_id == thread.id and before(run) == given:
            return run
        if run.parent_id is None:
            break
        last = run.parent_id
    raise NotFound(NO_CHECKPOINT)


def before(run: Run) -> str:
    """Return the id of the checkpoint before a run: the run before it, or its thread."""
    return run.parent_id or run.thread_id or ""


async def _place(engine: Engine, wanted: ParsedRequest) -> tuple[Thread | None, str]:
    """Return the thread of a request, or None if it must be created, and its name."""
    if wanted.thread is None:
        return None, new_id()
    try:
        thread = await find_thread(engine, wanted.owner, wanted.thread)
    except NotFound:
        if wanted.body.if_not_exists != "create" or len(wanted.thread) > wire.NAME_LENGTH:
            raise
        return None, wanted.thread
    return thread, shown_id(thread)


async def _open_waits(engine: Engine, owner: str, thread: Thread) -> list[Wait]:
    """Return what the runs of a thread wait for and a client may answer."""
    waiting = await engine.views.runs(owner, None, MOST_WAITING, status=Status.WAITING, thread_id=thread.id)
    return [wait for run in waiting for wait in await engine.waits.open(owner, None, MOST_WAITS, run.id)]


async def _resume(engine: Engine, wanted: ParsedRequest, resume: Any) -> Started:
    """Record the answers, and return the part that follows the one that asked for them."""
    if wanted.thread is None:
        raise BadRequest("A run without a thread cannot be resumed. Use the routes of its thread.")
    thread = await find_thread(engine, wanted.owner, wanted.thread)
    answers, waits = await _matched(engine, wanted.owner, thread, resume)
    if any(wait.kind != "client_tool" for wait in waits):
        wanted.check_scope("approve")
    run = await engine.views.run(wanted.owner, waits[0].run_id)
    started = Started(shown_id(thread), run.id, await _next_part(engine, run, waits))
    if wanted.body.webhook is not None:  # stored first, so that no crash loses it; another client may answer
        await engine.pushes.put(webhooks.webhook(wanted.body.webhook, started), at_end=False)
    for wait in waits:
        if wait.state == "pending":
            with suppress(AlreadyDecided):  # another client was first: the run continues with the first answer
                await _answer(engine, wanted.owner, wait, answers[wait.id])
    return started


async def _matched(engine: Engine, owner: str, thread: Thread, resume: Any) -> tuple[dict[str, Any], list[Wait]]:
    """Return the answers by wait id, and their waits, which are of one run of the thread."""
    answers = inputs.answers_by_id(resume)
    if answers is None:
        waits = await _open_waits(engine, owner, thread)
        if not waits:
            raise wire.NothingToResume
        if len(waits) > 1:
            raise Invalid(SEVERAL)
        return {waits[0].id: resume}, waits
    try:
        waits = [await engine.waits.get(owner, wait_id) for wait_id in answers]
        runs = {(await engine.views.run(owner, wait.run_id)).thread_id for wait in waits}
    except NotFound:
        raise NotFound(NO_WAIT) from None
    if runs != {thread.id} or len({wait.run_id for wait in waits}) > 1:
        raise NotFound(NO_WAIT)
    return answers, waits


async def _next_part(engine: Engine, run: Run, waits: list[Wait]) -> int:
    state = (await engine.views.fold(run, TRANSLATION)).state
    asked = max((state.waits[wait.id].part for wait in waits if wait.id in state.waits), default=0)
    return asked + 1 if asked else max(1, state.part)


async def _answer(engine: Engine, owner: str, wait: Wait, answer: Any) -> None:
    if wait.is_approval:
        found = inputs.decision(answer)
        decided: Literal["approved", "rejected"] = "approved" if found.is_approved else "rejected"
        await engine.waits.decide(owner, wait.id, decided, owner, found.reason, found.edited)
    elif wait.kind == "client_tool" and isinstance(answer, dict) and isinstance(answer.get("error"), str):
        await engine.waits.fail(owner, wait.id, answer["error"], owner)
    else:
        await engine.waits.answer(owner, wait.id, answer, owner)
