"""Reads the input of a run, and answers to interrupts. Pure."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from runyard.engine.intake.inline_files import GivenFile, given_file, inline_file
from runyard.errors import BadRequest
from runyard.faces.langgraph import wire

ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "system": "system"}
MESSAGE = "A message is a text, or an object with a `role` (user, assistant, system) or `type`, and `content`."
PART = "A part of a message has the type text, image_url, image, audio, video or file. Files are sent as base64."
DECISION = (
    "The answer to an approval is true or false, `{approved: true | false, reason?, input?}`, or "
    "`{decisions: [{type: approve | edit | reject, ...}]}` with one decision."
)
UPDATE = (
    "This server can add `messages` to the state of a thread, and nothing else: the state is made from the logs of its "
    "runs."
)
CHANGE = (
    "This server cannot change a message of a thread. Start a run with another message and the checkpoint before it, "
    "or send new messages without the ids of known ones."
)
EARLIER_FILE = "(a file that was sent earlier)"
WAIT_ID = re.compile(r"(?:approval|wait)_[0-9a-f-]{36}", re.ASCII)


class Input(Struct, frozen=True):
    """The content of a request. `earlier` are the messages before the question. `message_id` is the client's id of the
    question. `values` are those of an input with an empty list of messages: a task without a question."""

    question: str
    earlier: list[dict[str, Any]] = []
    files: list[GivenFile] = []
    message_id: str | None = None
    values: dict[str, Any] | None = None


def read(given: Any) -> Input:
    """Return what the input of a run asks."""
    if isinstance(given, dict) and given.get("messages") == []:
        return Input("", values={name: value for name, value in given.items() if name != "messages"})
    if isinstance(given, dict) and "messages" in given:
        given = given["messages"]
        return _messages(given if isinstance(given, list) else [given])
    if isinstance(given, list):
        return _messages(given)
    if isinstance(given, dict) and len(given) == 1 and isinstance(only := next(iter(given.values())), str):
        given = only
    if given is None or given in ("", {}):
        raise wire.NoInput
    return Input(given if isinstance(given, str) else msgspec.json.encode(given).decode())


def _messages(messages: list[Any]) -> Input:
    known = [_message(each) for each in messages]
    if not known or known[-1]["role"] != "user":
        raise wire.NoInput
    *before, question = known
    earlier = [{"role": each["role"], "content": _text(each["content"], EARLIER_FILE)} for each in before]
    text, files = _text(question["content"], ""), _files(question["content"])
    if not text and not files:
        raise wire.NoInput
    return Input(text, [each for each in earlier if each["content"]], files, question["id"])


def recorded(values: Any, present: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the new messages of an update of the state, in the format of OpenAI's chat API. `present`: the contents of
    the messages that the state has, by their ids. A client may send these again, unchanged."""
    given: list[Any] = []
    for each in values if isinstance(values, list) else [values]:
        if not isinstance(each, dict) or set(each) != {"messages"}:
            raise wire.Unsupported(UPDATE)
        given += each["messages"] if isinstance(each["messages"], list) else [each["messages"]]
    new = [each for each in given if not _is_present(each, present)]
    known = [_message(each) for each in new]
    found = [{"role": each["role"], "content": _text(each["content"], EARLIER_FILE)} for each in known]
    if not given or not all(each["content"] for each in found):
        raise wire.NoMessages
    return found


def _is_present(given: Any, present: Mapping[str, Any]) -> bool:
    """Return whether the state has this message. Raises Unsupported if its content differs."""
    name = given.get("id") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in present:
        return False
    if given.get("content") != present[name]:
        raise wire.Unsupported(CHANGE)
    return True


def _message(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        given = {"role": "user", "content": given}
    elif isinstance(given, list) and len(given) == 2:
        given = {"role": given[0], "content": given[1]}
    if not isinstance(given, dict):
        raise BadRequest(MESSAGE)
    if given.get("lc") == 1 and isinstance(given.get("kwargs"), dict):
        given = given["kwargs"]
    role, content, name = given.get("role") or given.get("type"), given.get("content"), given.get("id")
    if not isinstance(role, str) or role not in ROLES:
        raise BadRequest(MESSAGE)
    if not isinstance(content, str | list) or not isinstance(name, str | None):
        raise BadRequest(MESSAGE)
    return {"role": ROLES[role], "content": content, "id": name}


def _text(content: str | list[Any], file: str) -> str:
    """Return the text of a message, with `file` in the place of each file."""
    return content if isinstance(content, str) else "".join(_text_part(part, file) for part in content)


def _text_part(part: Any, file: str) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    if isinstance(part, dict) and part.get("type") in ("image_url", "image", "audio", "video", "file"):
        return file
    raise BadRequest(PART)


def _files(content: str | list[Any]) -> list[GivenFile]:
    parts = [] if isinstance(content, str) else content
    return [_file(part) for part in parts if isinstance(part, dict) and part["type"] != "text"]


def _file(part: dict[str, Any]) -> GivenFile:
    """Return the file of a part: of OpenAI's form, or of one of LangChain's two."""
    if part["type"] == "image_url":
        address = part.get("image_url")
        address = address.get("url") if isinstance(address, dict) else address
        if not isinstance(address, str):
            raise BadRequest(PART)
        return given_file(address, None)
    kind = part.get("mime_type") or part.get("mimeType")
    about = part.get("metadata") if isinstance(part.get("metadata"), dict) else {}
    name = part.get("filename") or (about or {}).get("filename") or (about or {}).get("name")
    data, address = part.get("data") or part.get("base64"), part.get("url")
    if not isinstance(kind, str | None) or not isinstance(name, str | None):
        raise BadRequest(PART)
    if isinstance(data, str):
        return inline_file(data, name, kind)
    if isinstance(address, str):
        return given_file(address, name, kind)
    raise BadRequest(PART)


# --- answers


def answers_by_id(resume: Any) -> dict[str, Any] | None:
    """Return answers by the ids of interrupts, or None if `resume` is one answer."""
    if isinstance(resume, dict) and resume and all(WAIT_ID.fullmatch(key) for key in resume):
        return resume
    return None


class Decision(NamedTuple):
    is_approved: bool
    reason: str | None = None
    edited: Any = None


def decision(answer: Any) -> Decision:
    """Return a decision on an approval, in one of the forms that clients of LangGraph use."""
    if isinstance(answer, bool):
        return Decision(answer)
    if isinstance(answer, dict) and isinstance(answer.get("decisions"), list):
        answer = answer["decisions"]
    if isinstance(answer, list):
        if len(answer) != 1:
            raise BadRequest(DECISION)
        [answer] = answer
    if isinstance(answer, str):
        answer = {"type": answer}
    if not isinstance(answer, dict):
        raise BadRequest(DECISION)
    if isinstance(approved := answer.get("approved"), bool):
        return _checked(Decision(approved, answer.get("reason"), answer.get("input")))
    match answer.get("type"):
        case "approve" | "accept":
            return Decision(True)
        case "edit":
            action = answer.get("edited_action") or answer.get("args")
            if not isinstance(action, dict) or not isinstance(action.get("args"), dict):
                raise BadRequest(DECISION)
            return Decision(True, None, action["args"])
        case "reject" | "ignore":
            return _checked(Decision(False, answer.get("message") or answer.get("reason")))
        case _:
            raise BadRequest(DECISION)


def _checked(given: Decision) -> Decision:
    if not isinstance(given.reason, str | None):
        raise BadRequest(DECISION)
    return given
