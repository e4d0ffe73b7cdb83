"""The ledger of a run in an agent's mailbox: its steps and messages. They are derived from the events as these are
written, and stored in the same transaction.

A step is one model call with its result, numbered from 1. Only complete messages make entries, not pieces of text. A
tool call and its return are one message each, even if a crash repeats the call.
"""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.events import ModelMessage, Payload, StepFinished, StepStarted, ToolFinished, ToolStarted, Usage
from runyard.domain.runs.run import Status

StepStatus = Literal["running", "completed", "failed"]
LedgerMessageType = Literal[
    "system_message", "user_message", "assistant_message", "tool_call_message", "tool_return_message"
]
THINK = "think"


class Step(Struct, frozen=True, kw_only=True):
    """One model call of a run."""

    id: str
    run_id: str
    number: int
    status: StepStatus
    model: str = ""  # empty while unknown
    usage: Usage = Usage()
    created_at: int
    completed_at: int | None = None


class LedgerMessage(Struct, frozen=True, kw_only=True):
    """One message of a run. `input` is the input of a tool call, as JSON."""

    id: str
    run_id: str
    step_id: str | None
    type: LedgerMessageType
    content: str = ""
    tool: str | None = None
    input: str | None = None
    created_at: int


class Ledger(Struct, frozen=True):
    """Steps and messages of runs."""

    steps: Sequence[Step] = ()
    messages: Sequence[LedgerMessage] = ()


class Day(Struct, frozen=True, kw_only=True):
    """An agent's usage on one day, in days since 1970."""

    day: int
    runs: int
    steps: int
    usage: Usage


class RunGroup(Struct, frozen=True, kw_only=True):
    """Runs of one agent that were queued on one day, in days since 1970, and that are alike.

    `waited` and `took` are places in a list of durations: how many of them are at most as long as the runs were in the
    queue, and as their work took. `took` is None for runs that have not ended. `usage` leaves out child runs, because
    the usage of a run includes that of its children."""

    day: int
    agent: str
    status: Status
    error_code: str | None
    waited: int | None
    took: int | None
    runs: int
    usage: Usage


class FirstTokens(Struct, frozen=True, kw_only=True):
    """Runs of one agent that were queued on one day and whose first token took equally long. `place` is the place of
    that time in a list of durations."""

    day: int
    agent: str
    place: int
    runs: int


class QueueState(Struct, frozen=True):
    """Runs that have not started, and how long the oldest of them has waited."""

    runs: int = 0
    oldest_ms: int | None = None


class LedgerRecorder:
    """Make the ledger entries of one execution, which continues after `turns` complete messages of the model."""

    def __init__(self, run_id: str, turns: int) -> None:
        self._run_id = run_id
        self._step = _step_id(run_id, turns) if turns else None
        self._began: dict[str, Step] = {}
        self._prompt: list[tuple[LedgerMessageType, str]] = []

    def set_prompt(self, system: str, user: str | None) -> None:
        """Set the prompt messages. They are stored with the first step."""
        self._prompt = [("system_message", system)]
        if user is not None:
            self._prompt.append(("user_message", user))

    def entries(self, payload: Payload, now: int) -> Ledger | None:
        """Return the entries that this event adds."""
        match payload:
            case StepStarted(step=key, name="think", model=model):
                began = self._began[key] = self._begun(key, model or "", now)
                self._step = began.id
                prompt = self._prompt if began.number == 1 else []
                return Ledger([began], [self._message(kind, now, content=text) for kind, text in prompt])
            case StepFinished(step=key, name="think", usage=usage, error=error):
                began = self._began.pop(key) if key in self._began else self._begun(key, "", now)
                status: StepStatus = "completed" if error is None else "failed"
                return Ledger([replace(began, status=status, usage=usage or Usage(), completed_at=now)])
            case ModelMessage(step=key, message=message):
                self._step = _step_id(self._run_id, _number(key))
                text = message.get("content")
                return Ledger([], [self._message("assistant_message", now, content=text)]) if text else None
            case ToolStarted(tool=tool, input=given):
                return Ledger([], [self._message("tool_call_message", now, tool=tool, input=_json(given))])
            case ToolFinished(tool=tool, output=output):
                text = output if isinstance(output, str) else _json(output)
                return Ledger([], [self._message("tool_return_message", now, content=text, tool=tool)])
            case _:
                return None

    def _begun(self, key: str, model: str, now: int) -> Step:
        number = _number(key)
        step_id = _step_id(self._run_id, number)
        return Step(id=step_id, run_id=self._run_id, number=number, status="running", model=model, created_at=now)

    def _message(
        self, kind: LedgerMessageType, now: int, *, content: str = "", tool: str | None = None, input: str | None = None
    ) -> LedgerMessage:
        return LedgerMessage(
            id=new_id(),
            run_id=self._run_id,
            step_id=self._step,
            type=kind,
            content=content,
            tool=tool,
            input=input,
            created_at=now,
        )


def _number(key: str) -> int:
    """Return the number of a step: 3 for `turn#3`."""
    return int(key.rpartition("#")[2])


def _step_id(run_id: str, number: int) -> str:
    return str(uuid5(UUID(run_id), f"step {number}"))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
