"""Translates core events to the frames of the contract face, and builds the envelope in the last frame.

Pure: `EnvelopeBuilder` gets every event of one run, in order, and keeps what the envelope needs. Progress frames have
the names of steps and tools and no content. The terminal frame belongs to `run.finished`, so there is exactly one, and
it is the last. Errors are codes: an agent's error message may be content and stays in the log. For `InvalidTask` the
envelope has the names of the inputs.

An agent's output becomes `outputs`, its text `outputs.text`. The keys `grounding`, `artifacts` and `warnings` of the
outputs move to the envelope if they have the shape of the contract; sources become citations. The output of a plan is
the results of its nodes, by name.
"""

import re
from typing import Any, assert_never

import msgspec
from msgspec import Struct
from pydantic import ValidationError

from runyard.domain.events import (
    Event,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    StepFinished,
    ToolFinished,
    ToolStarted,
    Usage,
)
from runyard.domain.task import Task, deadline
from runyard.faces.contract.wire import GroundingPack, TerminalName, request_id

Shown = tuple[str, dict[str, Any]]
_encode = msgspec.json.Encoder().encode
_CODE = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
_WRONG_INPUTS = re.compile(r"The inputs of the task do not fit: ([A-Za-z0-9_., ]{1,500})\.", re.ASCII)
_LIMITS = {"max_tokens_exceeded": "MAX_TOKENS_EXCEEDED", "max_steps": "MAX_STEPS"}
_CODES = {"agent_error": "TASK_FAILED", "node_error": "TASK_FAILED", "tool_failed": "TASK_FAILED"}

MESSAGES = {
    "BAD_REQUEST": "The request cannot be read.",
    "CANCELLED": "The run was cancelled.",
    "DRAINING": "This process is shutting down. Try again at another process.",
    "INVALID_REQUEST": "The request does not match the contract.",
    "INTERNAL": "An unexpected error occurred in the server.",
    "KEY_REQUIRED": "A valid API key is needed: send `Authorization: Bearer <key>`. `runyard keys create` makes one.",
    "METHOD_NOT_ALLOWED": "Send a POST request.",
    "QUEUE_FULL": "Too many runs wait already; try again later.",
    "SCOPE_MISSING": "This API key lacks the scope `write`. Create one with `runyard keys create --scope write`.",
    "TASK_FAILED": "The agent failed.",
    "TIMEOUT": "The run took longer than its budget allows.",
    "TOO_LARGE": "The request is too large.",
    "TOO_MANY_REQUESTS": "This API key is used too often; try again later.",
    "TOO_MANY_STREAMS": "Too many streams are open; try again later.",
    "UNAVAILABLE": "The database is not available; try again later.",
    "UNSUPPORTED_TASK_TYPE": "No agent here does tasks of that type.",
    "VALIDATION_ERROR": "The inputs of the task do not fit.",
}


class Failure(Struct, frozen=True):
    code: str
    details: dict[str, Any] = {}

    @property
    def as_json(self) -> dict[str, Any]:
        said = MESSAGES.get(self.code, f"The run failed: {self.code}.")
        return {"code": self.code, "message": said, "details": self.details}


def refusal(failure: Failure, request_id: str, task_type: str) -> dict[str, Any]:
    """Return the envelope of a refused request."""
    return _envelope(request_id, task_type, failure=failure)


class EnvelopeBuilder:
    """Builds the frames of one run for one client, after the seq `after`, and the envelope at its end."""

    def __init__(self, terminal: TerminalName, after: int = 0) -> None:
        self._terminal = terminal
        self._after = after
        self._task = Task("")
        self._agent = ""
        self._began = 0
        self._output: RunOutput | None = None
        self._failure: Failure | None = None
        self._found: dict[str, Any] = {}
        self.envelope: dict[str, Any] | None = None

    def frame(self, event: Event) -> bytes:
        shown = self.take(event)
        if shown is None or event.seq <= self._after:
            return b""
        return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, shown[0].encode(), _encode(shown[1]))

    def take(self, event: Event) -> Shown | None:
        """Return the name and data of this face's event, or None if the face does not send it."""
        match event.type:
            case "run.queued":
                return self._started(event)
            case "step.finished":
                return self._progress(event, self._keep(event))
            case "tool.started" | "tool.finished":
                return self._progress(event, event.payload)
            case (
                "run.resumed"
                | "message.received"
                | "message.taken"
                | "step.started"
                | "approval.requested"
                | "approval.decided"
                | "wait.requested"
                | "wait.answered"
                | "run.waiting"
            ):
                return self._progress(event)
            case "run.output" | "run.error" | "run.canceled":
                self._keep(event)
                return None
            case "run.finished":
                return self._terminal, self._end(event)
            case (
                "model.thinking"
                | "model.token"
                | "model.reset"
                | "model.message"
                | "tool.requested"
                | "tool.output"
                | "trace"
            ):
                return None
            case _:
                assert_never(event.type)

    def _started(self, event: Event) -> Shown:
        queued = event.payload
        if isinstance(queued, RunQueued):
            self._agent, self._task = (
                queued.agent,
                queued.task or Task(queued.agent, labels={"request_id": event.run_id}),
            )
        self._began = event.ts
        return "started", {**self._ids, "run_id": event.run_id}

    @property
    def _ids(self) -> dict[str, str]:
        return {"request_id": request_id(self._task), "task_type": self._task.type}

    def _progress(self, event: Event, payload: object = None) -> Shown:
        data: dict[str, Any] = {**self._ids, "event": event.type}
        if event.name is not None:
            data["step"] = event.name
        if isinstance(payload, ToolStarted | ToolFinished):
            data["tool"] = payload.tool
        return "progress", data

    def _keep(self, event: Event) -> object:
        match event.payload:
            case StepFinished(name=name, result=result, error=None):
                self._found[name] = result
            case RunOutput() as output:
                self._output = output
            case RunError(code, message):
                self._failure = Failure(_public(code), {"run_id": event.run_id, **_fields(message)})
            case RunCanceled():
                until = deadline(self._began, self._task)
                late = until is not None and event.ts >= until
                self._failure = Failure("TIMEOUT" if late else "CANCELLED", {"run_id": event.run_id})
            case _:
                pass
        return None

    def _end(self, event: Event) -> dict[str, Any]:
        finished = event.payload
        assert isinstance(finished, RunFinished)
        usage = {"duration_ms": max(0, event.ts - self._began), **_usage(finished.usage)}
        provenance = {"run_id": event.run_id, "agent": self._agent}
        ids = self._ids
        if finished.status != "done":
            failure = self._failure or Failure("TASK_FAILED", {"run_id": event.run_id})
            self.envelope = _envelope(*ids.values(), failure=failure, usage=usage, provenance=provenance)
        else:
            limit = _LIMITS.get(finished.stop_reason) or self._overrun(finished.usage)
            output = self._output or RunOutput("", outputs=dict(self._found))
            result = _result(output, [] if limit is None else [limit])
            self.envelope = _envelope(*ids.values(), result=result, usage=usage, provenance=provenance)
        return self.envelope

    def _overrun(self, usage: Usage | None) -> str | None:
        """Return a warning if the run wrote more tokens than its budget allows and its agent was not stopped."""
        most = self._task.budget.max_output_tokens
        is_over = most is not None and usage is not None and usage.output_tokens > most
        return "BUDGET_NOT_ENFORCED" if is_over else None


class _Result(Struct, frozen=True):
    outputs: dict[str, Any] = {}
    artifacts: list[str] = []
    warnings: list[str] = []
    grounding: dict[str, Any] | None = None


def _result(output: RunOutput, warnings: list[str]) -> _Result:
    outputs = dict(output.outputs)
    if output.text:
        outputs.setdefault("text", output.text)
    artifacts = outputs.pop("artifacts") if _is_texts(outputs.get("artifacts")) else []
    given = outputs.pop("warnings") if _is_texts(outputs.get("warnings")) else []
    grounding = outputs.pop("grounding") if _is_grounding(outputs.get("grounding")) else None
    if output.sources:
        grounding = {**(grounding or {})}
        grounding.setdefault("citations", output.sources)
    return _Result(outputs, artifacts, [*given, *warnings], grounding)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_grounding(value: object) -> bool:
    try:
        return isinstance(value, dict) and GroundingPack.model_validate(value) is not None
    except ValidationError:
        return False


def _usage(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "usd": usage.usd}


def _public(code: str) -> str:
    """Return a core error code in the contract's spelling; TASK_FAILED for an invalid code."""
    if not _CODE.fullmatch(code):
        return "TASK_FAILED"
    return _CODES.get(code, code.upper())


def _fields(message: str) -> dict[str, Any]:
    found = _WRONG_INPUTS.fullmatch(message)
    return {"fields": found[1].split(", ")} if found else {}


def _envelope(
    request_id: str,
    task_type: str,
    *,
    result: _Result | None = None,
    failure: Failure | None = None,
    usage: dict[str, Any] | None = None,
    provenance: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an AgentRunResponse (`runyard.contract.wire`). The code of a failure is also a warning, because the
    contract wants refusals in `warnings`."""
    found = result or _Result()
    return {
        "status": "ok" if failure is None else "error",
        "ok": failure is None,
        "request_id": request_id,
        "task_type": task_type,
        "outputs": found.outputs,
        "artifacts": found.artifacts,
        "provenance": provenance or {},
        "usage": usage or {},
        "warnings": found.warnings if failure is None else [failure.code],
        "grounding": found.grounding,
        "error": None if failure is None else failure.as_json,
    }
