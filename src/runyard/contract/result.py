"""What an envelope says, whoever wrote it: a result, or the code of why there is none.

Kind in what it accepts: both styles of success, `outputs` or `data`, a refusal with or without FastAPI's `detail`
around it. Strict about results: what is not said to be a success is none, and an answer to another request is none.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from runyard.errors import RemoteBroken, RemoteUnavailable

TERMINAL_NAMES = frozenset({"final", "complete", "done"})
SUCCESS = frozenset({"ok", "success"})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


class Progress(Struct, frozen=True):
    """An event of a stream that is not the last: its name and its data."""

    name: str
    data: dict[str, Any]


class Result(Struct, frozen=True, omit_defaults=True):
    """What a task came to: its outputs, or the code of why there are none."""

    outputs: dict[str, Any] = {}
    error: str | None = None
    artifacts: list[str] = []
    warnings: list[str] = []
    grounding: dict[str, Any] | None = None


def decoded(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RemoteBroken("The remote agent answered something that is not a JSON object.")
    return value


def refusal(status: int, body: bytes) -> Result:
    """A 4xx is an answer: the agent will not do this task. Everything else is a service that does not work."""
    if not 400 <= status < 500:
        raise RemoteUnavailable(f"The remote agent answered {status}.")
    try:
        found = decoded(body)
    except RemoteBroken:
        found = {}
    inner = found.get("detail")
    return Result(error=_code(inner if isinstance(inner, dict) and "error" not in found else found) or "REFUSED")


def result(answer: dict[str, Any], request_id: str) -> Result:
    """What the envelope of a sync answer or a terminal event says."""
    if answer.get("request_id") != request_id:
        raise RemoteBroken("The remote agent answered another request.")
    if not succeeded(answer):
        return Result(error=_code(answer) or "TASK_FAILED")
    outputs = answer.get("outputs", answer.get("data"))
    if not isinstance(outputs, dict):
        raise RemoteBroken("The remote agent answered without outputs.")
    grounding = answer.get("grounding")
    return Result(
        outputs=outputs,
        artifacts=_texts(answer.get("artifacts")),
        warnings=_texts(answer.get("warnings")),
        grounding=grounding if isinstance(grounding, dict) else None,
    )


def succeeded(answer: dict[str, Any]) -> bool:
    """Whether an answer, of either style, says that it is a success; one that says both is none."""
    status, ok, success = answer.get("status"), answer.get("ok"), answer.get("success")
    if status == "error" or ok is False or success is False or answer.get("error"):
        return False
    return ok is True or success is True or status in SUCCESS


def _code(answer: dict[str, Any]) -> str | None:
    """The code of an error, if it looks like one: it goes where content may not."""
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
