"""Builds interactions from runs. The log is authoritative; a checkpoint saves reading it.

The final state of a run is the conversation up to its end: the messages of its parents, then its own
(`domain/state/conversation.py`, which leaves no tool call unanswered). A checkpoint holds only its own messages and
names the interaction before it, so every message is stored once; a reader joins the parts. The first run after a fork
holds the complete state, because the interaction before it belongs to another chat.
"""

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import STOPPED_EARLY, Run
from runyard.domain.state.conversation import messages
from runyard.domain.state.run_state import State
from runyard.domain.times import iso
from runyard.engine.engine import Engine
from runyard.engine.log.snapshots import STATE
from runyard.faces.chats.agent_events import agent_events_fold
from runyard.faces.chats.lookup import chat_id, run_of
from runyard.faces.chats.translate import STATUS, interaction_id
from runyard.faces.chats.wire import AgentEvent, AgentState, AgentStatePart, Chat, Interaction
from runyard.web.responses import fields

PAGE_BYTES = 4 * 1024 * 1024  # a page of a chat ends with the interaction that exceeds it
READ_RUNS = 100

_encode = msgspec.json.Encoder(enc_hook=fields).encode


def encoded(interaction: Interaction) -> bytes:
    return _encode(interaction)


def decoded(data: bytes) -> Interaction:
    return Interaction.model_validate(msgspec.json.decode(data))


class InteractionBuilder:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._events_fold = agent_events_fold(engine.views.has_whole_messages)

    async def of_run(self, run: Run) -> Interaction:
        """Return an interaction as a checkpoint holds it: with its own part of the conversation."""
        kept = await self._engine.checkpoints.of_run(run) if run.status.is_terminal else None
        return await self.replayed(run) if kept is None else _with_current_edit(decoded(kept), run)

    async def whole(self, run: Run) -> Interaction:
        """Return an interaction with its complete final state."""
        kept = await self.of_run(run)
        if not isinstance(kept.final_agent_state, AgentStatePart):
            return kept
        said = [message async for piece in self.conversation(run) for message in piece]
        return kept.model_copy(update={"final_agent_state": AgentState(messages=said)})

    async def replayed(self, run: Run) -> Interaction:
        """Build an interaction from the log; ignore checkpoints."""
        question = await self._engine.views.question(run)
        state, agent_events = await self._fold(run)
        return Interaction(
            id=interaction_id(run.id),
            status=STATUS[run.status],
            user_message=question,
            agent_events=agent_events,
            final_agent_state=await self._final(run, messages(state, question)) if run.status.is_terminal else None,
            created_at=iso(run.created_at) or "",
            completed_at=iso(run.finished_at),
            parent_id=_id_of(run.parent_id),
            superseded_by=_id_of(run.superseded_by),
            stop_reason=run.stop_reason if run.stop_reason in STOPPED_EARLY else None,
        )

    async def page(self, thread: Thread, include_superseded: bool, before: str | None, limit: int) -> Chat:
        """Return a bounded page of a chat: the newest interactions before a position, oldest first."""
        found: list[Interaction] = []
        size, more = 0, None
        async for run in self._newest_first(thread, include_superseded, before):
            if len(found) == limit or size >= PAGE_BYTES:
                more = found[-1].id
                break
            found.append(await self.of_run(run))
            size += len(encoded(found[-1]))
        return Chat(id=chat_id(thread), interactions=found[::-1], created_at=iso(thread.created_at) or "", next=more)

    async def conversation(self, run: Run) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the conversation up to the end of a run, in order, one interaction at a time."""
        chain = [run]
        while (parent := chain[-1].parent_id) is not None:
            earlier = await self._engine.views.run(run.owner, parent)
            if earlier.thread_id != chain[-1].thread_id:
                break  # the first run after a fork holds the complete state
            chain.append(earlier)
        for each in reversed(chain):
            yield await self._part(each)

    async def before(self, run: Run) -> list[dict[str, Any]]:
        """Return the conversation that a run started from."""
        if run.parent_id is None:
            return []
        parent = await self._engine.views.run(run.owner, run.parent_id)
        return [message async for piece in self.conversation(parent) for message in piece]

    async def _newest_first(self, thread: Thread, include_superseded: bool, before: str | None) -> AsyncIterator[Run]:
        """Yield the runs of a thread, then those of the thread that it was forked from."""
        views = self._engine.views
        last = None if before is None else await run_of(self._engine, thread, before)
        if last is None or last.thread_id == thread.id:
            while page := await views.runs(
                thread.owner, None if last is None else last.id, READ_RUNS, thread_id=thread.id
            ):
                for last in page:
                    if include_superseded or last.superseded_by is None:
                        yield last
        parent = thread.head_run_id if last is None else last.parent_id
        while parent is not None:
            last = await views.run(thread.owner, parent)
            yield last
            parent = last.parent_id

    async def _final(self, run: Run, own: list[dict[str, Any]]) -> AgentState:
        """Return the final state of a run with the messages `own`: a part, if its parent is in the same thread."""
        if run.parent_id is None:
            return AgentState(messages=own)
        parent = await self._engine.views.run(run.owner, run.parent_id)
        if parent.thread_id == run.thread_id:
            return AgentStatePart(messages=own, after=interaction_id(parent.id))
        return AgentState(messages=[*await self.before(run), *own])

    async def _part(self, run: Run) -> list[dict[str, Any]]:
        """Return the messages that a run adds; for the first run after a fork, the complete conversation."""
        kept = await self._engine.checkpoints.of_run(run) if run.status.is_terminal else None
        if kept is not None and (state := decoded(kept).final_agent_state) is not None:
            return state.messages
        [folded] = await self._engine.views.folded(run, [STATE])
        return (await self._final(run, messages(folded.fold.state, await self._engine.views.question(run)))).messages

    async def _fold(self, run: Run) -> tuple[State, list[AgentEvent]]:
        state, events = await self._engine.views.folded(run, [STATE, self._events_fold])
        return state.fold.state, events.fold.events


async def json_of(interactions: InteractionBuilder, run: Run, kept: Interaction) -> AsyncIterator[bytes]:
    """Yield the JSON of an interaction with its complete final state, one earlier interaction at a time. Only one of
    them is in memory, and the event loop is free in between."""
    fields_of = vars(kept)
    head = {name: fields_of[name] for name in ("id", "status", "user_message", "agent_events")}
    yield _encode(head)[:-1] + b',"final_agent_state":'
    if kept.final_agent_state is None:
        yield b"null"
    elif not isinstance(kept.final_agent_state, AgentStatePart):
        yield _encode(kept.final_agent_state)
    else:
        separator = b""
        yield b'{"messages":['
        async for part in interactions.conversation(run):
            if part:
                yield separator + b",".join(_encode(message) for message in part)
                separator = b","
        yield b"]}"
    rest = {name: value for name, value in fields_of.items() if name not in head and name != "final_agent_state"}
    yield b"," + _encode(rest)[1:]


def _id_of(run_id: str | None) -> str | None:
    return None if run_id is None else interaction_id(run_id)


def _with_current_edit(kept: Interaction, run: Run) -> Interaction:
    """Update a checkpoint that is older than an edit."""
    return kept.model_copy(update={"superseded_by": _id_of(run.superseded_by)})
