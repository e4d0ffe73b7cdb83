"""An `Execution` over a list of events, without a store.

`FakeExecution(log)` resumes from any prefix of a log, as a process that claims the run after a crash. Emitted events
join the log when they are committed; `lost` holds the events that a crash at this moment would lose.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import agent
from runyard.agents.execution import ForkedCopy, Parked
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.kinds.runners import RUNNERS
from runyard.domain.content.parts import File, StoredContent, file_of
from runyard.domain.conversations.thread import Message
from runyard.domain.events import (
    ApprovalDecided,
    Drafter,
    Event,
    MessageTaken,
    Payload,
    RunQueued,
    RunResumed,
    WaitAnswered,
    place,
)
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.redaction.redactor import Redactor
from runyard.domain.runs.run import Run, Status
from runyard.domain.state.fold import fold
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import EarlierRun, Memory, Summary
from runyard.domain.task import Budget
from runyard.domain.wait import Wait, WaitKind
from runyard.engine.running.redacting import EventRedactor
from runyard.errors import AgentError
from runyard.store import Hit
from runyard.stores.memory import MemoryStore

P = TypeVar("P", bound=Payload)


class FakeClock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


class FakeExecution:
    def __init__(
        self,
        log: Sequence[Event] = (),
        *,
        text: str = "hello",
        hits: Sequence[Hit] = (),
        earlier: Sequence[list[dict[str, Any]]] = (),
        redactor: Redactor = NO_REDACTION,
        thread_id: str | None = "t",
    ) -> None:
        self.files: dict[str, bytes] = {}
        self.redactor = redactor
        self.tells_tool_errors = True
        self.most_answer_bytes = 2**63
        self._redacting = EventRedactor(redactor) if redactor.is_on else None
        self.clock = FakeClock()
        self._draft = Drafter(self.clock, "worker")
        self._new_ids = 0
        self.run = Run(
            id="run-1",
            owner="me",
            face="threads",
            lane_key="thread:t",
            pos=1,
            agent="a",
            status=Status.RUNNING,
            created_at=0,
            thread_id=thread_id,
            attempts=1,
        )
        self.message: Message | None = Message(id="m", thread_id="t", role="user", text=text, created_at=0)
        self.new: list[Message] = []  # messages that came for the run
        self.cancelled = False
        self.congested = False
        self.drains = 0
        self.failures: list[AgentError] = []
        self.hits = hits
        self.earlier = earlier
        self.copy: ForkedCopy | None = None
        self.read_back = 0
        self.log = list(log)
        self.lost: list[Event] = []
        self.approvals: list[Wait] = []
        self.children: list[tuple[str, str, StoredContent]] = []
        self.child_limits = (100, 5)
        self.commits: list[list[str]] = []
        self.calls_store: MemoryStore | None = None
        if not self.log:
            self.log += place("run-1", 1, [Drafter(self.clock, "api")(RunQueued("a", "m"))])
            self.state = fold(self.log)
            self.began = 1
        else:
            self.state = fold(self.log)
            self.began = len(self.log) + 1
            self.emit(RunResumed(2, "crash"))

    # --- for runners -----------------------------------------------------------------------------------------------

    def emit(self, payload: P) -> P:
        stored, now = (payload, [payload]) if self._redacting is None else self._redacting.redact(payload)
        for each in now:
            self.lost += place("run-1", len(self.log) + len(self.lost) + 1, [self._draft(each)])
        return stored

    def token(self, text: str) -> None:
        self.lost += place("run-1", len(self.log) + len(self.lost) + 1, [self._draft.token(text)])

    def wait(self, wait: Wait, *payloads: Payload) -> None:
        self.approvals.append(wait)
        for payload in payloads:
            self.emit(payload)

    def fail(self, error: AgentError) -> None:
        self.failures.append(error)

    async def commit(self) -> None:
        await asyncio.sleep(0)
        if self.lost:
            self.commits.append([event.type for event in self.lost])
        self.log += self.lost
        self.lost = []

    async def commit_to_act(self) -> None:
        await self.commit()

    async def drain(self) -> None:
        self.drains += 1
        self.congested = False
        await self.commit()

    async def history(self, limit: int) -> Sequence[Message]:
        return [self.message][:limit] if self.message else []

    @property
    def has_new_messages(self) -> bool:
        return bool(self.new)

    async def new_messages(self) -> Sequence[Message]:
        return list(self.new)

    def take_message(self, message: Message) -> None:
        self.new.remove(message)
        self.emit(MessageTaken(message.id))

    async def earlier_runs(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        for conversation in list(reversed(self.earlier))[:limit]:
            self.read_back += 1
            yield conversation

    async def forked_copy(self) -> ForkedCopy | None:
        return self.copy

    async def memory(self, known: Summary | None) -> Memory:
        runs = [EarlierRun(back, each) for back, each in enumerate(reversed(self.earlier), 1)]
        until = len(runs) + 1 if known is None else known.back
        self.read_back += until - 1
        return Memory(None if known is None else known.text, runs[: until - 1])

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        return self.hits[:limit]

    async def take_call(self, tool: str, most: int, window_ms: int) -> int:
        self.calls_store = self.calls_store or MemoryStore(self.clock)
        return await self.calls_store.take_call(self.run.owner, self.run.agent, tool, most, window_ms)

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def traceparent(self, call_id: str) -> str:
        return f"00-{1:032x}-{1:016x}-01"

    def new_wait_id(self, kind: WaitKind) -> str:
        self._new_ids += 1
        return f"approval-{len(self.log)}-{self._new_ids}"

    def knows_agent(self, name: str) -> bool:
        return True

    async def start_child(
        self, run_id: str, agent: str, content: StoredContent, budget: Budget, deadline: int | None
    ) -> None:
        self.children.append((run_id, agent, content))

    async def match_event(self, target: str) -> None:
        pass

    async def read_file(self, file_id: str) -> bytes:
        return self.files[file_id]

    async def attach_file(self, name: str, kind: str, data: bytes) -> File:
        self.files[f"file-{len(self.files)}"] = data
        return file_of(f"file-{len(self.files) - 1}", name, kind, len(data))

    # --- for tests -------------------------------------------------------------------------------------------------

    @property
    def events(self) -> list[Event]:
        return self.log + self.lost

    @property
    def new_events(self) -> list[Event]:
        """The events of this execution, without `run.resumed`."""
        return self.events[self.began :]

    def types(self) -> list[str]:
        return [event.type for event in self.new_events]

    def fold(self) -> State:
        return fold(self.events)


def python_agent(fn: Callable[[Context], Awaitable[Output | str | None]]) -> Agent:
    return agent(fn)


async def answer(fn: object, execution: FakeExecution | None = None) -> Output:
    """Run a function as a Python agent and return its output."""
    return await run_python(python_agent(fn), execution or FakeExecution())  # type: ignore[arg-type]


async def run_until_parked(agent: Agent, execution: FakeExecution) -> list[str]:
    """Run until the agent waits for people. Return the approvals it waits for."""
    try:
        output = await RUNNERS[agent.kind](agent, execution)
    except Parked as signal:
        await execution.commit()
        return signal.waits
    raise AssertionError(f"the run did not park; it answered {output}")


def log_with_decision(
    log: Sequence[Event],
    approval_id: str,
    decision: Literal["approved", "rejected", "expired"] = "approved",
    input: object = None,
    reason: str | None = None,
) -> list[Event]:
    """Return the log with a decision appended."""
    draft = Drafter(FakeClock(), "api")(ApprovalDecided(approval_id, decision, "ada", input, reason))
    return [*log, *place("run-1", len(log) + 1, [draft])]


def log_with_answer(log: Sequence[Event], wait_id: str, value: object) -> list[Event]:
    """Return the log with an answer to a wait appended."""
    draft = Drafter(FakeClock(), "api")(WaitAnswered(wait_id, "answered", "ada", value))
    return [*log, *place("run-1", len(log) + 1, [draft])]
