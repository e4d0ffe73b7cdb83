"""Read the envelope of an answer: a result, or the code of its error.

Lenient about form: both styles of success, `outputs` or `data`, a refusal with or without FastAPI's `detail` around it.
Strict about success: an answer that does not report success is an error, and so is an answer to another request.
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
    """An event of a stream before the terminal one: its name and its data."""

    name: str
    data: dict[str, Any]


class Result(Struct, frozen=True, omit_defaults=True):
    """The result of a task: its outputs, or an error code."""

    outputs: dict[str, Any] = {}
    error: str | None = None
    artifacts: list[str] = []
    warnings: list[str] = []
    grounding: dict[str, Any] | None = None


def decode_object(body: bytes) -> dict[str, Any]:
    """Decode a JSON object. Raise RemoteBroken if the body is something else."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RemoteBroken("The remote agent did not answer with a JSON object.")
    return value


def read_refusal(status: int, body: bytes) -> Result:
    """Return the result of a 4xx: the agent refuses the task. Raise RemoteUnavailable for any other status."""
    if not 400 <= status < 500:
        raise RemoteUnavailable(f"The remote agent answered {status}.")
    try:
        found = decode_object(body)
    except RemoteBroken:
        found = {}
    inner = found.get("detail")
    return Result(error=_code(inner if isinstance(inner, dict) and "error" not in found else found) or "REFUSED")


def read_result(answer: dict[str, Any], request_id: str) -> Result:
    """Read the envelope of a sync answer or a terminal event."""
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
    """Return whether an answer of either style reports success. Contradicting fields count as failure."""
    status, ok, success = answer.get("status"), answer.get("ok"), answer.get("success")
    if status == "error" or ok is False or success is False or answer.get("error"):
        return False
    return ok is True or success is True or status in SUCCESS


def _code(answer: dict[str, Any]) -> str | None:
    """Return the error code if it has the form of a code. It is logged, so it must not hold content."""
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
