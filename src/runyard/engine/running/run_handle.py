"""What an agent at work writes, asks and looks up: the engine's side of `agents.execution.RunHandle`.

Whatever it writes is redacted, measured, entered into the ledger and traced on its way to the run's pen, in this order,
so that what is stored, what is counted and what the agent is told back are the same.
"""

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from runyard.agents.declared.agent import Agent
from runyard.agents.execution import Canceled
from runyard.domain.approval import Approval
from runyard.domain.events import (
    ApprovalRequested,
    Draft,
    ModelMessage,
    ModelThinking,
    Payload,
    StepFinished,
    ToolFinished,
    ToolOutput,
    Usage,
)
from runyard.domain.fold import State
from runyard.domain.ledger import Keeper
from runyard.domain.run import Run
from runyard.domain.task import Task, deadline
from runyard.domain.thread import Message
from runyard.engine.log.journal import RunWriter
from runyard.engine.running.earlier_runs import fitting, past
from runyard.engine.running.lease import Lease
from runyard.engine.running.redacting import Redacting
from runyard.engine.running.run_services import RunServices
from runyard.engine.running.run_trace import RunTrace
from runyard.errors import AgentError, AnswerTooLarge, EventTooLarge, Fenced
from runyard.ids import new_approval_id
from runyard.store import Claim, Hit

P = TypeVar("P", bound=Payload)
ROOM = 200  # bytes of an event of text besides the text: names of fields, the id of a call


class RunHandle:
    """The engine's side of `agents.execution.RunHandle`."""

    def __init__(
        self,
        engine: RunServices,
        claim: Claim,
        pen: RunWriter,
        state: State,
        trace: RunTrace,
        fail: Callable[[AgentError], None],
        lease: Lease | None = None,
    ) -> None:
        self._engine = engine
        self.fail = fail
        self._lease = lease
        self._pen = pen
        self.run: Run = claim.run
        self.message: Message | None = claim.message or _spoken(claim.run, state.task)
        self.deadline = deadline(claim.run.created_at, state.task)
        self.state = state
        self.usage: Usage | None = state.usage
        self.cancelled = False
        self._is_silent = state.last_seq <= 1
        self.tells_tool_errors = engine.limits.tells_tool_errors
        self.most_answer_bytes = engine.most_answer_bytes
        self.redactor = engine.redactor
        self._redacting = None if engine.redactor is None else Redacting(engine.redactor)
        self._trace = trace
        self._keeper = Keeper(claim.run.id, len(state.messages)) if claim.run.in_mailbox else None

    def told(self, agent: Agent) -> None:
        """What the model of this agent is told first."""
        if self._keeper is not None:
            self._keeper.told(agent.instructions, None if self.message is None else self.message.text)

    @property
    def congested(self) -> bool:
        return self._pen.congested

    def emit(self, payload: P) -> P:
        stored, now = (payload, [payload]) if self._redacting is None else self._redacting.stored(payload)
        for each in now:
            draft = self._engine.draft(each)
            if self._is_too_large(draft, each):
                if isinstance(each, ModelThinking | ToolOutput):
                    for piece in _pieces(each.text, self._engine.most_event_bytes):
                        self._pen.write(self._engine.draft(replace(each, text=piece)))
                    continue
                each = stored = self._cut(stored)
                draft = self._engine.draft(each)
            if self._keeper is not None and (ledger := self._keeper.entries(each, self.now_ms())) is not None:
                self._pen.note(ledger)
            self._trace.event(each)
            self._pen.write(draft)
        if isinstance(payload, ModelMessage) and payload.usage is not None:
            self.usage = (self.usage or Usage()) + payload.usage
            self._engine.metrics.model_used(self.run.agent, payload.usage)
        elif isinstance(stored, ToolFinished):
            self._engine.metrics.tool_called(self.run.agent, stored.tool, stored.error)
            self._engine.show_traceback(self.run, f"The tool {stored.tool} raised", stored.traceback)
        elif isinstance(stored, StepFinished):
            self._engine.show_traceback(self.run, f"The step {stored.name} raised", stored.traceback)
        return stored

    def _is_too_large(self, draft: Draft, payload: Payload) -> bool:
        match payload:
            case ToolFinished():
                most = self._engine.limits.tool_output_bytes or sys.maxsize
            case ModelMessage():
                most = self._engine.most_answer_bytes
            case _:
                most = self._engine.most_event_bytes
        return len(draft.data) > most

    def _cut(self, payload: P) -> P:
        """What takes the place of something too large: the same without its traceback, if that is enough; of a tool's
        output an error that its caller can be told."""
        if isinstance(payload, ToolFinished | StepFinished) and payload.traceback is not None:
            payload = replace(payload, traceback=None)
            if not self._is_too_large(self._engine.draft(payload), payload):
                return payload
        if isinstance(payload, ModelMessage):
            raise AnswerTooLarge(self.most_answer_bytes)
        if not isinstance(payload, ToolFinished):
            raise EventTooLarge(self._engine.most_event_bytes)
        said = f"Error executing tool: its output is larger than {self._engine.limits.tool_output_bytes} bytes."
        return replace(payload, output=said, error="output_too_large")

    def token(self, text: str) -> None:
        if self._is_silent:
            self._is_silent = False
            self._engine.metrics.first_token(self.run.agent, (self.now_ms() - self.run.created_at) / 1000)
        draft = self._engine.draft.token(text)
        if len(draft.data) <= self._engine.most_event_bytes:
            self._pen.write(draft)
            return
        for piece in _pieces(text, self._engine.most_event_bytes):
            self._pen.write(self._engine.draft.token(piece))

    def ask(self, approval: Approval, *payloads: Payload) -> None:
        patience = self._engine.approval_ms
        if patience is not None and approval.expires_at is None:
            approval = replace(approval, expires_at=approval.created_at + patience)
        if self.deadline is not None:  # an answer that comes later would be for nobody
            approval = replace(approval, expires_at=min(self.deadline, approval.expires_at or self.deadline))
        asked = [_until(payload, approval.expires_at) for payload in payloads]
        if self._redacting is not None:
            approval = self._redacting.approval(approval)
            asked = [each for payload in asked for each in self._redacting.stored(payload)[1]]
        self._pen.ask(approval, [self._engine.draft(payload) for payload in asked])

    @property
    def left(self) -> float | None:
        """Seconds until the run must have ended."""
        return None if self.deadline is None else max(0, self.deadline - self.now_ms()) / 1000

    async def commit(self) -> None:
        await self._pen.commit()

    async def commit_to_act(self) -> None:
        if self._lease is None:
            await self._pen.commit()
            return
        since = self._lease.now()
        await self._pen.commit()
        try:
            await self._lease.confirm(self.run, since)
        except Fenced:
            self._pen.abandon()
            raise
        except Canceled:
            self._pen.cancel_requested = True
            raise

    async def drain(self) -> None:
        await self._pen.drain()

    async def history(self, limit: int) -> Sequence[Message]:
        said = await self._engine.store.history(self.run.id, limit)
        return said[len(said) - fitting([len(message.text) for message in reversed(said)], self._history_chars) :]

    def earlier_runs(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        return past(self._engine.store, self.run, limit, self._history_chars)

    @property
    def _history_chars(self) -> int | None:
        return self._engine.limits.history_chars

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        return await self._engine.store.search(collection, query, limit)

    async def take_call(self, tool: str, most: int, window_ms: int) -> int:
        return await self._engine.store.take_call(self.run.owner, self.run.agent, tool, most, window_ms)

    def traceparent(self, call_id: str) -> str:
        return self._trace.traceparent(call_id)

    def now_ms(self) -> int:
        return self._engine.clock.now_ms()

    def new_approval_id(self) -> str:
        return new_approval_id()


def _pieces(text: str, most: int) -> Iterator[str]:
    """Pieces of a text that each fit into an event of `most` bytes: JSON takes at most six bytes for a character."""
    size = max(1, (most - ROOM) // 6)
    return (text[at : at + size] for at in range(0, len(text), size))


def _until(payload: Payload, expires_at: int | None) -> Payload:
    return replace(payload, expires_at=expires_at) if isinstance(payload, ApprovalRequested) else payload


def _spoken(run: Run, task: Task | None) -> Message | None:
    """A task, for agents that only listen to messages. It is in no thread."""
    if task is None:
        return None
    return Message(id=run.id, thread_id="", run_id=run.id, role="user", text=task.text, created_at=run.created_at)
