"""Reads the parts of a message: the content of a question, or answers to what the agent waits for. Pure."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.domain.content.parts import BETWEEN_TEXTS, DataPart, TextPart
from runyard.engine.intake.inline_files import GivenFile, given_file, inline_file
from runyard.errors import BadRequest
from runyard.faces.a2a import wire

CONTENTS = ("text", "raw", "url", "data")
TEXT_TYPES = ("text/", "application/json", "application/xml")
SHAPE = "A part has exactly one of `text`, `raw`, `url` and `data`, and may have a `filename` and a `mediaType`."
APPROVED = frozenset({"yes", "approve", "approved"})
REJECTED = frozenset({"no", "reject", "rejected"})
APPROVAL = (
    "The task waits for an approval. Answer with the text `yes` or `no`, or with a data part `{approved, reason?,"
    " editedArgs?}`."
)
ENVELOPE = frozenset({"waitId", "value", "approved", "reason", "editedArgs", "error"})
ANSWER = "An answer with a `waitId` has one of `value`, `approved` (with `reason`, `editedArgs`) and `error`."
NO_FILES = "An answer has text or data parts. Send files with a new task."
LARGEST = 2**53  # a float represents every integer up to this
GivenPart = TextPart | DataPart | GivenFile


class Answer(Struct, frozen=True):
    """An answer to a wait; without a `wait_id`, to the only one. `value` is a text if `is_text`. `kind`: what an answer
    with a `wait_id` has."""

    wait_id: str | None
    value: Any
    is_text: bool = False
    kind: str = ""


class Decision(Struct, frozen=True):
    """A decision on an approval."""

    is_approved: bool
    reason: str | None = None
    edited: Any = None


def content(parts: Sequence[dict[str, Any]]) -> list[GivenPart]:
    """Return the parts of a message."""
    return [_part(each) for each in parts]


def text_of(parts: Sequence[GivenPart]) -> str:
    return BETWEEN_TEXTS.join(each.text for each in parts if isinstance(each, TextPart))


def _part(given: dict[str, Any]) -> GivenPart:
    kind, name, media_type = _kind(given), given.get("filename"), given.get("mediaType", given.get("media_type"))
    if not isinstance(name, str | None) or not isinstance(media_type, str | None):
        raise BadRequest(SHAPE)
    value = given[kind]
    if kind == "data":
        return DataPart(whole_numbers(value))
    if not isinstance(value, str):
        raise BadRequest(SHAPE)
    if kind == "text":
        if media_type and not media_type.startswith(TEXT_TYPES):
            raise wire.ContentTypeNotSupported
        return TextPart(value)
    if kind == "raw":
        return inline_file(value, name or None, media_type or None)
    return given_file(value, name or None, media_type or None)


def whole_numbers(value: Any) -> Any:
    """Return a value whose whole numbers are integers: clients that use protobuf send every number as a float."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= LARGEST else value
    if isinstance(value, list):
        return [whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {name: whole_numbers(each) for name, each in value.items()}
    return value


def _kind(given: dict[str, Any]) -> str:
    found = [name for name in CONTENTS if name in given]
    if len(found) != 1:
        raise BadRequest(SHAPE)
    return found[0]


def answers(parts: Sequence[dict[str, Any]]) -> list[Answer]:
    """Return the answers in a message. Beside data parts, text is a remark."""
    kinds = [_kind(each) for each in parts]
    if not set(kinds) <= {"text", "data"}:
        raise wire.ContentTypeNotSupported(NO_FILES)
    data = [whole_numbers(each["data"]) for each, kind in zip(parts, kinds, strict=True) if kind == "data"]
    if data:
        return [_answer(each) for each in data]
    texts = [each["text"] for each in parts]
    if not all(isinstance(each, str) for each in texts):
        raise BadRequest(SHAPE)
    return [Answer(None, BETWEEN_TEXTS.join(texts), is_text=True)]


def _answer(data: Any) -> Answer:
    if not isinstance(data, dict) or "waitId" not in data:
        return Answer(None, data)
    kinds = [name for name in ("value", "approved", "error") if name in data]
    if len(kinds) != 1 or not data.keys() <= ENVELOPE or not isinstance(data["waitId"], str):
        raise BadRequest(ANSWER)
    [kind] = kinds
    if kind == "approved":
        return Answer(data["waitId"], {name: data[name] for name in data if name != "waitId"}, kind=kind)
    if data.keys() != {"waitId", kind}:
        raise BadRequest(ANSWER)
    return Answer(data["waitId"], data[kind], isinstance(data[kind], str), kind)


def decision(given: Answer) -> Decision:
    """Return the decision in an answer. Raises BadRequest if it is none."""
    value = given.value
    if given.is_text and (word := value.strip().rstrip(".!").lower()) in APPROVED | REJECTED:
        return Decision(word in APPROVED)
    if isinstance(value, bool):
        return Decision(value)
    if not isinstance(value, dict) or not value.keys() <= {"approved", "reason", "editedArgs"}:
        raise BadRequest(APPROVAL)
    approved, reason = value.get("approved"), value.get("reason")
    if not isinstance(approved, bool) or not isinstance(reason, str | None):
        raise BadRequest(APPROVAL)
    return Decision(approved, reason, value.get("editedArgs"))
