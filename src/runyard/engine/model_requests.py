"""Rebuilds what a step of a model agent sent to its model: the messages and the tools.

The log has every message, result and summary, and the window that made the request is used again, so the conversation
is the one that was sent. Instructions and tools are not in the log: they come from the agent as it is declared now. The
answer says where the two may differ.

A step that summarizes older messages is rebuilt by the window too: it asks for the same summary again, and its request
is kept instead of sent. The logs of agents that a framework runs have the answers of its models and not the requests.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from runyard.agents.declared.agent import Agent, Output, equipped
from runyard.agents.kinds.model.loop import tool_definitions
from runyard.agents.kinds.model.summarizer import request_messages, transcript_pieces
from runyard.agents.kinds.model.window import Folds, Window
from runyard.agents.tools.waiting_tools import ClientTool
from runyard.domain.content.parts import model_content
from runyard.domain.conversations.thread import Message
from runyard.domain.events import StepStarted
from runyard.domain.runs.run import Run
from runyard.domain.state.conversation import messages
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import SUMMARIZE, Memory, Summary
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.orchestrator import Orchestrator
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.queries.views import Views
from runyard.engine.running.earlier_runs import earlier_conversations, runs_since_summary
from runyard.errors import ContextTooLong, Invalid, RunyardError
from runyard.store import Store

CHANGED = "The agent has changed since this run. Instructions and tools are the current ones."
MAILBOX = "The agent worked in a channel. Its prompt is made of its memory and the conversation as they are now."
NO_SOURCE = "A tool server does not answer. Its tools are left out."
PIECES = "The messages did not fit into one request, so there were {}. This is the first one."
GONE = "Agent {} is not in the app any more, so its requests to a model cannot be rebuilt."
FOREIGN = "{} makes the requests of agent {}. Runyard records their answers and not the requests."
NOT_REBUILT = "The messages that were summarized cannot be found again, so this request cannot be rebuilt."
FRAMEWORKS = {
    "claude": "The Claude Agent SDK",
    "pydantic_ai": "pydantic-ai",
    "openai_agents": "OpenAI Agents SDK",
    "langgraph": "LangGraph",
}
TOO_LONG = "Earlier runs are left out: they do not fit, and the summary that was used is not in this log."


class ModelRequest(Struct, frozen=True):
    """A request to a model. `answer` is the schema of a structured answer. `notes` say where it may differ from the
    request that was sent."""

    step: str
    model: str
    messages: Sequence[dict[str, Any]]
    tools: Sequence[dict[str, Any]]
    answer: dict[str, Any] | None
    notes: Sequence[str]


class ModelRequests:
    def __init__(
        self,
        store: Store,
        snapshots: Snapshots,
        views: Views,
        directory: AgentDirectory,
        orchestrator: Orchestrator,
        history_chars: int | None,
    ) -> None:
        self._store = store
        self._snapshots = snapshots
        self._views = views
        self._directory = directory
        self._orchestrator = orchestrator
        self._history_chars = history_chars

    async def of_step(self, owner: str, run_id: str, at: int) -> ModelRequest:
        """Return the request of the step that began with the event `at`. Raises Invalid if that is no step of a model
        that Runyard asked."""
        run = await self._views.run(owner, run_id)
        found = await self._store.read(run.id, at - 1, 1) if 0 < at <= run.last_seq else ()
        step = found[0].payload if found else None
        agent = await self._directory.agent(run.agent)
        if not isinstance(step, StepStarted) or step.model is None:
            raise Invalid("This event does not begin a step that asks a model.")
        if agent is None:
            raise Invalid(GONE.format(run.agent))
        if agent.model_settings is None:
            raise Invalid(FOREIGN.format(FRAMEWORKS.get(agent.kind, "Its own code"), run.agent))
        notes = [CHANGED] if run.agent_version not in (None, agent.version) else []
        state = await self._snapshots.state(run, at)
        agent = await self._equipped(agent, run, state, notes)
        if step.name == SUMMARIZE:
            made_of = await self._summary(agent, run, state, step.step, notes)
            return ModelRequest(step.step, step.model, made_of, [], None, notes)
        sent = await self._messages(agent, run, state, notes)
        answer = None if run.in_mailbox or agent.answer is None else agent.answer.schema
        return ModelRequest(step.step, step.model, sent, tool_definitions(agent), answer, notes)

    async def _equipped(self, agent: Agent, run: Run, state: State, notes: list[str]) -> Agent:
        """Return the agent with the tools and the prompt of this run."""
        supplied = [ClientTool(tool.name, tool.description, tool.schema) for tool in state.client_tools]
        try:
            agent = await equipped(agent, supplied)
        except RunyardError:
            notes.append(NO_SOURCE)
        if not run.in_mailbox:
            return agent
        notes.append(MAILBOX)
        found: list[Agent] = []

        async def keep(made: Agent) -> Output | None:
            found.append(made)
            return None

        await self._orchestrator.orchestrate(agent, run, keep)
        return found[0]

    async def _messages(self, agent: Agent, run: Run, state: State, notes: list[str]) -> list[dict[str, Any]]:
        window, start, rest = await self._window(agent, run, state, _NoSummary())
        try:
            await window.begin(start)
        except ContextTooLong:
            notes.append(TOO_LONG)
        window.add(rest)
        return window.messages

    async def _summary(self, agent: Agent, run: Run, state: State, step: str, notes: list[str]) -> list[dict[str, Any]]:
        """Return the first request of a step that summarizes. The log has the place that its summary covers, which the
        request must cover too."""
        ended = await self._snapshots.state(run, run.last_seq)
        results = [each.result for each in ended.steps if each.key == step and each.finished]
        covered = [(made.back, made.messages) for made in (msgspec.convert(each, Summary) for each in results)]
        for is_resumed in (False, True):
            kept = _KeptSummary()
            window, start, rest = await self._window(agent, run, state, kept)
            with suppress(ContextTooLong):  # in the order in which a run needs a summary
                await window.begin([*start, *rest] if is_resumed else start)
                window.add([] if is_resumed else rest)
                await window.fit()
                await window.shrink()
            if kept.pieces and covered in ([], [kept.covers]):
                notes += [PIECES.format(len(kept.pieces))] if len(kept.pieces) > 1 else []
                return request_messages(kept.before, kept.pieces[0], kept.most)
        raise Invalid(NOT_REBUILT)

    async def _window(
        self, agent: Agent, run: Run, state: State, summaries: Folds
    ) -> tuple[Window, list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the window that made the request, the messages that the run began with, and those that it added."""
        assert agent.model_settings is not None  # checked by the caller
        message = (await self._views.triggers([run])).get(run.id)
        past = _Past(self._store, self._snapshots, run, state, message, self._history_chars)
        own = messages(state, None if message is None else model_content(message.text, message.parts))
        began = (0 if state.options is None else len(state.options.earlier)) + (message is not None)
        return Window(agent, agent.model_settings, past, summaries), own[:began], own[began:]


class _Past:
    """A run at a seq, as its window reads it."""

    def __init__(
        self,
        store: Store,
        snapshots: Snapshots,
        run: Run,
        state: State,
        message: Message | None,
        history_chars: int | None,
    ) -> None:
        self._store = store
        self._snapshots = snapshots
        self._run = run
        self._history_chars = history_chars
        self.state = state
        self.message = message

    def earlier_runs(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        return earlier_conversations(self._store, self._snapshots, self._run, limit, self._history_chars)

    async def memory(self, known: Summary | None) -> Memory:
        return await runs_since_summary(self._store, self._snapshots, self._run, known, self._history_chars)


class _NoSummary:
    """Makes no summary: a request that was sent had its summary in the log."""

    async def fold(
        self, summary: str | None, messages: Sequence[dict[str, Any]], most: int, *, back: int, covers: int = 0
    ) -> str:
        raise ContextTooLong


class _KeptSummary:
    """Keeps what the first summary that is needed is made of, and makes none."""

    def __init__(self) -> None:
        self.before, self.most, self.covers = "", 0, (0, 0)
        self.pieces: list[str] = []

    async def fold(
        self, summary: str | None, messages: Sequence[dict[str, Any]], most: int, *, back: int, covers: int = 0
    ) -> str:
        self.before, self.most, self.covers = summary or "", most, (back, covers)
        self.pieces = transcript_pieces(messages, most)
        raise ContextTooLong
