"""What an agent did in one run of its mailbox, as steps and messages: derived from the events of the run as they are
written, and stored in the same transaction.

A step is one question to the model with what came of it, numbered from 1. Pieces of text make no entry: only what is
whole does. A tool call and its return are one message each, however often a crash lets the call be made.
"""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runyard.domain.events import ModelMessage, Payload, StepFinished, StepStarted, ToolFinished, ToolStarted, Usage
from runyard.ids import new_id

StepStatus = Literal["running", "completed", "failed"]
LineType = Literal["system_message", "user_message", "assistant_message", "tool_call_message", "tool_return_message"]
THINK = "think"


class Step(Struct, frozen=True, kw_only=True):
    id: str
    run_id: str
    number: int
    status: StepStatus
    model: str = ""  # empty while it is not known
    usage: Usage = Usage()
    created_at: int
    completed_at: int | None = None


class Line(Struct, frozen=True, kw_only=True):
    """One message of a run. `input` is the JSON of what a tool was called with."""

    id: str
    run_id: str
    step_id: str | None
    type: LineType
    content: str = ""
    tool: str | None = None
    input: str | None = None
    created_at: int


class Ledger(Struct, frozen=True):
    steps: Sequence[Step] = ()
    lines: Sequence[Line] = ()


class Day(Struct, frozen=True, kw_only=True):
    """What an agent spent on one day, in days since 1970."""

    day: int
    runs: int
    steps: int
    usage: Usage


class Keeper:
    """Keeps the ledger of one execution, which goes on after `turns` finished messages of the model."""

    def __init__(self, run_id: str, turns: int) -> None:
        self._run_id = run_id
        self._step = _step_id(run_id, turns) if turns else None
        self._began: dict[str, Step] = {}
        self._told: list[tuple[LineType, str]] = []

    def told(self, system: str, user: str | None) -> None:
        """What the model is told before its first word; it goes with the first step."""
        self._told = [("system_message", system)]
        if user is not None:
            self._told.append(("user_message", user))

    def entries(self, payload: Payload, now: int) -> Ledger | None:
        """What this event adds."""
        match payload:
            case StepStarted(step=key, name="think", model=model):
                began = self._began[key] = self._begun(key, model or "", now)
                self._step = began.id
                told = self._told if began.number == 1 else []
                return Ledger([began], [self._line(kind, now, content=text) for kind, text in told])
            case StepFinished(step=key, name="think", usage=usage, error=error):
                began = self._began.pop(key) if key in self._began else self._begun(key, "", now)
                status: StepStatus = "completed" if error is None else "failed"
                return Ledger([replace(began, status=status, usage=usage or Usage(), completed_at=now)])
            case ModelMessage(step=key, message=message):
                self._step = _step_id(self._run_id, _number(key))
                text = message.get("content")
                return Ledger([], [self._line("assistant_message", now, content=text)]) if text else None
            case ToolStarted(tool=tool, input=given):
                return Ledger([], [self._line("tool_call_message", now, tool=tool, input=_json(given))])
            case ToolFinished(tool=tool, output=output):
                text = output if isinstance(output, str) else _json(output)
                return Ledger([], [self._line("tool_return_message", now, content=text, tool=tool)])
            case _:
                return None

    def _begun(self, key: str, model: str, now: int) -> Step:
        number = _number(key)
        step_id = _step_id(self._run_id, number)
        return Step(id=step_id, run_id=self._run_id, number=number, status="running", model=model, created_at=now)

    def _line(
        self, kind: LineType, now: int, *, content: str = "", tool: str | None = None, input: str | None = None
    ) -> Line:
        return Line(
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
    """`turn#3` is step 3."""
    return int(key.rpartition("#")[2])


def _step_id(run_id: str, number: int) -> str:
    return str(uuid5(UUID(run_id), f"step {number}"))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
