"""The state of a run, as values: its steps, tool calls, waits and messages. `fold.py` makes it from a log."""

from typing import Any, Literal

from msgspec import Struct, field

from runyard.domain.events import ClientTool, EventType, RunError, RunOutput, Usage
from runyard.domain.runs.run import Status
from runyard.domain.task import RunOptions, Task
from runyard.domain.wait import WaitKind, WaitStatus


class StepState(Struct, kw_only=True):
    """A step. `text_from` and `text_to`: the part of the run's text that it wrote; the same if it wrote none."""

    key: str
    name: str
    hash: str | None = None
    finished: bool = False
    result: Any = None
    error: str | None = None
    traceback: str | None = None
    usage: Usage | None = None
    started_seq: int | None = None
    finished_seq: int | None = None
    text_from: int = 0
    text_to: int = 0


class CallState(Struct, kw_only=True):
    """A tool call. `asked` is the input that the agent requested, `input` the effective one after an approver's
    edit."""

    call_id: str
    tool: str
    asked: Any = None
    input: Any = None
    status: Literal["requested", "waiting", "started", "finished"] = "requested"
    output: Any = None
    error: str | None = None
    traceback: str | None = None
    ms: int | None = None
    started_seq: int | None = None
    finished_seq: int | None = None
    text_from: int = 0
    text_to: int = 0


class WaitState(Struct, kw_only=True):
    """A wait, from the log. `edited` is an approver's replacement for `input`; `value` is the answer to other kinds.
    A wait that failed has a `code` and a `reason`."""

    call_id: str
    kind: WaitKind
    state: WaitStatus = "pending"
    name: str = ""
    prompt: str | None = None
    input: Any = None
    schema: dict[str, Any] | None = None
    child: str | None = None
    expires_at: int | None = None
    edited: Any = None
    value: Any = None
    code: str | None = None
    reason: str | None = None
    requested_seq: int = 0
    answered_seq: int | None = None


class ReceivedMessage(Struct, kw_only=True):
    """A message that came while the run was under way. `after`: how many messages the model had written when the agent
    took it; None until then."""

    message_id: str
    text: str
    parts: str | None = None
    after: int | None = None
    received_seq: int = 0
    taken_seq: int | None = None


class State(Struct, kw_only=True):
    """The state of a run after the event `last_seq`."""

    last_seq: int = 0
    status: Status = Status.QUEUED
    agent: str | None = None
    task: Task | None = None
    client_tools: list[ClientTool] = field(default_factory=list)
    options: RunOptions | None = None
    attempt: int = 1
    text: str = ""
    thinking: str = ""
    steps: list[StepState] = field(default_factory=list)
    calls: list[CallState] = field(default_factory=list)
    waits: dict[str, WaitState] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    received: list[ReceivedMessage] = field(default_factory=list)
    output: RunOutput | None = None
    error: RunError | None = None
    canceled: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    counts: dict[EventType, int] = field(default_factory=dict)
    last_result_seq: int = 0
    kept_text: int = 0
    kept_thinking: int = 0
    open_text: bool = False
