"""Runs an agent for a test: a real process with its worker, engine and log, over a store in memory.

Environment variables and files of settings are ignored, so a test has the same result on every machine. The worker does
not interrupt code that blocks, so that a debugger may stop in it.
"""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from msgspec.structs import replace

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.documents import Documents
from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.agents.declared.model_settings import SCRIPTED
from runyard.app.process import Process
from runyard.buses.memory import MemoryBus
from runyard.domain.api_key import LOCAL
from runyard.domain.content.parts import TextPart
from runyard.domain.events import Event, RunOutput, RunWaiting, WaitRequested
from runyard.domain.task import Task
from runyard.engine.intake.content import FileReference, NewPart
from runyard.engine.intake.user_message import UserMessage
from runyard.engine.log.stream import Pause
from runyard.errors import Invalid, RunyardError
from runyard.models.scripted import Turns
from runyard.settings import Settings
from runyard.testing.answers import answer_wait
from runyard.testing.decisions import Decisions, decide
from runyard.testing.memory_store import MemoryStore
from runyard.testing.result import ResultFile, RunResult, asked_in, result_of

FACE = "threads"


class _Given(NamedTuple):
    """The answers of a test."""

    decisions: Decisions | None
    answers: Mapping[str, Any]


_SILENT = structlog.make_filtering_bound_logger(logging.CRITICAL)


class _TestSettings(Settings):
    """Settings that ignore the environment and `runyard.toml`."""

    @classmethod
    def _from_outside(cls) -> dict[str, Any]:
        return {}


async def run_agent(
    agent: Agent,
    text: str = "",
    *,
    inputs: Mapping[str, Any] | None = None,
    history: Sequence[tuple[str, str]] = (),
    decisions: Decisions | None = None,
    answers: Mapping[str, Any] | None = None,
    agents: Sequence[Agent] = (),
    turns: Turns | None = None,
    documents: Sequence[Documents] = (),
    files: Sequence[tuple[str, bytes, str]] = (),
    max_seconds: float = 30.0,
    store: MemoryStore | None = None,
) -> RunResult:
    """Run an agent without a server, a database or a network, and return the result.

    A run that fails does not raise: read `result.error`. A run that waits for an approval gets the test's decision and
    resumes as it does in production: its function is called again from the top.

    Args:
        agent: A python, model, plan, langgraph or scripted agent.
        text: The message that the agent answers.
        inputs: The inputs of a task. With inputs, a task causes the run and not a message.
        history: Earlier exchanges of the thread: pairs of a message and its answer, oldest first.
        decisions: The answers to approvals: by the name of the tool or the text of the question, or a function that
            gets the approval. An answer is True, False or a `Decision`.
        answers: The answers to questions (by their text), client tools and events (by their name). Time that the agent
            sleeps passes at once; a wait with a timeout expires if it has no answer here.
        agents: The agents that the agent runs (`ctx.run`), besides those among its tools.
        turns: The answers of a scripted model, which takes the place of a model agent's model.
        documents: The collections that the agent searches.
        files: The files of the message, each a name, its bytes and its media type.
        max_seconds: The seconds that the run may take.
        store: A store that keeps the run, for tests that look at it afterwards. The default is a new one.

    Raises:
        UndecidedApproval: If the agent waits for an approval that `decisions` does not answer.
        UnansweredWait: If it waits for something else that `answers` does not have.
        Invalid: If the agent needs a network: a remote or claude agent, or a model without `turns`.
        TimeoutError: If the run takes longer than `max_seconds`.

    Example:
        >>> @runyard.tool(approval="always")
        ... def refund(order: str) -> str:
        ...     return f"refunded {order}"
        >>> @runyard.agent
        ... async def support(ctx: runyard.Context) -> str:
        ...     return await ctx.call(refund, order=ctx.message.text)
        >>> result = asyncio.run(run_agent(support, "A-17", decisions={"refund": True}))
        >>> result.text
        'refunded A-17'
        >>> [asked.name for asked in result.approvals]
        ['refund']
    """
    if inputs is not None and (text or history):
        raise Invalid("Pass a text (with its history) or the inputs of a task, not both.")
    local, given = _local(agent, turns), _Given(decisions, answers or {})
    before = [scripted(f"{agent.name[:50]}.{n}", [{"token": answer}]) for n, (_, answer) in enumerate(history)]
    known = {one.name: one for one in (*_helpers(agent), local, *before, *agents)}
    app = App(known, {one.name: one.documents for one in documents}, local.name)
    with tempfile.TemporaryDirectory(prefix="runyard-test-") as folder, _quiet():
        process = Process(_settings(Path(folder)), app, store=store or MemoryStore(), bus=MemoryBus())
        await process.start()
        try:
            async with asyncio.timeout(max_seconds):
                if text:
                    thread = await process.engine.intake.open_thread(LOCAL, None, None)
                    for (earlier, _), speaker in zip(history, before, strict=True):
                        await _said(process, thread.id, earlier, speaker, given)
                    sent = [await _uploaded(process, *file) for file in files]
                    events = await _said(process, thread.id, text, local, given, sent)
                    return await _with_files(process, result_of(events))
                task = None if inputs is None else Task(local.task_type or local.name, dict(inputs))
                started = await process.engine.intake.start(LOCAL, FACE, local.name, task=task)
                return await _with_files(process, result_of(await _events(process, started.run_id, given)))
        finally:
            await process.stop()


def run_agent_sync(
    agent: Agent,
    text: str = "",
    *,
    inputs: Mapping[str, Any] | None = None,
    history: Sequence[tuple[str, str]] = (),
    decisions: Decisions | None = None,
    answers: Mapping[str, Any] | None = None,
    agents: Sequence[Agent] = (),
    turns: Turns | None = None,
    documents: Sequence[Documents] = (),
    files: Sequence[tuple[str, bytes, str]] = (),
    max_seconds: float = 30.0,
    store: MemoryStore | None = None,
) -> RunResult:
    """Run an agent like `run_agent`, in a test that is not async. The arguments and errors are the same.

    Example:
        >>> @runyard.agent
        ... async def echo(ctx: runyard.Context) -> str:
        ...     return ctx.message.text
        >>> run_agent_sync(echo, "hello").text
        'hello'
    """
    return asyncio.run(
        run_agent(
            agent,
            text,
            inputs=inputs,
            history=history,
            decisions=decisions,
            answers=answers,
            agents=agents,
            turns=turns,
            documents=documents,
            files=files,
            max_seconds=max_seconds,
            store=store,
        )
    )


def _local(agent: Agent, turns: Turns | None) -> Agent:
    """Return the agent as a test runs it: with a scripted model instead of its own."""
    if agent.kind in ("remote", "claude"):
        raise Invalid(f"run_agent does not run {agent.kind} agents, because they need a network.")
    settings = agent.model_settings
    if turns is not None:
        if settings is None:
            raise Invalid(f"The agent {agent.name} has no model; turns are for agents with one.")
        local = copy(agent)
        local.model_settings = replace(settings, model=SCRIPTED, turns=turns)
        return local
    if settings is not None and not settings.is_scripted:
        raise Invalid(f"The agent {agent.name} would ask {settings.model}. Pass turns=[...] for a scripted model.")
    return agent


def _helpers(agent: Agent) -> list[Agent]:
    """Return the agents among the tools of an agent, and among theirs, that need no network."""
    found = list(agent.helpers)
    for helper in found:  # the list grows during the loop
        found += helper.helpers
    return [one for one in found if one.kind not in ("remote", "claude") and _is_local(one)]


def _is_local(agent: Agent) -> bool:
    return agent.model_settings is None or agent.model_settings.is_scripted


def _settings(folder: Path) -> Settings:
    return _TestSettings(
        database_url=f"sqlite:///{folder}/unused.db",
        workspaces=folder / "workspaces",
        lease_seconds=3600,
        max_blocked_seconds=0,
        drain_seconds=0,
        stop_seconds=1,
        poll_seconds=0.05,
    )


async def _uploaded(process: Process, name: str, data: bytes, kind: str) -> FileReference:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    return FileReference((await process.files.upload(LOCAL, name, kind, pieces())).id)


async def _with_files(process: Process, result: RunResult) -> RunResult:
    """Return the result with the bytes of the files in the answer."""
    found = [
        ResultFile(file.name, file.type, await process.files.read(LOCAL, file.id))
        for output in (event.payload for event in result.events if event.type == "run.output")
        if isinstance(output, RunOutput)
        for file in output.files or ()
    ]
    return replace(result, files=found)


async def _said(
    process: Process, thread_id: str, text: str, agent: Agent, given: _Given, files: Sequence[FileReference] = ()
) -> Sequence[Event]:
    """Post a message to an agent and return the events of the run that answers it."""
    parts: list[NewPart] = [TextPart(text), *files] if files else []
    posted = await process.engine.intake.post(thread_id, UserMessage(LOCAL, FACE, text, agent.name, parts=parts))
    return await _events(process, posted.run_id, given)


async def _events(process: Process, run_id: str, given: _Given) -> Sequence[Event]:
    """Follow a run to its end, and answer what it and its children wait for."""
    events: list[Event] = []
    children: list[asyncio.Task[Sequence[Event]]] = []
    follower = process.streams.follow(run_id, 0)
    try:
        while (found := await follower.next(3600)) is not Pause.END:
            if isinstance(found, Pause):
                continue
            for event in (event for chunk in found for event in chunk.events):
                events.append(event)
                match event.payload:
                    case RunWaiting(waits):
                        await _decide(process, events, waits, given.decisions)
                        await _answer(process, waits, given)
                    case WaitRequested(child=str() as child):
                        children.append(asyncio.create_task(_child_events(process, child, given)))
                    case _:
                        pass
        return events
    finally:
        follower.close()
        await _failures_of(children)


async def _child_events(process: Process, run_id: str, given: _Given) -> Sequence[Event]:
    """Follow a child run, which may not be queued yet."""
    while not await process.store.heads([run_id]):  # noqa: ASYNC110  # nothing tells when a run is queued
        await asyncio.sleep(0.01)
    return await _events(process, run_id, given)


async def _failures_of(children: Sequence[asyncio.Task[Any]]) -> None:
    """End the tasks that follow children, and raise what a test did not answer in one of them."""
    for child in children:
        if not child.done():
            child.cancel()
    for outcome in await asyncio.gather(*children, return_exceptions=True):
        if isinstance(outcome, RunyardError):
            raise outcome


async def _answer(process: Process, waits: Sequence[str], given: _Given) -> None:
    for wait_id in waits:
        wait = await process.store.get_wait(LOCAL, wait_id)
        if wait.state == "pending" and not wait.is_approval:
            await answer_wait(process, wait, given.answers)


async def _decide(process: Process, events: Sequence[Event], waits: Sequence[str], decisions: Decisions | None) -> None:
    for asked in asked_in(events):
        if asked.approval_id in waits and asked.decision is None:
            answer = decide(decisions, asked)
            await process.engine.waits.decide(
                LOCAL,
                asked.approval_id,
                "approved" if answer.approved else "rejected",
                "test",
                answer.reason,
                answer.input,
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep log lines out of the output of a test, unless it has chosen where they go."""
    before = structlog.get_config()
    if not isinstance(before["logger_factory"], structlog.PrintLoggerFactory) or issubclass(
        before["wrapper_class"], _SILENT
    ):
        yield
        return
    structlog.configure(wrapper_class=_SILENT)
    try:
        yield
    finally:
        structlog.configure(wrapper_class=before["wrapper_class"])
