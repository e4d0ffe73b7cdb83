"""Interactions made from runs: the log is the truth, a checkpoint only saves reading it.

A run's final state is the conversation up to its end: its parent's, and then its own (`domain/conversation.py`, which
leaves no tool call unanswered). The interactions of a chat are the branch that its head is on.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import msgspec

from runyard.domain.conversation import messages
from runyard.domain.fold import State, fold
from runyard.domain.run import Run
from runyard.domain.thread import Thread
from runyard.engine.engine import Engine
from runyard.faces.chats.finding import chat_id
from runyard.faces.chats.translate import STATUS, agent_event, interaction_id
from runyard.faces.chats.wire import AgentEvent, AgentState, Chat, Interaction
from runyard.web.answers import fields, iso

IsGone = Callable[[str], Awaitable[bool]]  # whether the interaction of that id was deleted


class InteractionStore(Protocol):
    """Where checkpoints are kept (S1.38). What is not there raises NotFound."""

    async def save_interaction(self, chat_id: str, interaction: Interaction) -> None:
        """Save an interaction with its final state, in the place of an earlier copy."""

    async def load_interaction(self, chat_id: str, interaction_id: str) -> Interaction: ...

    async def load_chat(self, chat_id: str) -> Chat:
        """Everything that is kept of a chat, in the order in which it began."""

    async def get_previous_state(self, chat_id: str, interaction_id: str) -> AgentState | None:
        """The state that this interaction started from; None if it was the first."""

    async def forget(self, chat_id: str, is_gone: IsGone) -> None:
        """Remove the copies of those interactions of a chat that are gone, and the chat with the last of them."""


def encoded(interaction: Interaction) -> bytes:
    return msgspec.json.encode(interaction, enc_hook=fields)


def decoded(data: bytes) -> Interaction:
    return Interaction.model_validate(msgspec.json.decode(data))


class Interactions:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def of_run(self, run: Run) -> Interaction:
        kept = await self._engine.checkpoints.of_run(run) if run.status.is_terminal else None
        return await self.replayed(run) if kept is None else _as_it_is_now(decoded(kept), run)

    async def replayed(self, run: Run) -> Interaction:
        """Made from the log, whatever copies there are."""
        return await self._from_log(run, await self._engine.views.question(run))

    async def of_chat(self, thread: Thread, include_superseded: bool) -> Chat:
        runs = await self._runs(thread, include_superseded)
        kept = await self._engine.checkpoints.of_thread(thread.id)
        asked = await self._engine.views.questions(runs)
        found: list[Interaction] = []
        for run in runs:
            if run.status.is_terminal and run.id in kept:
                found.append(_as_it_is_now(decoded(kept[run.id]), run))
            else:
                found.append(await self._from_log(run, asked.get(run.id, ""), found))
        return Chat(id=chat_id(thread), interactions=found, created_at=iso(thread.created_at) or "")

    async def _runs(self, thread: Thread, include_superseded: bool) -> list[Run]:
        """Those of the thread, after those of the thread that it was forked from."""
        inside = await self._engine.views.thread_runs(thread)
        before: list[Run] = []
        parent = inside[0].parent_id if inside else thread.head_run_id
        while parent is not None:
            before.append(await self._engine.views.run(thread.owner, parent))
            parent = before[-1].parent_id
        return before[::-1] + [run for run in inside if include_superseded or run.superseded_by is None]

    async def _from_log(self, run: Run, question: str, known: Sequence[Interaction] = ()) -> Interaction:
        state, told = await self._fold(run)
        final = None
        if run.status.is_terminal:
            final = AgentState(messages=[*await self.before(run, known), *messages(state, question)])
        return Interaction(
            id=interaction_id(run.id),
            status=STATUS[run.status],
            user_message=question,
            agent_events=told,
            final_agent_state=final,
            created_at=iso(run.created_at) or "",
            completed_at=iso(run.finished_at),
            parent_id=_id_of(run.parent_id),
            superseded_by=_id_of(run.superseded_by),
        )

    async def _fold(self, run: Run) -> tuple[State, list[AgentEvent]]:
        repeats = self._engine.views.repeats_its_thinking(run.agent)
        state, told = State(), []
        async for events in self._engine.views.log(run):
            state = fold(events, state)
            told += [each for event in events if (each := agent_event(event, repeats)) is not None]
        return state, told

    async def before(self, run: Run, known: Sequence[Interaction] = ()) -> list[dict[str, Any]]:
        """The conversation that this run started from: back to the nearest one that is known, and on from there."""
        states = {each.id: each.final_agent_state for each in known}
        said: list[list[dict[str, Any]]] = []
        parent = run.parent_id
        while parent is not None:
            state = states.get(interaction_id(parent))
            before = await self._engine.views.run(run.owner, parent)
            if state is None and (kept := await self._engine.checkpoints.of_run(before)) is not None:
                state = decoded(kept).final_agent_state
            if state is not None:
                said.append(state.messages)
                break
            folded, _ = await self._fold(before)
            said.append(messages(folded, await self._engine.views.question(before)))
            parent = before.parent_id
        return [message for piece in reversed(said) for message in piece]


def _id_of(run_id: str | None) -> str | None:
    return None if run_id is None else interaction_id(run_id)


def _as_it_is_now(kept: Interaction, run: Run) -> Interaction:
    """A copy may be older than an edit."""
    return kept.model_copy(update={"superseded_by": _id_of(run.superseded_by)})
