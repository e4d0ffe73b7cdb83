"""The port between the engine and a runner: what an execution offers, what a runner is, and how it says "not now".

The engine gives a runner one claimed run with its folded log; the runner emits events and returns the output. It knows
no store, no fence and no batch: `emit` only fills the journal's buffer, and what must be durable before the next move
waits for `commit`. A runner that cannot go on raises a signal: BaseExceptions, so that an agent's `except Exception`
lets them pass. Failures that an agent may catch are ordinary errors (`runyard.errors`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.user_code.containment import Signal
from runyard.domain.approval import Approval
from runyard.domain.events import Payload
from runyard.domain.fold import State
from runyard.domain.run import Run, StopReason
from runyard.domain.thread import Message
from runyard.errors import AgentError
from runyard.store import Hit

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

P = TypeVar("P", bound=Payload)


class Execution(Protocol):
    """One claimed run, as its runner sees it."""

    @property
    def run(self) -> Run: ...

    @property
    def message(self) -> Message | None: ...

    @property
    def state(self) -> State:
        """The log as it was when the run was claimed, folded."""

    @property
    def cancelled(self) -> bool:
        """Set when a cancel is requested; the runner's task gets a CancelledError as well."""

    @property
    def congested(self) -> bool:
        """Too much is uncommitted: call `drain` before emitting more."""

    @property
    def redactor(self) -> "Redactor | None":
        """What takes sensitive text out, if that is on. Who writes pieces of text sends them through a stream of it."""

    @property
    def tells_tool_errors(self) -> bool:
        """Whether a model is told the text of an exception that a tool raised, not only its class."""

    @property
    def most_answer_bytes(self) -> int:
        """How large the whole answer may be; AnswerTooLarge if it is larger."""

    def emit(self, payload: P) -> P:
        """Put an event into the journal's buffer, and return it as it will be stored: go on with that. Never blocks;
        the payload is encoded before this returns."""

    def token(self, text: str) -> None:
        """`emit(ModelToken(text))` for the hot path."""

    def fail(self, error: AgentError) -> None:
        """End the run with this error, however its agent goes on. The first call counts."""

    def ask(self, approval: Approval, *payloads: Payload) -> None:
        """Emit these events and store the approval, in one append."""

    async def commit(self) -> None:
        """Return when everything emitted so far is durable; WriteRefused if it never will be."""

    async def commit_to_act(self) -> None:
        """The same, directly before something outside is changed: Fenced or Canceled if the run is no longer this
        worker's to act for. A process that was frozen meanwhile must not go on as if no time had passed."""

    async def drain(self) -> None:
        """Return when the buffer is short again."""

    async def history(self, limit: int) -> Sequence[Message]: ...

    def past(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        """The conversations of up to `limit` runs before this one on its branch, the newest first; each is read when it
        is asked for."""

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]: ...

    async def take_call(self, tool: str, most: int, window_ms: int) -> int:
        """Count a call of a tool that has a rate limit; 0, or the milliseconds until it may be made."""

    def now_ms(self) -> int: ...

    def traceparent(self, call_id: str) -> str:
        """The header of W3C Trace Context for what this call asks of others."""

    def new_approval_id(self) -> str: ...


class Answered(Output, frozen=True):
    """An output, why the agent stopped there, what it said last, where that is not all of its text, and where its next
    run goes on, for kinds of agents that keep a session."""

    stop_reason: StopReason = "end_turn"
    last: str | None = None
    session_id: str | None = None


class Runner(Protocol):
    """How one kind of agent is run.

    Returns the output, or None if its kind has none; raises AgentError (what ends the run as error), Parked or
    Canceled. When it returns or raises, nothing of the execution goes on."""

    async def __call__(self, agent: Agent, execution: Execution, /) -> Output | None: ...


class Parked(Signal):
    """The run must wait for a decision on any of these approvals."""

    def __init__(self, approvals: list[str]) -> None:
        super().__init__(approvals)
        self.approvals = approvals


class Canceled(Signal):
    """The runner noticed that the run is to be canceled."""
