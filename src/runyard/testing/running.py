"""Runs an agent for a test: a real process with its worker, engine and log, over a store in memory.

Environment variables and files of settings are ignored, so a test has the same result on every machine. The worker does
not interrupt code that blocks, so that a debugger may stop in it.
"""

import asyncio
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

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
from runyard.domain.events import Event, RunWaiting
from runyard.domain.task import Task
from runyard.engine.log.stream import Pause
from runyard.errors import Invalid
from runyard.models.scripted import Turns
from runyard.settings import Settings
from runyard.testing.decisions import Decisions, decide
from runyard.testing.memory_store import MemoryStore
from runyard.testing.result import RunResult, asked_in, result_of

FACE = "threads"
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
    turns: Turns | None = None,
    documents: Sequence[Documents] = (),
    max_seconds: float = 30.0,
    store: MemoryStore | None = None,
) -> RunResult:
    """Run an agent without a server, a database or a network, and return the result.

    A run that fails does not raise: read `result.error`. A run that waits for an approval gets the test's decision and
    resumes as it does in production: its function is called again from the top.

    Args:
        agent: A python, model, plan or scripted agent.
        text: The message that the agent answers.
        inputs: The inputs of a task. With inputs, a task causes the run and not a message.
        history: Earlier exchanges of the thread: pairs of a message and its answer, oldest first.
        decisions: The answers to approvals: by the name of the tool or the text of the question, or a function that
            gets the approval. An answer is True, False or a `Decision`.
        turns: The answers of a scripted model, which takes the place of a model agent's model.
        documents: The collections that the agent searches.
        max_seconds: The seconds that the run may take.
        store: A store that keeps the run, for tests that look at it afterwards. The default is a new one.

    Raises:
        UndecidedApproval: If the agent waits for an approval that `decisions` does not answer.
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
    local = _local(agent, turns)
    before = [scripted(f"{agent.name[:50]}.{n}", [{"token": answer}]) for n, (_, answer) in enumerate(history)]
    app = App({one.name: one for one in (local, *before)}, {one.name: one.documents for one in documents}, local.name)
    with tempfile.TemporaryDirectory(prefix="runyard-test-") as folder, _quiet():
        process = Process(_settings(Path(folder)), app, store=store or MemoryStore(), bus=MemoryBus())
        await process.start()
        try:
            async with asyncio.timeout(max_seconds):
                if text:
                    thread = await process.engine.intake.open_thread(LOCAL, None, None)
                    for (earlier, _), speaker in zip(history, before, strict=True):
                        await _said(process, thread.id, earlier, speaker, None)
                    return result_of(await _said(process, thread.id, text, local, decisions))
                task = None if inputs is None else Task(local.task_type or local.name, dict(inputs))
                started = await process.engine.intake.start(LOCAL, FACE, local.name, task=task)
                return result_of(await _events(process, started.run_id, decisions))
        finally:
            await process.stop()


def run_agent_sync(
    agent: Agent,
    text: str = "",
    *,
    inputs: Mapping[str, Any] | None = None,
    history: Sequence[tuple[str, str]] = (),
    decisions: Decisions | None = None,
    turns: Turns | None = None,
    documents: Sequence[Documents] = (),
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
            turns=turns,
            documents=documents,
            max_seconds=max_seconds,
            store=store,
        )
    )


def _local(agent: Agent, turns: Turns | None) -> Agent:
    """Return the agent as a test runs it: with a scripted model in the place of its own."""
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


async def _said(
    process: Process, thread_id: str, text: str, agent: Agent, decisions: Decisions | None
) -> Sequence[Event]:
    """Post a message to an agent and return the events of the run that answers it."""
    posted = await process.engine.intake.post(LOCAL, FACE, thread_id, text, agent.name)
    return await _events(process, posted.run_id, decisions)


async def _events(process: Process, run_id: str, decisions: Decisions | None) -> Sequence[Event]:
    """Follow a run to its end, and decide the approvals that it waits for."""
    events: list[Event] = []
    follower = process.streams.follow(run_id, 0)
    try:
        while (found := await follower.next(3600)) is not Pause.END:
            if isinstance(found, Pause):
                continue
            for event in (event for chunk in found for event in chunk.events):
                events.append(event)
                if isinstance(waiting := event.payload, RunWaiting):
                    await _decide(process, events, waiting.approvals, decisions)
        return events
    finally:
        follower.close()


async def _decide(
    process: Process, events: Sequence[Event], approvals: Sequence[str], decisions: Decisions | None
) -> None:
    for asked in asked_in(events):
        if asked.approval_id in approvals and asked.decision is None:
            answer = decide(decisions, asked)
            await process.engine.approvals.decide(
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
