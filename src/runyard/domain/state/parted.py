"""The base of translations that answer in parts: the frame around an event, which method takes which event, and their
state. Pure.

A run is one or more parts of an answer. A part ends where the run waits for something that the client may
answer: an approval, a question or a tool of the client. The next part begins with the event after that.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar, assert_never

from msgspec import Struct, field

from runyard.domain.events import (
    PROGRESS,
    ApprovalRequested,
    Event,
    MessageReceived,
    MessageTaken,
    RunError,
    RunFinished,
    WaitRequested,
)
from runyard.domain.wait import ClientWait


class LogState(Struct, kw_only=True):
    """The state of such a translation after an event. It is JSON, so a snapshot can hold it."""

    run_id: str
    part: int = 0
    is_open: bool = False
    written: list[str] = field(default_factory=list)  # the text, in pieces
    kept: int = 0  # pieces that a reset does not withdraw
    error: RunError | None = None


class PartedState(LogState, kw_only=True):
    """The state of a translation that also shows waits, steps and messages."""

    has_text: bool = False
    waits: dict[str, ClientWait] = field(default_factory=dict)  # that the client may answer, by wait id
    others: dict[str, dict[str, Any]] = field(default_factory=dict)  # other open waits, as they are shown
    inputs: dict[str, Any] = field(default_factory=dict)  # of calls that have not ended, as requested, by call id
    steps: dict[str, str] = field(default_factory=dict)  # shown names of the agent's open steps
    received: dict[str, str] = field(default_factory=dict)  # messages for this run that it has not taken

    @property
    def open_waits(self) -> dict[str, ClientWait]:
        """The waits that the client may answer now."""
        return {key: wait for key, wait in self.waits.items() if wait.is_open}

    def end_part(self) -> None:
        """End the part. Waits that are open know that it ended while they were."""
        self.is_open = False
        for wait in self.open_waits.values():
            wait.part = self.part


LogStateT = TypeVar("LogStateT", bound=LogState)
StateT = TypeVar("StateT", bound=PartedState)
ShownT = TypeVar("ShownT")


class LogTranslation(ABC, Generic[LogStateT, ShownT]):
    """Takes the events of a log in order and returns what each shows. It begins with the id of a run, or with the state
    that a snapshot holds. Each method adds what it shows to `out`."""

    state_type: type[LogStateT]

    def __init__(self, run_id: str, state: LogStateT | None = None) -> None:
        self.state = state or self.state_type(run_id=run_id)

    def take(self, event: Event) -> list[ShownT]:
        """Return what this event adds to the current part."""
        out: list[ShownT] = []
        if not self.state.is_open:
            self._begin(event, out)
        self._apply(event, out)
        if event.type in PROGRESS:
            self._keep(out)
            self.state.kept = len(self.state.written)
        return out

    @abstractmethod
    def _begin(self, event: Event, out: list[ShownT]) -> None:
        """Begin the next part."""

    @abstractmethod
    def _apply(self, event: Event, out: list[ShownT]) -> None:
        """Show the event."""

    @abstractmethod
    def _keep(self, out: list[ShownT]) -> None:
        """End the open text. A later reset withdraws nothing of the part so far."""


class PartedTranslation(LogTranslation[StateT, ShownT]):
    """Hands each event to the method for its family."""

    def _apply(self, event: Event, out: list[ShownT]) -> None:
        match event.type:
            case "model.token" | "model.thinking" | "model.reset" | "model.message" | "run.output":
                self._text(event, out)
            case "step.started" | "step.finished":
                self._step(event, out)
            case "tool.requested" | "tool.started" | "tool.output" | "tool.finished":
                self._tool(event, out)
            case "approval.requested" | "approval.decided" | "wait.requested" | "wait.answered" | "run.waiting":
                self._wait(event, out)
            case "message.received" | "message.taken":
                self._message(event, out)
            case "run.error" | "run.finished":
                self._finish(event, out)
            case "run.queued" | "run.resumed" | "trace" | "run.canceled":
                pass  # `run.finished` follows `run.canceled`
            case never:
                assert_never(never)

    @abstractmethod
    def _text(self, event: Event, out: list[ShownT]) -> None: ...

    @abstractmethod
    def _step(self, event: Event, out: list[ShownT]) -> None: ...

    @abstractmethod
    def _tool(self, event: Event, out: list[ShownT]) -> None: ...

    @abstractmethod
    def _wait(self, event: Event, out: list[ShownT]) -> None: ...

    @abstractmethod
    def _say(self, message_id: str, text: str, out: list[ShownT]) -> None:
        """Show a message that came while the run was at work, now that the agent has read it."""

    @abstractmethod
    def _ended(self, finished: RunFinished, out: list[ShownT]) -> None:
        """End the last part."""

    def _message(self, event: Event, out: list[ShownT]) -> None:
        match event.payload:
            case MessageReceived(message_id, text):
                self.state.received[message_id] = text
            case MessageTaken(message_id):
                if message_id in self.state.received:
                    self._say(message_id, self.state.received.pop(message_id), out)
            case _:
                raise AssertionError(event.type)

    def _finish(self, event: Event, out: list[ShownT]) -> None:
        match event.payload:
            case RunError() as error:
                self.state.error = error
            case RunFinished() as finished:
                for wait in self.state.waits.values():
                    wait.is_open = False
                self._ended(finished, out)
            case _:
                raise AssertionError(event.type)


def client_wait(asked: ApprovalRequested | WaitRequested) -> ClientWait | None:
    """Return the wait that an event asks for, or None if it is for a child, a time or a machine's event."""
    match asked:
        case ApprovalRequested(_, call_id, kind, name, given, expires_at):
            known = "confirmation" if kind == "question" else kind
            return ClientWait(kind=known, name=name, input=given, call_id=call_id, expires_at=expires_at)
        case WaitRequested(_, call_id, "client_tool" | "question" as kind, name):
            return ClientWait(
                kind=kind,
                name=name,
                input=asked.input,
                call_id=call_id,
                prompt=asked.prompt,
                schema=asked.schema,
                expires_at=asked.expires_at,
            )
        case _:
            return None
