"""The operations of a runner on its run: write events, request waits, read history. Implements
`agents.execution.Execution`.

An event is redacted, measured, entered into the ledger, traced and written, in this order. So the stored event, the
counted event and the one that the agent gets back are the same.
"""

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from runyard.agents.declared.agent import Agent
from runyard.agents.execution import Canceled, ForkedCopy
from runyard.base.ids import new_approval_id, new_wait_id
from runyard.domain.content.parts import File, StoredContent, encoded
from runyard.domain.conversations.thread import Message
from runyard.domain.events import (
    ApprovalRequested,
    Draft,
    MessageTaken,
    ModelMessage,
    ModelThinking,
    Payload,
    StepFinished,
    ToolFinished,
    ToolOutput,
    Usage,
    WaitRequested,
)
from runyard.domain.runs.ledger import LedgerRecorder
from runyard.domain.runs.run import Run
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import Memory, Summary
from runyard.domain.task import Budget, Task, deadline
from runyard.domain.wait import APPROVALS, Wait, WaitKind
from runyard.engine.log.journal import RunWriter
from runyard.engine.running.earlier_runs import earlier_conversations, fitting, forked_copy, runs_since_summary
from runyard.engine.running.lease import Lease
from runyard.engine.running.redacting import EventRedactor
from runyard.engine.running.run_services import RunServices
from runyard.engine.running.run_trace import RunTrace
from runyard.errors import AgentError, AnswerTooLarge, EventTooLarge, Fenced
from runyard.store import Claim, Hit

P = TypeVar("P", bound=Payload)
ROOM = 200  # bytes of a text event in addition to the text: field names, the id of a call


class RunHandle:
    """One claimed run, as its runner uses it."""

    def __init__(
        self,
        services: RunServices,
        claim: Claim,
        writer: RunWriter,
        state: State,
        *,
        trace: RunTrace,
        fail: Callable[[AgentError], None],
        lease: Lease | None = None,
    ) -> None:
        self._services = services
        self.fail = fail
        self._lease = lease
        self._writer = writer
        self.run: Run = claim.run
        self.message: Message | None = claim.message or _task_message(claim.run, state.task)
        self.deadline = deadline(claim.run.created_at, state.task)
        self.state = state
        self.usage: Usage | None = state.usage
        self.cancelled = False
        self._started_children = False
        self._taken = {message.message_id for message in state.received if message.after is not None}
        self._is_silent = state.last_seq <= 1
        self.first_token_ms = claim.run.first_token_ms
        self.tells_tool_errors = services.limits.tells_tool_errors
        self.most_answer_bytes = services.most_answer_bytes
        self.redactor = services.redactor
        self._redacting = EventRedactor(self.redactor) if self.redactor.is_on else None
        self._trace = trace
        self._steps_with_messages: set[str] = set()
        self._ledger_recorder = LedgerRecorder(claim.run.id, len(state.messages)) if claim.run.in_mailbox else None

    def record_prompt(self, agent: Agent) -> None:
        """Enter the instructions and the message that the agent's model gets first into the ledger."""
        if self._ledger_recorder is not None:
            self._ledger_recorder.set_prompt(agent.instructions, None if self.message is None else self.message.text)

    @property
    def congested(self) -> bool:
        return self._writer.congested

    def emit(self, payload: P) -> P:
        stored, now = (payload, [payload]) if self._redacting is None else self._redacting.redact(payload)
        for each in now:
            draft = self._services.draft(each)
            if self._is_too_large(draft, each):
                if isinstance(each, ModelThinking | ToolOutput):
                    for piece in _pieces(each.text, self._services.most_event_bytes):
                        self._writer.write(self._services.draft(replace(each, text=piece)))
                    continue
                each = stored = self._cut(stored)
                draft = self._services.draft(each)
            if (
                self._ledger_recorder is not None
                and (ledger := self._ledger_recorder.entries(each, self.now_ms())) is not None
            ):
                self._writer.add_ledger(ledger)
            self._trace.event(each)
            self._writer.write(draft)
        if (usage := self._usage_of(payload)) is not None:
            self.usage = (self.usage or Usage()) + usage
            self._services.metrics.model_used(self.run.agent, usage)
        elif isinstance(stored, ToolFinished):
            self._services.metrics.tool_called(self.run.agent, stored.tool, stored.error)
            self._services.show_traceback(self.run, f"The tool {stored.tool} raised", stored.traceback)
        elif isinstance(stored, StepFinished):
            self._services.show_traceback(self.run, f"The step {stored.name} raised", stored.traceback)
        return stored

    def _usage_of(self, payload: Payload) -> Usage | None:
        """Return the usage of model calls. A step repeats the usage of its messages, if it has any."""
        if isinstance(payload, ModelMessage):
            self._steps_with_messages.add(payload.step)
            return payload.usage
        if isinstance(payload, StepFinished) and payload.step not in self._steps_with_messages:
            return payload.usage
        return None

    def _is_too_large(self, draft: Draft, payload: Payload) -> bool:
        match payload:
            case ToolFinished():
                most = self._services.limits.tool_output_bytes or sys.maxsize
            case ModelMessage():
                most = self._services.most_answer_bytes
            case _:
                most = self._services.most_event_bytes
        return len(draft.data) > most

    def _cut(self, payload: P) -> P:
        """Return what is stored instead of an event that is too large: the event without its traceback, or an error
        instead of a tool's output. Raises AnswerTooLarge or EventTooLarge otherwise."""
        if isinstance(payload, ToolFinished | StepFinished) and payload.traceback is not None:
            payload = replace(payload, traceback=None)
            if not self._is_too_large(self._services.draft(payload), payload):
                return payload
        if isinstance(payload, ModelMessage):
            raise AnswerTooLarge(self.most_answer_bytes)
        if not isinstance(payload, ToolFinished):
            raise EventTooLarge(self._services.most_event_bytes)
        text = f"Error executing tool: its output is larger than {self._services.limits.tool_output_bytes} bytes."
        return replace(payload, output=text, error="output_too_large")

    def token(self, text: str) -> None:
        if self._is_silent:
            self._is_silent = False
            self.first_token_ms = max(1, self.now_ms() - self.run.created_at)
            self._services.metrics.first_token(self.run.agent, self.first_token_ms / 1000)
        draft = self._services.draft.token(text)
        if len(draft.data) <= self._services.most_event_bytes:
            self._writer.write(draft)
            return
        for piece in _pieces(text, self._services.most_event_bytes):
            self._writer.write(self._services.draft.token(piece))

    def wait(self, wait: Wait, *payloads: Payload) -> None:
        lifetime = self._services.approval_ms
        if lifetime is not None and wait.expires_at is None and wait.is_approval:
            wait = replace(wait, expires_at=wait.created_at + lifetime)
        if self.deadline is not None:  # the run ends then, so a later answer has no effect
            wait = replace(wait, expires_at=min(self.deadline, wait.expires_at or self.deadline))
        events = [_with_expiry(payload, wait.expires_at) for payload in payloads]
        if self._redacting is not None:
            wait = self._redacting.redact_wait(wait)
            events = [each for event in events for each in self._redacting.redact(event)[1]]
        self._writer.request_wait(wait, [self._services.draft(event) for event in events])

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the run's deadline."""
        return None if self.deadline is None else max(0, self.deadline - self.now_ms()) / 1000

    async def commit(self) -> None:
        await self._writer.commit()

    async def commit_to_act(self) -> None:
        if self._lease is None:
            await self._writer.commit()
            return
        since = self._lease.now()
        await self._writer.commit()
        try:
            await self._lease.confirm(self.run, since)
        except Fenced:
            self._writer.abandon()
            raise
        except Canceled:
            self._writer.cancel_requested = True
            raise

    async def drain(self) -> None:
        await self._writer.drain()

    async def history(self, limit: int) -> Sequence[Message]:
        messages = [*await self._services.store.history(self.run.id, limit), *self._supplied()[-2 * limit :]]
        newest = fitting([len(message.text) for message in reversed(messages)], self._history_chars)
        return messages[len(messages) - newest :]

    @property
    def has_new_messages(self) -> bool:
        return self._writer.unread > 0

    async def new_messages(self) -> Sequence[Message]:
        found = await self._services.store.new_messages(self.run.id)
        return [message for message in found if message.id not in self._taken]

    def take_message(self, message: Message) -> None:
        self._taken.add(message.id)
        self._writer.take_message(message.id, self._services.draft(MessageTaken(message.id)))

    def _supplied(self) -> list[Message]:
        """Return the texts of the messages that the client supplied with its request."""
        options, run = self.state.options, self.run
        return [
            Message(
                id=run.id,
                thread_id=run.thread_id or "",
                role=each["role"],
                text=each["content"],
                created_at=run.created_at,
            )
            for each in ([] if options is None else options.earlier)
            if each.get("role") in ("user", "assistant") and isinstance(each.get("content"), str)
        ]

    def earlier_runs(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        return earlier_conversations(
            self._services.store, self._services.snapshots, self.run, limit, self._history_chars
        )

    async def forked_copy(self) -> ForkedCopy | None:
        return await forked_copy(self._services.store, self._services.snapshots, self.run)

    async def memory(self, known: Summary | None) -> Memory:
        services = self._services
        return await runs_since_summary(services.store, services.snapshots, self.run, known, self._history_chars)

    @property
    def _history_chars(self) -> int | None:
        return self._services.limits.history_chars

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        return await self._services.store.search(collection, query, limit)

    async def take_call(self, tool: str, most: int, window_ms: int) -> int:
        return await self._services.store.take_call(self.run.owner, self.run.agent, tool, most, window_ms)

    def traceparent(self, call_id: str) -> str:
        return self._trace.traceparent(call_id)

    def now_ms(self) -> int:
        return self._services.clock.now_ms()

    def new_wait_id(self, kind: WaitKind) -> str:
        return new_approval_id() if kind in APPROVALS else new_wait_id()

    async def read_file(self, file_id: str) -> bytes:
        assert self._services.files is not None  # the engine is built
        return await self._services.files.read(self.run.owner, file_id)

    async def attach_file(self, name: str, kind: str, data: bytes) -> File:
        assert self._services.files is not None  # the engine is built
        return await self._services.files.attach(self.run, name, kind, data)

    # --- waits for values

    @property
    def child_limits(self) -> tuple[int, int]:
        return self._services.child_limits

    def knows_agent(self, name: str) -> bool:
        return name in self._services.agents

    @property
    def has_children(self) -> bool:
        """Whether this run has started child runs."""
        return self._started_children or any(wait.kind == "child" for wait in self.state.waits.values())

    async def start_child(
        self, run_id: str, agent: str, content: StoredContent, budget: Budget, deadline: int | None
    ) -> None:
        assert self._services.wait_support is not None  # the engine is built
        self._started_children = True
        own = Budget() if self.state.task is None else self.state.task.budget
        spent = self.usage or Usage()
        left = own.after(spent.output_tokens, spent.usd)
        left = budget.within(left, self._milliseconds_to(deadline), self._milliseconds_to(self.deadline))
        await self._services.wait_support.start_child(self.run, run_id, agent, content, left)

    def _milliseconds_to(self, deadline: int | None) -> int | None:
        return None if deadline is None else max(1, deadline - self.now_ms())

    async def match_event(self, target: str) -> None:
        assert self._services.wait_support is not None  # the engine is built
        await self._services.wait_support.match_event(target)


def _pieces(text: str, most: int) -> Iterator[str]:
    """Split a text into pieces that fit into an event of `most` bytes. JSON takes at most six bytes a character."""
    size = max(1, (most - ROOM) // 6)
    return (text[at : at + size] for at in range(0, len(text), size))


def _with_expiry(payload: Payload, expires_at: int | None) -> Payload:
    is_wait = isinstance(payload, ApprovalRequested | WaitRequested)
    return replace(payload, expires_at=expires_at) if is_wait else payload


def _task_message(run: Run, task: Task | None) -> Message | None:
    """Return the text of a task as a message outside of any thread, for agents that take messages."""
    if task is None:
        return None
    parts = encoded(task.parts) if task.parts else None
    return Message(
        id=run.id, thread_id="", run_id=run.id, role="user", text=task.text, created_at=run.created_at, parts=parts
    )
