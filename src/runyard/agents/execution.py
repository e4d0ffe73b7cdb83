"""The interface between the engine and a runner: `Execution`, `Runner`, and the signals that stop a run.

The engine gives a runner one claimed run with its folded log. The runner emits events and returns the output. It knows
no store, no fence and no batch: `emit` only fills the journal's buffer, and `commit` waits until the events are
durable.

A runner that cannot continue raises a signal (`Parked`, `Canceled`). Signals are BaseExceptions, so an agent's
`except Exception` does not catch them. Failures that an agent may catch are ordinary errors (`runyard.errors`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.user_code.containment import Signal
from runyard.domain.content.parts import File, StoredContent
from runyard.domain.conversations.thread import Message
from runyard.domain.events import Payload
from runyard.domain.runs.run import Run, StopReason
from runyard.domain.state.run_state import State
from runyard.domain.state.summary import Memory, Summary
from runyard.domain.task import Budget
from runyard.domain.wait import Wait, WaitKind
from runyard.errors import AgentError
from runyard.store import Hit

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

P = TypeVar("P", bound=Payload)


class ForkedCopy(Struct, frozen=True):
    """The copy of a log that a fork made in the middle of a run. `is_continued`: the run is a retry of the copy, so it
    continues where the copy ends. Otherwise the run answers the first message after it."""

    state: State
    is_continued: bool


class Execution(Protocol):
    """One claimed run, as its runner sees it."""

    @property
    def run(self) -> Run: ...

    @property
    def message(self) -> Message | None: ...

    @property
    def state(self) -> State:
        """The folded log at the time of the claim."""

    @property
    def cancelled(self) -> bool:
        """Whether a cancel was requested. The runner's task also gets a CancelledError."""

    @property
    def congested(self) -> bool:
        """Whether the buffer is full: call `drain` before emitting more."""

    @property
    def redactor(self) -> "Redactor":
        """The redactor, or `NO_REDACTION`. If it is on, pieces of text must pass through `redactor.stream()`."""

    @property
    def tells_tool_errors(self) -> bool:
        """Whether a model gets the text of an exception that a tool raised, or only its class."""

    @property
    def most_answer_bytes(self) -> int:
        """The largest answer allowed. A larger one raises AnswerTooLarge."""

    def emit(self, payload: P) -> P:
        """Add an event to the journal's buffer and return it as it will be stored. Callers continue with the returned
        event. Never blocks; the payload is encoded before this returns."""

    def token(self, text: str) -> None:
        """`emit(ModelToken(text))`, for the hot path."""

    def fail(self, error: AgentError) -> None:
        """End the run with this error, whatever its agent does next. Only the first call has an effect."""

    def wait(self, wait: Wait, *payloads: Payload) -> None:
        """Emit these events and store the wait, in one append."""

    async def commit(self) -> None:
        """Wait until every emitted event is durable. Raise WriteRefused if the store rejects them."""

    async def commit_to_act(self) -> None:
        """Commit directly before an action with outside effects.

        Raise Fenced or Canceled if this worker no longer owns the run: a process that was frozen must check before it
        acts."""

    async def drain(self) -> None:
        """Wait until the buffer has room."""

    async def history(self, limit: int) -> Sequence[Message]: ...

    @property
    def has_new_messages(self) -> bool:
        """Whether this worker knows of messages for this run that were not taken."""

    async def new_messages(self) -> Sequence[Message]:
        """Return the messages that came for this run and that were not taken, in order."""

    def take_message(self, message: Message) -> None:
        """Emit that the agent continues with this message. A message that is not taken starts the next run."""

    def earlier_runs(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the conversations of up to `limit` earlier runs on this branch, newest first. Each is read when the
        caller asks for it."""

    async def forked_copy(self) -> ForkedCopy | None:
        """Return the copy that this run continues, if its thread was forked in the middle of a run of this agent."""

    async def memory(self, known: Summary | None) -> Memory:
        """Return the newest summary on this branch, and the runs after it. `known` is the summary that this run
        made."""

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]: ...

    async def take_call(self, tool: str, most: int, window_ms: int) -> int:
        """Count a call of a rate-limited tool. Return 0, or the milliseconds until the call is allowed."""

    def now_ms(self) -> int: ...

    def traceparent(self, call_id: str) -> str:
        """Return the W3C Trace Context header for requests that this call sends to other services."""

    def new_wait_id(self, kind: WaitKind) -> str: ...

    # --- files

    async def read_file(self, file_id: str) -> bytes:
        """Return the bytes of a file of the run's owner; NotFound if there is none."""

    async def attach_file(self, name: str, kind: str, data: bytes) -> File:
        """Store a file that belongs to this run."""

    # --- waits for values

    @property
    def child_limits(self) -> tuple[int, int]:
        """How many child runs a run may start, and how deep they may be nested."""

    def knows_agent(self, name: str) -> bool:
        """Whether this process declares an agent of this name."""

    async def start_child(
        self, run_id: str, agent: str, content: StoredContent, budget: Budget, deadline: int | None
    ) -> None:
        """Start a child run under this id, unless it was started. It gets what is left of this run's budget, at most
        `budget`, and ends at the deadline (milliseconds since 1970)."""

    async def match_event(self, target: str) -> None:
        """Answer the waits for this event if it was delivered before they were requested."""


class ModelOutput(Output, frozen=True):
    """An output with the reason why the agent stopped.

    `last` is the model's last message if it is not the whole text. `session_id` is the session that the next run
    continues, for kinds of agents that keep one."""

    stop_reason: StopReason = "end_turn"
    last: str | None = None
    session_id: str | None = None


class Runner(Protocol):
    """A function that runs one kind of agent.

    Returns the output, or None if its kind has none. Raises AgentError (the run ends as an error), Parked or Canceled.
    When it returns or raises, no task of the execution is running."""

    async def __call__(self, agent: Agent, execution: Execution, /) -> Output | None: ...


class Parked(Signal):
    """The run waits for an answer to any of these waits."""

    def __init__(self, waits: list[str]) -> None:
        super().__init__(waits)
        self.waits = waits


class Canceled(Signal):
    """The runner stopped because a cancel was requested."""
