"""Reads the messages of a request: the question, or results of tool calls. Pure."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.engine.intake.content import FileReference
from runyard.engine.intake.inline_files import GivenFile, given_file, inline_file
from runyard.errors import BadRequest
from runyard.faces.ag_ui import events, wire

ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
KNOWN_ROLES = {*ROLES, "tool", "reasoning", "activity"}
FILES = ("image", "audio", "video", "document")
UNKNOWN_PART = "A part of a message has one of the types text, image, audio, video and document."
SOURCE = "The `source` of a part has a `type` (data, url or file) and a `value`, and may have a `mimeType`."
EARLIER_FILE = "(a file that was sent earlier)"
SHAPE = "A message has an `id` and a known `role`, which are texts. Its content is a text or a list of parts."
NO_QUESTION = "The messages must end with one of the user, or with results of the tool calls that are pending."


class Input(Struct, frozen=True):
    """The content of a request. `own` is the run of this server whose messages come last, if the client has some of
    them; `results` are texts by tool call id; `files` belong to the question."""

    question: str | None
    earlier: list[dict[str, Any]]
    results: dict[str, str]
    own: str | None
    files: list[GivenFile] = []


def read(messages: Sequence[dict[str, Any]]) -> Input:
    """Return what the messages ask, without those at the end that this server has sent."""
    known, own = [_checked(message) for message in messages], None
    while known and _is_answer(known[-1]):
        place = events.parsed_message_id(known.pop()["id"])
        own = own or (place and place[0])
    results = {}
    for message in reversed(known):
        if message["role"] != "tool":
            break
        results[str(message.get("toolCallId"))] = str(message.get("error") or text(message))
    if results or not known or known[-1]["role"] != "user":
        return Input(None, [], dict(reversed(results.items())), own)
    *before, question = known
    earlier = [
        {"role": ROLES[each["role"]], "content": text(each, EARLIER_FILE)} for each in before if each["role"] in ROLES
    ]
    return Input(text(question), [each for each in earlier if each["content"]], {}, own, _files(question))


def _is_answer(message: dict[str, Any]) -> bool:
    return events.parsed_message_id(message["id"]) is not None or message["role"] in ("reasoning", "activity")


def _checked(message: dict[str, Any]) -> dict[str, Any]:
    role = message.get("role")
    if not isinstance(message.get("id"), str) or not isinstance(role, str) or role not in KNOWN_ROLES:
        raise BadRequest(SHAPE)
    return message


def text(message: dict[str, Any], file: str = "") -> str:
    """Return the text of a message, with `file` in the place of each file."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequest(SHAPE)
    return "".join(_text(part, file) for part in content)


def _text(part: Any, file: str) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    if isinstance(part, dict) and part.get("type") in FILES:
        return file
    raise BadRequest(UNKNOWN_PART)


def _files(message: dict[str, Any]) -> list[GivenFile]:
    content = message.get("content")
    return [_file(part) for part in content if part["type"] in FILES] if isinstance(content, list) else []


def _file(part: dict[str, Any]) -> GivenFile:
    source, about = part.get("source"), part.get("metadata")
    if not isinstance(source, dict) or not isinstance(value := source.get("value"), str):
        raise BadRequest(SOURCE)
    kind, name = source.get("mimeType"), about.get("filename") if isinstance(about, dict) else None
    if not isinstance(kind, str | None) or not isinstance(name, str | None):
        raise BadRequest(SOURCE)
    match source.get("type"):
        case "data":
            return inline_file(value, name, kind)
        case "url":
            return given_file(value, name, kind)
        case "file":
            return FileReference(value, part["type"] == "image")
        case _:
            raise BadRequest(SOURCE)


def instructions(body: wire.RunAgentInput) -> str | None:
    """Return the context and the state of a request as instructions for the agent."""
    lines = [f"{each.description}: {each.value}" for each in body.context]
    if body.state:
        lines.append(f"State of the app: {events.said(body.state)}")
    return "\n".join(lines) or None
