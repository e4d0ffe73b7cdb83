"""Reads the messages of a chat: the question, or the answers to what the agent waits for. Pure."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.engine.intake.inline_files import GivenFile, given_file
from runyard.errors import BadRequest

FILE = "A file part has a `url` and a `mediaType`, and may have a `filename`."
NO_TEXT = "The last message is empty. Send a message with a text part or a file part."
NO_ROLE = "The last message must be a user message, or the assistant message whose calls it answers."
SHAPE = "A message has an `id`, a `role` and a list of `parts`, which are objects with a `type`."
TOOL = "A tool part has a `toolCallId`. With an approval, the approval has an `id` and `approved` is true or false."


class Decision(Struct, frozen=True):
    """A decision on an approval."""

    is_approved: bool
    reason: str | None


class Result(Struct, frozen=True):
    """The result of a client's tool or the answer to a question: a value, or an error of the tool."""

    value: Any = None
    error: str | None = None


class Answers(Struct, frozen=True):
    """The answers in an assistant message: decisions by approval id, results by tool call id."""

    run_id: str
    decisions: dict[str, Decision]
    results: dict[str, Result]


class Question(Struct, frozen=True):
    """The message of a user. `message_id` is the client's id of it; `follows` the id of the answer before it."""

    message_id: str
    text: str
    follows: str | None
    earlier: list[dict[str, Any]]
    files: list[GivenFile] = []


def read(messages: Sequence[dict[str, Any]]) -> Question | Answers:
    """Return what the last message says."""
    *before, last = [_checked(message) for message in messages]
    if last["role"] == "assistant":
        return _answers(last)
    if last["role"] != "user":
        raise BadRequest(NO_ROLE)
    text, files = _text(last), [_file(part) for part in last["parts"] if part["type"] == "file"]
    if not text and not files:
        raise BadRequest(NO_TEXT)
    answers = [message["id"] for message in before if message["role"] == "assistant"]
    earlier = [{"role": message["role"], "content": _text(message)} for message in before]
    follows = answers[-1] if answers else None
    return Question(last["id"], text, follows, [each for each in earlier if each["content"]], files)


def _checked(message: dict[str, Any]) -> dict[str, Any]:
    parts = message.get("parts")
    is_known = isinstance(message.get("id"), str) and message.get("role") in ("user", "assistant", "system")
    if not is_known or not isinstance(parts, list) or not all(map(_is_part, parts)):
        raise BadRequest(SHAPE)
    return message


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)


def _file(part: dict[str, Any]) -> GivenFile:
    address, kind, name = part.get("url"), part.get("mediaType"), part.get("filename")
    if not isinstance(address, str) or not isinstance(kind, str | None) or not isinstance(name, str | None):
        raise BadRequest(FILE)
    return given_file(address, name, kind)


def _text(message: dict[str, Any]) -> str:
    return "".join(str(part.get("text", "")) for part in message["parts"] if part["type"] == "text")


def _answers(message: dict[str, Any]) -> Answers:
    decisions: dict[str, Decision] = {}
    results: dict[str, Result] = {}
    for part in message["parts"]:
        if not (part["type"].startswith("tool-") or part["type"] == "dynamic-tool"):
            continue
        if not isinstance(call_id := part.get("toolCallId"), str):
            raise BadRequest(TOOL)
        match part.get("state"):
            case "approval-responded":
                approval_id, decision = _decision(part.get("approval"))
                decisions[approval_id] = decision
            case "output-available":
                results[call_id] = Result(part.get("output"))
            case "output-error":
                results[call_id] = Result(error=str(part.get("errorText") or "The tool failed."))
            case _:
                pass  # not answered yet, or denied
    return Answers(message["id"], decisions, results)


def _decision(approval: Any) -> tuple[str, Decision]:
    if not isinstance(approval, dict) or not isinstance(approval.get("id"), str):
        raise BadRequest(TOOL)
    reason = approval.get("reason")
    if not isinstance(approval.get("approved"), bool) or not isinstance(reason, str | None):
        raise BadRequest(TOOL)
    return str(approval["id"]), Decision(approval["approved"], reason)
